// Axes of arrays in files: a nested plate replaces its parent.
#include "compiler/evaluate/packed.h"

namespace lehr {

using namespace model;

std::vector<PlateId> stored_axes(const Model& m, const std::vector<PlateId>& axes, const std::vector<PlateId>& event) {
  std::vector<PlateId> out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i > 0 && m[axes[i]].parent) out.pop_back();
    out.push_back(axes[i]);
  }
  out.insert(out.end(), event.begin(), event.end());
  return out;
}

std::vector<std::int64_t> stored_shape(const Model& m, const BoundData& d, const std::vector<PlateId>& axes,
                                       const std::vector<PlateId>& event) {
  std::vector<std::int64_t> out;
  for (const PlateId p : stored_axes(m, axes, event))
    out.push_back(d.sizes[p.index()]);
  return out;
}

bool has_integers(math::Support s) { return is_discrete(s) || s == math::Support::count || s == math::Support::counts; }

}  // namespace lehr
