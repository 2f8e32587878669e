// Named thresholds: numbers that choose between two implementations of the same computation, such as the longest row
// that stays in registers. The results do not depend on them, except for rounding. A test can therefore move them so
// that small data reach either implementation.
#pragma once
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace lehr {

/// A number of type T that chooses between two implementations of the same computation, with a name "file.number" by
/// which tests may move it (Thresholds).
template <class T>
class Threshold {
 public:
  /// Makes a threshold with its usual value.
  constexpr Threshold(std::string_view name, T value) : name_(name), value_(value) {}

  /// Returns the name, "file.number".
  constexpr std::string_view name() const { return name_; }
  /// Returns the value that holds unless a test moves the threshold.
  constexpr T usual() const { return value_; }

 private:
  std::string_view name_;  // "file.number", by which a test moves the threshold
  T value_;                // the value that holds unless a test moves the threshold
};

/// The values of thresholds: the usual ones, except for those that were moved. The compiler uses the values that belong
/// to the program that it compiles (loops::Program::thresholds).
class Thresholds {
 public:
  /// Has the usual values of all thresholds. (A threshold chooses between two implementations of the same computation;
  /// results do not depend on it, except for rounding.)
  Thresholds() = default;
  /// Has the usual values of all thresholds but those in a list "name=value,name=value", which are moved. Entries
  /// without "=" are ignored. A value that does not begin with a number counts as 0. The first of two entries for one
  /// name counts. Names are not checked.
  explicit Thresholds(std::string_view list) {
    while (!list.empty()) {
      const std::string_view entry = list.substr(0, list.find(','));
      list.remove_prefix(entry.size() == list.size() ? list.size() : entry.size() + 1);
      const std::size_t equals = entry.find('=');
      if (equals == std::string_view::npos) continue;
      double value = 0;
      std::from_chars(entry.data() + equals + 1, entry.data() + entry.size(), value);
      values_.emplace(entry.substr(0, equals), value);
    }
  }

  /// Returns the value that holds for a threshold: the one it was moved to, else the usual one.
  template <class T>
  T operator[](const Threshold<T>& threshold) const {
    const auto moved = values_.find(threshold.name());
    return moved == values_.end() ? threshold.usual() : static_cast<T>(moved->second);
  }

  /// Returns the moved thresholds as a list "name=value,name=value", by name; empty for the usual values. It is part of
  /// the key under which compiled code is cached.
  std::string text() const {
    std::string out;
    for (const auto& [name, value] : values_) {
      char digits[32];
      const auto [end, failed] = std::to_chars(digits, digits + sizeof digits, value);
      out.append(out.empty() ? "" : ",").append(name).append("=").append(digits, end);
    }
    return out;
  }

 private:
  std::map<std::string, double, std::less<>> values_;  // moved thresholds, by name
};

/// Returns the thresholds that the environment variable LEHR_THRESHOLDS moves, a list "name=value,name=value", so that
/// tests reach all paths. Readers of files and the division of work among threads use them as they are; for the
/// compiler they are the defaults of its options (loops::PassOptions).
inline Thresholds thresholds_of_environment() {
  const char* const list = std::getenv("LEHR_THRESHOLDS");
  return list ? Thresholds(list) : Thresholds();
}

}  // namespace lehr
