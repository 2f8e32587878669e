// Aligned tables, and the description of sampled variables from their stored statistics.
#include "compiler/console/describe_parts.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/posterior/element_names.h"
#include "compiler/posterior/moments.h"
#include "compiler/posterior/rounded_mean.h"
#include "compiler/posterior/saved_draws.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// Returns the number of characters of a UTF-8 text.
std::size_t width(const std::string& s) {
  return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], width(row[c]));
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - width(row[c]), ' ');
      line += c == 0 ? " " + row[c] + blanks : "  " + blanks + row[c];
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string omitted_elements_line(std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format("  ... and {} more\n", all - shown) : "";
}

std::string describe_draws(const SavedFit& fit, const SavedVariable& v, std::size_t max_elements) {
  struct Column {
    const char *name, *format;
  };
  constexpr Column kColumns[] = {{kDrawnMean, "{:.4g}"},    {kDrawnSd, "{:.3g}"},      {kDrawnMcse, "{:.2g}"},
                                 {kDrawnEssBulk, "{:.0f}"}, {kDrawnEssTail, "{:.0f}"}, {kDrawnRHat, "{:.3f}"}};
  const NamedArray *mean = v.find(kDrawnMean), *sd = v.find(kDrawnSd);
  const std::size_t all = mean ? mean->values.size() : 0;
  if (all == 0) return "  no elements\n";
  std::vector<Row> lines(1, Row{""});
  for (const Column& c : kColumns)
    lines[0].emplace_back(c.name);
  const std::vector<std::string> plates = plates_of(fit, v, mean->shape);
  for (std::size_t i = 0; i < std::min(all, max_elements); ++i) {
    Row& line = lines.emplace_back(1, mean->shape.empty() ? v.name : element(fit, plates, mean->shape, i));
    for (const Column& c : kColumns) {
      const NamedArray* a = v.find(c.name);
      const bool is_mean = a == mean && sd && i < sd->values.size();
      line.push_back(is_mean                     ? rounded_mean(a->values[i], sd->values[i], 4)
                     : a && i < a->values.size() ? fmt::format(fmt::runtime(c.format), a->values[i])
                                                 : "");
    }
  }
  return table(lines) + omitted_elements_line(all, max_elements);
}

}  // namespace lehr
