// Finds the variables whose standard deviations are too small because of non-conjugate links: logistic and softmax
// likelihoods use local bounds, probit likelihoods use auxiliary variables, and both narrow the factors.
#pragma once
#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace lehr {

/// Returns the names of the global continuous variables that occur in a term with a local bound (logistic, softmax,
/// absolute value). Variables in a term with the auxiliary variable of a probit link or a limit are listed, too. Point
/// factors are excluded. Members of a joint factor are listed by their own names.
std::vector<std::string> narrowed_by_links(const Analysed& analysed);

}  // namespace lehr
