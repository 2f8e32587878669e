// The table is built column by column, so that columns without content can be removed, and is then transposed.
#include "compiler/console/compare_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/console/describe_parts.h"
#include "compiler/options/methods.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// Returns the sizes of all plates: "doc 200, term 50".
std::string sizes_of(const SavedFit& f) {
  Row out;
  for (const auto& [plate, size] : f.sizes)
    out.push_back(fmt::format("{} {}", printable(plate), size));
  return fmt::format("{}", fmt::join(out, ", "));
}

/// Returns the number in this format; empty for NaN.
std::string number(const char* format, double x) { return std::isnan(x) ? "" : fmt::format(fmt::runtime(format), x); }

}  // namespace

FitObjective objective_of(const SavedFit& f) {
  if (!std::isnan(f.log_evidence)) return {"log evidence", f.log_evidence};
  const bool drawn = has_draws(f.method);
  return {drawn ? "log joint" : "ELBO", f.elbo};
}

std::string compare_table(const std::vector<SavedFit>& fits) {
  std::vector<Row> columns{{""},         {"method"},     {"status"},  {"bound"}, {""},
                           {"held out"}, {"iterations"}, {"seconds"}, {"sizes"}};
  for (const SavedFit& f : fits) {
    const FitObjective bound = objective_of(f);
    const Row cells{printable(f.directory),
                    printable(f.method),
                    printable(f.status),
                    number("{:.6f}", bound.value),
                    bound.name,
                    number("{:.6f}", f.held_out),
                    fmt::format("{}", f.iterations),
                    number("{:.3g}", f.seconds),
                    sizes_of(f)};
    for (std::size_t k = 0; k < columns.size(); ++k)
      columns[k].push_back(cells[k]);
  }
  std::erase_if(columns, [](const Row& c) {
    return std::all_of(c.begin() + 1, c.end(), [](const std::string& cell) { return cell.empty(); });
  });
  std::vector<Row> lines(fits.size() + 1);
  for (const Row& c : columns) {
    for (std::size_t k = 0; k < c.size(); ++k)
      lines[k].push_back(c[k]);
  }
  return table(lines);
}

}  // namespace lehr
