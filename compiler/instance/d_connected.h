// Which latent elements are informed by data: some observation depends on them, directly or through others. The
// elements that are not d-connected to any observation have as their posterior the distribution given their parents.
#pragma once
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/pipeline.h"

namespace lehr {

/// Returns by VariableId and element whether it is informed. An element of a local variable is informed if an
/// observation with a value depends on it. It may do so directly, or through other latent elements such as later steps
/// of a chain. Elements in potentials, and all elements of global variables, are informed. Members of a joint chain are
/// informed together, because only their common factor relates them.
///
/// `seen` has, by VariableId, the elements of a global variable that the fit has; empty: all. Unseen elements are
/// treated as elements of a local variable.
std::vector<std::vector<bool>> d_connected_elements(const Analysed& analysed, const ModelEvaluator& forward,
                                                    const std::vector<std::vector<bool>>& seen);

/// Returns by VariableId and element whether other variables make it informed. Only variables that are `open` (by
/// VariableId) can have uninformed elements. An element is informed if an element with data depends on it, or an
/// element of a variable that is not open. The dependence may lead through other open elements. Values of the element
/// itself do not count.
std::vector<std::vector<bool>> d_connected_to_data(const ModelEvaluator& forward, const std::vector<bool>& open);

}  // namespace lehr
