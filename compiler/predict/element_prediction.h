// The predictive distribution of an element as a finite mixture: one component for each combination of values of the
// categories that it depends on. Means, variances and quantiles follow in closed form.
#pragma once
#include <optional>
#include <vector>

#include "compiler/math/predictive.h"
#include "compiler/predict/elimination.h"

namespace lehr {

/// The predictive moments and distribution of one element (the numbers at one position of a variable), in closed form.
/// A list is empty if one of the element's numbers has no closed form; the prediction then estimates it from draws. Of
/// a category there is `mean` only.
struct ElementPrediction {
  /// Mean and standard deviation of each number. Of a category, `mean` has the probabilities of its values.
  std::vector<double> mean, sd;
  std::vector<math::Mixture> distribution;  // the predictive distribution of each number, from which quantiles follow
};

/// Computes standard deviations and distributions of a predicted element, a mixture over the values of the categories
/// that it depends on: one add() for each component. The means must be computed before.
class MixtureSum {
 public:
  /// Makes an empty sum for the element that statement `s` draws at index values `at`. `to` has the element's means,
  /// and gets standard deviations and distributions. All arguments must outlive the object.
  MixtureSum(const Symbolic& symbolic, PosteriorMoments& posterior_moments, Elimination& elimination,
             const model::Statement& s, const IndexValues& at, ElementPrediction& to);

  /// Adds the component for the values that the categories have now. `weight` is its probability, a polynomial in
  /// latent numbers. If a category lacks a value, ModelEvaluator::unknown says which, and the component is not
  /// complete.
  void add(const Polynomial& weight);
  /// Converts the summed variances to standard deviations. If one has no closed form, `sd` stays empty. Call it once,
  /// at the end.
  void finish();

 private:
  /// Returns true if `weight` and `p` are independent under the posterior: no atom of one shares a factor with an atom
  /// of the other.
  bool is_independent(const Polynomial& weight, const Polynomial& p) const;
  /// Returns E[weight * ((x - about)^2 + noise)], x the polynomial `mean`; nullopt if a moment is not available.
  std::optional<double> square(const Polynomial& weight, const Polynomial& mean, const Polynomial& noise, double about);
  /// Returns the distribution of a Normal number with this mean and variance (`noise`), averaged over the latent
  /// numbers in both. Returns nullopt where it is neither Normal, Student's t nor a Normal with inverse-gamma variance,
  /// or where mean or variance depend on `weight`, the probability of the component. The result is not multiplied by
  /// `weight`.
  std::optional<math::Predictive> gaussian(const Polynomial& mean, const Polynomial& noise, const Polynomial& weight);
  /// Returns the distribution of number `j` of the element, from 0 (a vector has several), at the present values of the
  /// categories. The parameters of its family are integrated out under their factors, by FamilyRow::predictive, as for
  /// a Poisson number with a Gamma rate. For a family without this formula it is the marginal that posterior_moments_
  /// has of the element. add() calls it for families that are not Gaussian.
  ///
  /// `weight` is the probability of these values; the result is not multiplied by it. Returns nullopt if there is no
  /// closed form, or if the parameters depend on each other or on `weight`.
  std::optional<math::Predictive> of_row(std::size_t j, const Polynomial& weight);
  /// Returns the distribution of a polynomial that is a constant, a single number, or a positive multiple of a Gamma or
  /// InverseGamma number; Kind::none for others.
  math::ScalarMarginal margin(const Polynomial& p);
  /// Replaces numbers whose factors are points by their values, so that only random numbers remain. The result is
  /// merged.
  Polynomial with_points(const Polynomial& p);

  const Symbolic& symbolic_;             // evaluates means and covariances of the model to polynomials
  PosteriorMoments& posterior_moments_;  // marginals of the latent elements
  Elimination& elimination_;             // averages over elements without a marginal
  const model::Statement& statement_;    // the statement that draws the predicted element
  const IndexValues& at_;                // index values of the predicted element
  ElementPrediction& to_;                // the element's moments and distribution, which are filled in
  std::vector<double> variance_;         // the summed variance of each number; NaN: no closed form
};

}  // namespace lehr
