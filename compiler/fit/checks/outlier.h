// Names the value of the data that lies farthest from the others, for messages about numerical failures: one mark such
// as 1e6 or 99999 in a table is a frequent cause.
#pragma once
#include <string>

#include "compiler/binding/bind.h"

namespace lehr {

/// Returns a clause to end a message about a numerical failure with. It names the observed real number that is farthest
/// from the median of its column: "; x[30, 0] lies 2e+06 times as far from the median as half of the values". Empty if
/// no value is more than ten thousand times as far.
std::string outlier_clause(const model::Model& m, const BoundData& data);

}  // namespace lehr
