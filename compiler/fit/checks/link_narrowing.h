// Warnings on non-conjugate links: logistic and softmax likelihoods use local bounds, probit likelihoods use auxiliary
// variables. Both narrow the factors, and precisions and factors of effects are biased.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace lehr {

/// Returns warnings on a fit with links:
/// - the standard deviations of global numbers are too small, unless they are `corrected`: those in a term with a local
///   bound (logistic, softmax, absolute value), with the auxiliary variable of a probit link or a limit, or with an
///   item between limits. If linear response is `correctable`, a note proposes it.
/// - the precision of effects in logistic and probit links is too large where each has few observations. A note
///   proposes to take the expectation of the link.
/// - the product of two variables in such a link (`scale * effect[j]`) is too small likewise. Its notes are those of
///   `instead`, which is called for such a product alone: they take another derivation of the model.
std::vector<Diagnostic> link_warnings(const Analysed& analysed, bool corrected, bool correctable,
                                      const std::function<std::vector<std::string>()>& instead);

}  // namespace lehr
