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

/// Finds the changes of basis that leave the likelihood alone, for Schedule::invariances: at most one for each plate of
/// components and each set of variables that are connected by products over it. The steps, stages and storage of `s`
/// must be decided; index variables are added to its algebra. Sums over items are terms in the result; regroup()
/// replaces them by statistics.
std::vector<Invariance> find_invariances(const model::Model& m, Schedule& s);

/// Returns true if the next sweep forms the factor of the block from the other blocks alone, so that a change of these
/// may ignore it. If an item stage updates the block, the sweep must begin with this stage, and no block that the stage
/// updates before it may share a term with it. Without an item stage, the result is true for all blocks but chains, and
/// for the chain whose update begins the sweep.
bool is_formed_first(const Schedule& s, BlockId b);

/// Returns the invariance in words, for `lehr derive`: "W -> W R, z -> z R^-T over latent; alpha chosen anew".
std::string describe(const model::Model& m, const Schedule& s, const Invariance& x);

}  // namespace lehr::schedule
