// Keys of analyses and programs. A key has all that a stage reads of the data, so equal keys mean equal results.
#include "compiler/fit/fit_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace lehr {

ProgramKey program_key(AnalysisKey analysis, const Analysed& analysed, const BoundData& data) {
  const model::Model& m = analysed.model;
  ProgramKey out{std::move(analysis)};
  const bool all_sizes = depends_on_sizes(analysed);
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    const model::PlateId set = m.plates[k].set;
    out.sizes.push_back(all_sizes || has_constant_size(m, set) ? data.sizes[set.index()] : -1);
  }
  for (const double x : data.constants)
    out.constants.push_back(std::bit_cast<std::uint64_t>(x));
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    if (!v.observed || (v.support != math::Support::count && v.support != math::Support::counts)) continue;
    const std::vector<double>& values = data.observed[k].values;
    out.counts.push_back(std::ranges::count_if(values, [](double x) { return x > 0; }));
    out.counts.push_back(std::ssize(values));
  }
  return out;
}

}  // namespace lehr
