// Which latent elements are d-connected to the data: some observation depends on them, directly or through others. The
// elements that are not d-connected to any observation have as their posterior the distribution given their parents.
#pragma once
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/pipeline.h"

namespace lehr {

/// Returns by VariableId and element whether it is d-connected to the data, for predictions: the posterior of other
/// elements is their distribution given their parents. An element of a local variable is d-connected if an observation
/// with a value depends on it, directly or through other latent elements such as later steps of a chain. An element
/// with a value of its own is d-connected, and so are all elements of variables in potentials, of global variables, and
/// of chains with limits. Limits of other latent numbers d-connect their parents, but not the numbers themselves.
/// Members of a joint chain are d-connected together, because only their common factor relates them.
///
/// `seen` has an entry for each variable, by VariableId: for a global variable, true for each element that the fit has.
/// Elements with false are treated as elements of a local variable. An empty entry means that the fit has all elements.
std::vector<std::vector<bool>> d_connected_elements(const Analysed& analysed, const ModelEvaluator& forward,
                                                    const std::vector<std::vector<bool>>& seen);

/// Returns by VariableId and element whether other variables d-connect it to the data, to find barren elements
/// (barren.h). Only variables that are `open` (by VariableId) can have elements for which this is false. It is true if
/// an element with data depends on the element, or an element of a latent variable that is not open. The dependence may
/// lead through other open elements. Values of the element itself do not count.
std::vector<std::vector<bool>> d_connected_to_data(const ModelEvaluator& forward, const std::vector<bool>& open);

}  // namespace lehr
