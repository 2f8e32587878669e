// Numbers that choose between two ways of doing the same thing: how long a row may be that is kept in registers, how
// many operations make a loop worth unrolling. Whatever they are, the results are the same, so that a test can move
// them to where small data take either way.
#pragma once
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace lehr {

/// A threshold with a name, "file.number". The environment variable LEHR_THRESHOLDS, "name=value,name=value", sets it
/// when it is read; for tests, and part of the key under which code is cached.
template <class T>
class Threshold {
 public:
  constexpr Threshold(std::string_view name, T value) : name_(name), value_(value) {}

  constexpr std::string_view name() const { return name_; }
  operator T() const {
    const char* const set = std::getenv("LEHR_THRESHOLDS");
    return set ? look_up(set) : value_;
  }

 private:
  T look_up(std::string_view set) const {
    while (!set.empty()) {
      const std::string_view entry = set.substr(0, set.find(','));
      set.remove_prefix(entry.size() == set.size() ? set.size() : entry.size() + 1);
      const std::size_t equals = entry.find('=');
      if (entry.substr(0, equals) != name_ || equals == std::string_view::npos) continue;
      double value = 0;
      std::from_chars(entry.data() + equals + 1, entry.data() + entry.size(), value);
      return static_cast<T>(value);
    }
    return value_;
  }

  std::string_view name_;
  T value_;
};

}  // namespace lehr
