// Binds what is given, and fills every absent observed variable with NaN of the right shape. If all observed variables
// have data, this is bind().
#include "compiler/fit/bind_missing.h"

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/packed.h"

namespace lehr {

using namespace model;

Result<BoundData> bind_with_missing(const Model& m, const Dataset& dataset, const Settings& settings) {
  const auto is_present = [&](const Variable& v) { return !v.observed || dataset.contains(v.name); };
  if (std::ranges::all_of(m.variables, is_present)) return lehr::bind(m, dataset, settings);
  Result<BoundData> data = bind_givens(m, dataset, settings);
  if (!data) return data;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    BoundArray& a = data->observed[k];
    if (!v.observed || v.auxiliary || !a.values.empty()) continue;
    std::size_t n = 1;
    for (const std::int64_t extent : stored_shape(m, *data, v.axes, v.event))
      n *= static_cast<std::size_t>(extent);
    a = {std::vector<double>(n, std::nan("")), n > 0};
  }
  return data;
}

}  // namespace lehr
