// Spreads predicted numbers over full arrays, with the shapes of the data. Elements that are not predicted get NaN or
// -1.
#include "compiler/predict/prediction_arrays.h"

#include <cmath>

#include "compiler/evaluate/packed.h"

namespace lehr {

using namespace model;

std::vector<NamedArray> prediction_arrays(const Prediction& p) {
  const Model& m = p.model;
  std::vector<NamedArray> out;
  for (const PredictedVariable& v : p.variables) {
    const Variable& variable = m[v.variable];
    const std::vector<std::int64_t> elements = stored_shape(m, p.data, variable.axes, {});
    std::vector<std::int64_t> all = stored_shape(m, p.data, variable.axes, variable.event);
    if (v.probabilities) all.push_back(static_cast<std::int64_t>(v.width));
    std::size_t count = 1;
    for (const std::int64_t n : elements)
      count *= static_cast<std::size_t>(n);
    const auto add = [&](const char* suffix, const std::vector<double>& from) {
      NamedArray a{variable.name + "." + suffix, all, std::vector<double>(count * v.width, std::nan("")), false};
      for (std::size_t i = 0; i < v.elements.size(); ++i)
        for (std::size_t j = 0; j < v.width; ++j)
          a.values[v.elements[i] * v.width + j] = from[i * v.width + j];
      out.push_back(std::move(a));
    };
    add(v.probabilities ? "probability" : "mean", v.mean);
    add("mcse", v.error);
    if (v.probabilities) {
      NamedArray best{variable.name + ".most_probable", elements, std::vector<double>(count, -1.0), true};
      NamedArray path{variable.name + ".path", elements, best.values, true};
      // Values of categories are numbered as in the data.
      const std::int64_t first = variable.value_plate ? m[m[*variable.value_plate].set].from : 0;
      for (std::size_t i = 0; i < v.elements.size(); ++i) {
        best.values[v.elements[i]] = static_cast<double>(v.most_probable(i)) + static_cast<double>(first);
        if (!v.path.empty()) path.values[v.elements[i]] = static_cast<double>(v.path[i] + first);
      }
      out.push_back(std::move(best));
      if (!v.path.empty()) out.push_back(std::move(path));
      continue;
    }
    add("sd", v.sd);
    for (std::size_t q = 0; q < kPredictedQuantiles.size(); ++q)
      add(kQuantileNames[q], v.quantiles[q]);
  }
  return out;
}

}  // namespace lehr
