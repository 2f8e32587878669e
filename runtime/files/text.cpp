// Numbers, locations and suggestions for the readers of text files. The locale has no influence.
#include "runtime/files/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// Compares ASCII text with text in lower case, ignoring case.
bool equals_ignoring_case(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(),
                    [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x) == y; });
}

/// Returns the edit distance in bytes (optimal string alignment): insertion, deletion, replacement, or exchange of two
/// neighbours.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

/// Returns the infinity or zero nearest to a decimal number that is out of the range of double. The power of ten of its
/// leading digit decides.
double beyond_range(std::string_view text) {
  const double sign = text[0] == '-' ? -1 : 1;
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), e), leading = text.find_first_of("123456789");
  const auto above = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(leading);
  std::string_view power = text.substr(std::min(e + 1, text.size()));
  const bool falls = power.starts_with('-');
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto [end, failure] = std::from_chars(power.data(), power.data() + power.size(), exponent);
  const bool small = failure == std::errc::result_out_of_range ? falls : exponent + above < 0;
  return sign * (small ? 0 : std::numeric_limits<double>::infinity());
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<double> parse_number(std::string_view text) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return std::nullopt;
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure == std::errc::invalid_argument || stop != end || std::isnan(value)) return std::nullopt;
  if (failure == std::errc::result_out_of_range) return beyond_range(text);
  return value;
}

bool is_missing(std::string_view text) { return text.empty() || text == "NA" || equals_ignoring_case(text, "nan"); }

bool looks_missing(std::string_view text) {
  constexpr std::string_view kWords[] = {"n/a",  "na",      "#n/a", "<na>", "n.a.", "null", "nil",
                                         "none", "missing", "?",    "-",    "--",   "."};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return equals_ignoring_case(text, word); });
}

std::string source_location(const std::string& path, std::string_view bytes, std::size_t offset) {
  offset = std::min(offset, bytes.size());
  const std::string_view before = bytes.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::string_view line = newline == std::string_view::npos ? before : before.substr(newline + 1);
  const auto characters = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return fmt::format("{}:{}:{}", path, std::count(before.begin(), before.end(), '\n') + 1, characters + 1);
}

std::string_view without_bom(std::string_view bytes) {
  return bytes.starts_with("\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
}

Error data_error(std::string where, std::string text, std::vector<std::string> notes) {
  return {ExitCode::data, std::move(where), std::move(text), std::move(notes)};
}

std::optional<Error> encoding_error(const std::string& path, std::string_view bytes, std::string_view part) {
  const std::optional<std::size_t> wrong = find_invalid_utf8(part);
  if (!wrong) return std::nullopt;
  const std::size_t offset = static_cast<std::size_t>(part.data() - bytes.data()) + *wrong;
  return data_error(source_location(path, bytes, offset),
                    fmt::format("byte 0x{:02x} (number {} of the file) is not UTF-8",
                                static_cast<unsigned char>(part[*wrong]), offset),
                    {"if the text is Latin-1: iconv -f LATIN1 -t UTF-8 " + path});
}

std::string suggest(std::string_view wanted, const std::vector<std::string>& names) {
  constexpr std::size_t kLongestCompared = 100;
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& name : names) {
    if (std::max(name.size(), wanted.size()) > kLongestCompared) continue;
    const std::size_t distance = edits(wanted, name);
    if (distance < least && distance < std::max(name.size(), wanted.size())) {
      least = distance;
      nearest = &name;
    }
  }
  if (nearest) return fmt::format("did you mean '{}'?", printable(*nearest));
  if (names.empty()) return "there are no names to choose from";
  constexpr std::size_t kListed = 12;
  std::string list = "there are:";
  for (std::size_t i = 0; i < std::min(names.size(), kListed); ++i)
    list += fmt::format("{} {}", i ? "," : "", printable(names[i]));
  if (names.size() > kListed) list += fmt::format(", and {} more", names.size() - kListed);
  return list;
}

std::string join_with_or(const std::vector<std::string_view>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  return out;
}

void set_levels(DataArray& array, const std::vector<std::optional<std::string>>& texts) {
  std::unordered_map<std::string, double> position;
  for (const auto& text : texts)
    if (text) position.emplace(*text, 0);
  for (const auto& [level, unused] : position)
    array.levels.push_back(level);
  std::sort(array.levels.begin(), array.levels.end());
  for (std::size_t i = 0; i < array.levels.size(); ++i)
    position[array.levels[i]] = static_cast<double>(i);
  array.values.clear();
  array.values.reserve(texts.size());
  for (const auto& text : texts)
    array.values.push_back(text ? position[*text] : std::numeric_limits<double>::quiet_NaN());
}

void set_flags(DataArray& array) {
  array.integral = true;
  array.has_missing = false;
  for (const double value : array.values) {
    if (std::isnan(value)) array.has_missing = true;
    else if (value != std::trunc(value) || std::isinf(value)) array.integral = false;
  }
}

}  // namespace lehr
