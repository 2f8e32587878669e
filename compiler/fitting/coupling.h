// Pairs of Normal factors that the posterior ties together and the factorisation takes apart.
#pragma once
#include <string>
#include <vector>

#include "compiler/instance/instance.h"

namespace lehr {

/// Two numbers and |H_ab| / sqrt(H_aa H_bb), H the expected negative Hessian of the log joint in the means: where the
/// posterior of the two alone is Normal, its correlation, and each standard deviation of the factors is too small by
/// sqrt(1 - correlation^2).
struct Coupled {
  std::string first, second;  // "a", "beta[3]"
  double correlation = 0;
  std::string guide = {};  // that makes them one factor, where there is one: "guide joint(a, beta)"
  std::vector<model::VariableId> members = {};  // of that factor; not kept by checkpoints
};

/// Couplings above `least` of global Normal and MvNormal factors that stand in one term, of each two variables the
/// strongest, strongest first. H_ab is a central second difference of the ELBO in the two means (exact: the log joint
/// is at most quadratic in each), H_aa the precision of the factor. Elements that no term has together are passed over,
/// and all those of two variables with more than kMostPairs such pairs; of the others about a hundred pairs are tried,
/// evenly spaced, four evaluations of the ELBO each. The state of the instance, which must be a solution, is the same
/// afterwards.
inline constexpr std::size_t kMostPairs = 500;
std::vector<Coupled> strong_couplings(Instance& instance, const Analysed& analysed, double least);

/// Empties each guide under which the model, as it was before any guide joined its variables, has no conditionals.
/// `options` is what the data decide.
void try_guides(std::vector<Coupled>& couplings, const model::Model& resolved, const density::ExpandOptions& options);

/// What keeps what the factors of such pairs have in common, of the things that this model can have; may be empty.
std::vector<std::string> other_cures(const std::vector<Coupled>& couplings, const Analysed& analysed);

}  // namespace lehr
