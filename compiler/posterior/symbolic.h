// Evaluates expressions of a model to polynomials in its latent numbers.
//
//   mu[z[n]] + 2 * b   with z[n] = 3 and data in place   ->   mu[3] + 2 b
#pragma once
#include <map>
#include <optional>
#include <string>

#include "compiler/evaluate/forward.h"
#include "compiler/posterior/polynomial.h"

namespace lehr {

/// Evaluates expressions of a model to polynomials in its latent numbers, at given index values; predictions take their
/// means and covariances. Data and constants become numbers, latent numbers become atoms. Categories in indices have
/// the values in `forward`; if one lacks a value, ModelEvaluator::unknown says which, and the result is not usable.
/// Results are nullopt if an expression is no polynomial, or has more than 100,000 terms.
class Symbolic {
 public:
  /// Makes an evaluator of the model in `forward`, which must outlive it.
  explicit Symbolic(const ModelEvaluator& forward);

  /// Returns entry (i, j) of an expression, a number, vector or matrix.
  MaybePolynomial entry(model::ExprId id, const IndexValues& at, std::size_t i = 0, std::size_t j = 0) const;

  /// Returns the mean of number `j` of the element that statement `s` draws, given its parents (FamilyRow::mean).
  MaybePolynomial mean(const model::Statement& s, const IndexValues& at, std::size_t j) const;
  /// Returns the covariance of numbers `j` and `l` of the element that statement `s` draws, given its parents
  /// (FamilyRow::covariance).
  MaybePolynomial covariance(const model::Statement& s, const IndexValues& at, std::size_t j, std::size_t l) const;

  /// Returns a canonical parameter (such as `precision`) of the distribution that statement `s` has at index values
  /// `at`, at event indices j and l.
  MaybePolynomial parameter(const model::Statement& s, const IndexValues& at, const std::string& canonical,
                            std::size_t j = 0, std::size_t l = 0) const;

  /// Returns true if the expression contains a latent variable other than a category.
  bool is_latent(model::ExprId id) const { return latent_[id.index()]; }
  /// Returns the evaluator of the model, which has the values of data and categories.
  const ModelEvaluator& forward() const { return forward_; }

 private:
  /// Returns proportion `i`, from 0, of a stick-breaking construction as a polynomial in its fractions v: v_i (1 - v_0)
  /// ... (1 - v_(i-1)); the last proportion has no v_i. Returns nullopt if the fractions are not a variable.
  MaybePolynomial sticks(const model::StickBreaking& s, const IndexValues& at, std::size_t i) const;
  /// Returns the latent number that is `offset` places after the first one that a reference reads, as a polynomial of
  /// one atom.
  Polynomial atom(const model::VariableRef& r, const IndexValues& at, std::size_t offset) const;

  const ModelEvaluator& forward_;  // evaluates what has no latent numbers: data, constants, categories with values
  const model::Model& model_;      // the model whose expressions are evaluated
  std::vector<bool> latent_;       // by ExprId: true if it contains a latent variable other than a category
};

}  // namespace lehr
