// Pairs of Normal factors whose variables are strongly correlated in the posterior. The mean-field factorisation
// ignores the correlation, so the standard deviations are too small. The correlation is found from second differences
// of the ELBO, without a second model.
//
//   beta ~ Normal(...);  a ~ Normal(...);  observe y[n] ~ Normal(mean = a + beta * x[n], ...);
//
// If all x lie far from 0 in units of their spread, a and beta are coupled; `guide joint(a, beta);` makes them one
// factor.
#pragma once
#include <string>
#include <vector>

#include "compiler/instance/instance.h"

namespace lehr {

/// Two numbers of the model whose means are coupled by |H_ab| / sqrt(H_aa H_bb), where H is the expected negative
/// Hessian of the log joint density; for a warning. If the posterior of the two is Normal, this is their correlation.
/// The standard deviation of each factor is then too small by the factor sqrt(1 - correlation^2).
struct CorrelatedPair {
  /// The names of the two numbers: "a", "beta[3]".
  std::string first, second;
  double correlation = 0;  // strength of the coupling, from 0 to 1
  /// The statement to suggest, which makes the two variables one factor: "guide joint(a, beta)". Empty: there is none.
  std::string guide = {};
  /// The variables that the guide would join. Empty for two numbers of one variable, and if the two factors have more
  /// than 200 numbers, so that no guide is suggested. Checkpoints do not store them.
  std::vector<model::VariableId> members = {};
};

/// A pair of variables with more pairs of elements in common terms than this is not tested for coupling.
inline constexpr std::size_t kMaxPairs = 500;
/// Finds couplings above `least` between global Normal and MvNormal factors, for each pair of variables the strongest
/// one, in descending order. A variable and itself are a pair too: its elements have separate factors. Points, chains,
/// sparse factors and means that share a factor with their precision are left out. Only elements that occur together in
/// a term of the log joint are tried. There are about a hundred trials in all, evenly spaced and at least one for each
/// pair of variables, at four evaluations of the ELBO each.
///
/// H_ab is a central second difference of the ELBO in the two means. That is exact, since the log joint is at most
/// quadratic in each mean. H_aa is the precision of the factor. The factors must be at a solution; they are the same
/// afterwards.
std::vector<CorrelatedPair> correlated_pairs(Instance& instance, const Analysed& analysed, double least);

/// Clears the `guide` of each coupling with which the model could not be fitted. `resolved` is the model before
/// auxiliary variables were added; `options` is what the data decide about the density.
void drop_invalid_guides(std::vector<CorrelatedPair>& couplings, const model::Model& resolved,
                         const density::ExpandOptions& options);

/// Returns suggestions, as phrases for a message, of how to account for the correlation of couplings without a guide:
/// "one MvNormal for both" and "centred covariates". Returns none if a variable of such a coupling has limits.
std::vector<std::string> other_remedies(const std::vector<CorrelatedPair>& couplings, const Analysed& analysed);

}  // namespace lehr
