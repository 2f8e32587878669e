// Key columns, whose entries name elements by text or by number.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/files/dataset.h"
#include "runtime/files/whole_numbers.h"

namespace lehr {
namespace {

/// Parses a nonnegative whole number in its shortest form; nothing for other text, such as "01" or "+1", and for
/// numbers that a double may not tell apart.
std::optional<double> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || fmt::format("{}", number) != text || number < 0) return std::nullopt;
  if (static_cast<double>(number) >= kMaxExactInteger) return std::nullopt;
  return static_cast<double>(number);
}

}  // namespace

std::string entry_text(const DataArray& column, std::size_t line) {
  const double v = column.values[line];
  if (!column.levels.empty()) return column.levels[static_cast<std::size_t>(v)];
  const bool whole = v == std::floor(v) && std::abs(v) < kMaxExactInteger;
  return whole ? fmt::format("{}", static_cast<std::int64_t>(v)) : fmt::format("{}", v);
}

void parse_numeric_levels(DataArray& column) {
  std::vector<double> parsed;
  for (const std::string& level : column.levels) {
    const std::optional<double> number = whole_number(level);
    if (!number) return;
    parsed.push_back(*number);
  }
  if (parsed.empty()) return;
  for (double& v : column.values)
    if (!std::isnan(v)) v = parsed[static_cast<std::size_t>(v)];
  column.levels.clear();
}

}  // namespace lehr
