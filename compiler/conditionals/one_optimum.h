// Proves that the ELBO of a model has one optimum, from the terms of its log joint.
//
// Blocks that share terms, directly or through others, form a group; the ELBO is a sum over groups. A group has one
// optimum in these cases:
//
//   alone        a single block whose elements share no terms: its factor does not depend on other factors
//   real         the log joint is concave in the values of real numbers and vectors
//   positive     the log joint is concave in the logarithms of positive numbers
//
// Independent factors without further restriction maximise a concave functional if the log joint is concave: KL
// divergence from a log-concave density is convex along displacements of each factor (Arnese & Lacker, Convergence of
// coordinate ascent variational inference for log-concave measures via optimal transport, 2024). So whatever no single
// update can improve is the optimum. The functional stays concave where a local bound replaces a logistic, softmax or
// absolute value: at its best tangent point, the bound is a concave, falling function of a norm of the argument, or of
// its mean and variance (Challis & Barber, Gaussian Kullback-Leibler approximate inference, 2013).
#pragma once
#include <optional>
#include <string>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// Returns why the ELBO of a model has one optimum, so that coordinate ascent from any start ends there and a search
/// over starts is not needed; as a clause for the user, such as "the log joint is concave in the latent variables".
/// Returns nothing if this is not proved: a model without a proof may have one optimum too.
std::optional<std::string> why_one_optimum(const model::Model& m, const Conditionals& c);

/// Returns true if some term has a degree above 2 in real numbers and vectors, as those of products in means have: W z.
/// Such a model has several optima (other signs, rotations, or orders of components), and is often stationary where
/// both are 0.
bool has_products(const model::Model& m, const Conditionals& c);

/// Returns true if a search over starts may end early when a few of them reach the same ELBO: there are no discrete
/// latent variables and no products of real numbers.
bool starts_may_agree(const model::Model& m, const Conditionals& c);

}  // namespace lehr::conditionals
