// Points that left for where the density of their prior is infinite.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/schedule/schedule.h"
#include "runtime/array.h"

namespace lehr {

struct UnboundedPoint {
  std::string name;    // "a[2]"
  std::string family;  // of its prior
};

/// The first positive point of `posterior` that is at 0 but for rounding while its prior, whose parameters are known,
/// has no maximum inside its support (math::Factor::interior): the bound grows as long as it is followed.
std::optional<UnboundedPoint> unbounded_point(const model::Model& m, const schedule::Schedule& s, const BoundData& data,
                                              const std::vector<NamedArray>& posterior);

}  // namespace lehr
