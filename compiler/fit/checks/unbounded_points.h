// Detects point factors that have run to 0, where the density of their prior is infinite. The ELBO then grows without
// limit and means nothing.
//
//   a ~ Gamma(shape = 0.5, rate = 1);  guide point(a);
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/schedule/schedule.h"
#include "runtime/array.h"

namespace lehr {

/// A point factor that has run to 0, where the density of its prior is infinite; for a warning.
struct UnboundedPoint {
  std::string name;    // name of the point, with indices: "a[2]"
  std::string family;  // family of the point's prior: "Gamma"
};

/// Finds the first positive point below 1e-10 whose prior has no maximum inside its support (math::Factor::interior).
/// Priors whose parameters depend on latent variables are left out. Returns nullopt if there is no such point.
std::optional<UnboundedPoint> unbounded_point(const model::Model& m, const schedule::Schedule& s, const BoundData& data,
                                              const std::vector<NamedArray>& posterior);

}  // namespace lehr
