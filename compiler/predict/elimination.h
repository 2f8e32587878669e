// Removes elements without a marginal (PosteriorMoments::find) from polynomials. On these no data depend, and their
// parents are latent. Each is averaged over given its parents, children before parents, until only elements with
// marginals are left.
//
//   x[t] ~ Normal(mean = a * x[t-1], variance = s):   E[x[3]^2]  ->  E[a^2 x[2]^2] + E[s]  ->  ...
#pragma once
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/posterior/posterior_moments.h"

namespace lehr {

/// A random quantity split in two: `mean`, a polynomial in numbers that have marginals, plus independent noise with
/// mean 0 and variance `noise`.
struct MeanAndNoise {
  /// The quantity without its noise, and the noise's variance: polynomials in numbers with marginals.
  Polynomial mean, noise;
  bool gaussian = true;  // true if the noise is Normal, given the numbers in `noise`
};

/// Takes expectations of polynomials in a prediction over their elements without a marginal (PosteriorMoments::find),
/// such as future steps of a chain. Each is averaged given its parents, so that only elements with marginals remain.
class Elimination {
 public:
  /// Makes an object that reads means and covariances of elements from `symbolic` and marginals from
  /// `posterior_moments`. Both must outlive it.
  Elimination(const Symbolic& symbolic, PosteriorMoments& posterior_moments);

  /// Returns p averaged over its elements without a marginal, given those with one: only numbers of the latter remain.
  /// Returns nullopt if a monomial has an inverse or more than two numbers of an averaged element, if a family has no
  /// such moment, if the factor of a d-connected element has no marginal, or if the polynomial becomes too long. It is
  /// also nullopt if a category lacks a value: then ModelEvaluator::unknown says which.
  MaybePolynomial averaged(Polynomial p);

  /// Splits a polynomial that is linear in its elements without a marginal into its average and the noise from them.
  /// Returns nullopt if it is not linear, if a family has no such moment, if the factor of a d-connected element has no
  /// marginal, or if a polynomial becomes too long. It is also nullopt if a category lacks a value: then
  /// ModelEvaluator::unknown says which.
  std::optional<MeanAndNoise> mean_and_noise(Polynomial p);

  /// Returns E[p] over all latent numbers of p, or nullopt if a moment is not available.
  std::optional<double> mean(const Polynomial& p);
  /// Returns Var[p] over all latent numbers of p, or nullopt if a moment is not available or mean_and_noise() has no
  /// result.
  std::optional<double> variance(const Polynomial& p);

 private:
  /// A sort key by which children come after their parents: group of statements, position along an ordered plate,
  /// statement in the group, position of the element.
  using Rank = std::tuple<std::size_t, std::int64_t, std::size_t, std::size_t>;

  /// Returns where an element comes in the order in which a simulation would draw: children after their parents.
  Rank rank(Element e) const;
  /// Returns the element without a marginal that averaged() removes next: the one that a simulation would draw last, so
  /// that children come before their parents. nullopt if the polynomial has none.
  std::optional<Element> next(const Polynomial& p);
  /// Returns the mean of a number of an element, or of the product of two, given its parents; nullopt for more numbers
  /// and for inverses.
  MaybePolynomial moment(Element e, const Atoms& own);
  /// Replaces the numbers of an element in a polynomial by their moments given its parents. Returns nullopt if there is
  /// no such moment, or if the result has more than kMaxMonomials.
  MaybePolynomial average_over(Element e, const Polynomial& p);

  const Symbolic& symbolic_;             // gives means and covariances of elements given their parents
  PosteriorMoments& posterior_moments_;  // marginal distributions of the elements
  const model::Model& model_;            // the model that is averaged over
  /// When a simulation of the model would draw a variable; elements are averaged over in the opposite order.
  struct SimulationOrder {
    /// The group of statements that are simulated together, and the position of the statement in it.
    std::size_t group = 0, within = 0;
    std::optional<model::IndexVarId> ordered;  // index variable of the plate along which the group is simulated
  };
  std::vector<SimulationOrder> order_;  // by VariableId: its position in the order of simulation
};

}  // namespace lehr
