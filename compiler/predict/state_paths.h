// The most probable path of a hidden Markov chain, by the Viterbi algorithm (Rabiner 1989; Bishop 2006, section
// 13.2.5). Several chains on the same axes are treated as one, over all combinations of their values.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/binding/bind.h"

namespace lehr {

/// Returns the jointly most probable path of a latent chain of categories `v` given the observations (Viterbi): the
/// value, from 0, of each element. Continuous variables are set to `means` (by VariableId). Other chains of categories,
/// bits or spins on the same axes are part of the path. If together they have more than 256 values or no path, `v` is
/// tried alone.
///
/// Returns an empty list if there is no path: nothing that depends on the chain is observed, the model has potentials,
/// the chain lies on a plate with multiplicities, or something depends on the chain in another way. That is a latent
/// variable other than a discrete one of a single observation, or an observation of other than one step or two
/// consecutive steps.
std::vector<std::int64_t> most_probable_states(const model::Model& model, const BoundData& data, model::VariableId v,
                                               const std::vector<std::vector<double>>& means);

}  // namespace lehr
