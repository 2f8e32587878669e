// Formats arrays as Stan's JSON: an object of numbers and nested lists, by name.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/output/writers.h"

namespace lehr {
namespace {

/// Appends the elements under one index of the axes before `axis`, from position `at` on, which it advances. Numbers
/// have the fewest digits that give them back exactly.
void append(std::string& out, const NamedArray& array, std::size_t axis, std::size_t& at) {
  if (axis == array.shape.size()) {
    const double value = array.values[at++];
    out += std::isnan(value)   ? "\"NaN\""
           : std::isinf(value) ? (value < 0 ? "\"-Inf\"" : "\"Inf\"")
                               : fmt::format("{}", value);
    return;
  }
  out += '[';
  for (std::int64_t i = 0; i < array.shape[axis]; ++i) {
    if (i > 0) out += ", ";
    append(out, array, axis + 1, at);
  }
  out += ']';
}

}  // namespace

Result<std::string> format_json(const std::vector<NamedArray>& arrays) {
  std::string out = "{";
  for (const NamedArray& array : arrays) {
    out += fmt::format("{}{}: ", out.size() > 1 ? ",\n " : "", nlohmann::json(array.name).dump());
    std::size_t at = 0;
    append(out, array, 0, at);
  }
  return out + "}\n";
}

}  // namespace lehr
