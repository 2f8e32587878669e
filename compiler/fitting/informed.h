// Which elements of the local variables some observation depends on.
#pragma once
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/pipeline.h"

namespace lehr {

/// By VariableId and element. An element of a local variable is informed where an observation that is there depends on
/// it, directly or through others (those of a chain through later ones); elements of potentials always, and all that is
/// not local. The members of a joint chain are informed together: what one of them at a step says of another is in
/// their factor alone. What is not informed has its distribution given its parents as its posterior, whatever a
/// factorised one says. `seen`: by VariableId the elements of a global variable that the fit has, or empty: all of
/// them. The others are informed where an observation depends on them, as if they were local.
std::vector<std::vector<bool>> informed_elements(const Analysed& analysed, const Forward& forward,
                                                 const std::vector<std::vector<bool>>& seen);

/// Of the variables that are `open`, by VariableId, the elements on which others depend that have data or depend on
/// none of these; what they know by themselves does not count. All elements of the others.
std::vector<std::vector<bool>> informed_by_data(const Forward& forward, const std::vector<bool>& open);

}  // namespace lehr
