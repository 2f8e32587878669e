// The most probable path of a hidden Markov chain, by the Viterbi algorithm (Rabiner 1989; Bishop 2006, section
// 13.2.5). Several chains on the same axes are treated as one, over all combinations of their values.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/binding/bind.h"

namespace lehr {

/// Returns the value of each element of chain `v` on the jointly most probable path, given observations and known
/// values. Continuous variables are set to `means` (by VariableId). Other chains of categories on the same axes are
/// part of the path. If together they have more than 256 values or no path, `v` is tried alone.
///
/// Returns an empty list if there is no path: nothing is observed, the model has potentials, or something depends on
/// the chain in another way. That is a latent variable other than a category of one observation, or an observation of
/// more than two consecutive steps.
std::vector<std::int64_t> most_probable_states(const model::Model& model, const BoundData& data, model::VariableId v,
                                               const std::vector<std::vector<double>>& means);

}  // namespace lehr
