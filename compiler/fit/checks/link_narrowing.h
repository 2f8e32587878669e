// Finds the variables whose standard deviations are too small because of non-conjugate links: logistic and softmax
// likelihoods use local bounds, probit likelihoods use auxiliary variables, and both narrow the factors.
#pragma once
#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace lehr {

/// Returns the names of the global continuous variables that occur in a term with a local bound (logistic, softmax,
/// absolute value), with the auxiliary variable of a probit link or a limit, or with an item between limits. A note
/// after the fit says that their standard deviations are too small. Point factors are excluded. Members of a joint
/// factor are listed by their own names.
std::vector<std::string> narrowed_by_links(const Analysed& analysed);

/// Returns the names of the variables in logistic and probit links whose prior has a latent scale, such as the effects
/// of a mixed model. With few observations for each element, the precision of that prior is inferred too large because
/// of a bound or an auxiliary variable; a note after the fit suggests to take the expectation of the link instead.
/// Empty if some predictor is not a sum of real variables times data, so that this is impossible.
std::vector<std::string> effects_in_links(const Analysed& analysed);

}  // namespace lehr
