// Named thresholds: numbers that choose between two implementations of the same computation, such as the longest row
// that is kept in registers. The results do not depend on them. A test can therefore set them so that small data reach
// either implementation.
#pragma once
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace lehr {

/// A constant of type T with a name, "file.number", which tests can override. The environment variable
/// LEHR_THRESHOLDS="name=value,name=value" is read at every use. It is part of the key under which compiled code is
/// cached.
template <class T>
class Threshold {
 public:
  /// Makes a threshold with its usual value.
  constexpr Threshold(std::string_view name, T value) : name_(name), value_(value) {}

  /// Returns the name by which LEHR_THRESHOLDS overrides the value.
  constexpr std::string_view name() const { return name_; }
  /// Returns the value: that of the environment variable if it names this threshold, otherwise the usual one.
  operator T() const {
    const char* const set = std::getenv("LEHR_THRESHOLDS");
    return set ? look_up(set) : value_;
  }

 private:
  /// Returns the value for this name in a list "name=value,name=value", or the usual value if the list lacks it.
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

  std::string_view name_;  // "file.number"
  T value_;                // the usual value
};

}  // namespace lehr
