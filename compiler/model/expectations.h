// Says which auxiliary variables are points of expectations of links.
#pragma once
#include "compiler/math/families/bounds.h"
#include "compiler/model/roles.h"

namespace lehr::model {

/// Returns true if the variable is an auxiliary point of a tangent plane of an expectation (`--links gaussian`). False
/// for the point of a local bound.
inline bool has_expectation(const Variable& v) {
  return is_tangent_point(v) && math::is_expectation(*v.auxiliary->bound);
}

}  // namespace lehr::model
