// Checks, descriptions and parsers of ranges.
#include "compiler/options/option_ranges.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "runtime/files/text.h"

namespace lehr {

bool contains(const OptionRange& r, double x) {
  return x >= r.least && x <= r.most && (!r.whole || x == std::floor(x));
}

std::string describe(const OptionRange& r) {
  if (r.whole) return fmt::format("a whole number from {:.0f} to {:.10g}", r.least, r.most);
  return fmt::format("a number from {:g} to {:g}", r.least, r.most);
}

std::optional<double> number_in(const OptionRange& r, std::string_view text) {
  const std::optional<double> x = parse_number(text);
  return x && contains(r, *x) ? x : std::nullopt;
}

std::optional<std::uint64_t> whole_in(const OptionRange& r, std::string_view text) {
  std::uint64_t exact = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), exact);
  if (failure == std::errc() && end == text.data() + text.size()) {
    if (!contains(r, static_cast<double>(exact))) return std::nullopt;
    return exact;
  }
  const std::optional<double> x = number_in(r, text);  // forms such as 1e6
  if (!x || *x >= 0x1p53) return std::nullopt;
  return static_cast<std::uint64_t>(*x);
}

}  // namespace lehr
