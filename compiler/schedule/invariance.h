// Finds transformations that leave every term of the likelihood alone, from the terms of the log joint.
//
// If two variables enter the likelihood only through sums over a plate of components, sum(k) W[d][k] * z[n][k], then
// W -> W R and z -> R^-1 z change only their priors and entropies (parameter expansion: Qi & Jaakkola 2006; rotations:
// Luttinen & Ilin 2010). Each variable has a sign, + or -, and is transformed by R or by its transposed inverse. A term
// is invariant if every component in it occurs in as many statistics of either sign; the others must be priors, with
// one statistic of one variable.
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Returns the invariances of the model: one for each plate of components and each set of variables that are connected
/// by products over it. The steps, stages and storage of `s` must be decided; index variables are added to its algebra.
/// Sums over items are terms still, of which regroup() makes statistics.
std::vector<Invariance> find_invariances(const model::Model& m, Schedule& s);

/// Returns true if the block is global, or if a sweep begins with the items that it belongs to, and none of the blocks
/// that the items update before it reads it. The next sweep then forms it from the other blocks alone.
bool is_formed_first(const Schedule& s, BlockId b);

/// Returns the invariance in words: "W -> W R, z -> z R^-T over latent; alpha is chosen anew".
std::string describe(const model::Model& m, const Schedule& s, const Invariance& x);

}  // namespace lehr::schedule
