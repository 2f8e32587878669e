// Evaluates a formula of a family, such as its mean or covariance, to a polynomial. The parameters of the formula are
// replaced by the expressions that a model writes for them.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "compiler/math/expr.h"
#include "compiler/posterior/symbolic.h"

namespace lehr {

/// The formulas of one distribution in a model (mean, covariance, parameters), evaluated at one element as polynomials
/// in the latent numbers. A result is nullopt if it is not a polynomial.
class RowFormula {
 public:
  /// Makes an evaluator for the distribution that statement `s` has at index values `at`. All arguments must outlive
  /// it.
  RowFormula(const Symbolic& symbolic, const model::Statement& s, const IndexValues& at);

  /// Returns the value of a formula of the distribution's family, such as FamilyRow::covariance, at event indices j
  /// (kFirst) and l (kSecond).
  MaybePolynomial value(const math::Expr& e, std::size_t j, std::size_t l);
  /// Returns an entry of a canonical parameter at event indices j and l, converted from the parameter that the model
  /// writes: `precision` from a `variance`. A name that the model writes gives that parameter as it is; any other name
  /// gives nullopt.
  MaybePolynomial parameter(const std::string& name, std::size_t j, std::size_t l);

 private:
  /// The values of the index variables of a formula, by id.
  using SumIndices = std::map<int, std::size_t>;

  /// Returns the formula at these values of its index variables.
  MaybePolynomial value(const math::Expr& e, const SumIndices& at);
  /// Returns a sum over an event index; nullopt for a maximum (math::Sum::largest).
  MaybePolynomial sum(const math::Sum& s, const SumIndices& at);
  /// Returns entry (j, l) of a parameter as the model writes it, under that name; nullopt if the model does not write
  /// it. A number counts for all entries of a vector, and for the diagonal of a matrix.
  MaybePolynomial written(const std::string& name, std::size_t j, std::size_t l) const;
  /// Returns an entry of the inverse of a matrix parameter; nullopt unless the matrix is constant, diagonal, written as
  /// an inverse, or a latent matrix times a monomial.
  MaybePolynomial inverse_entry(const std::string& name, std::size_t j, std::size_t l);
  /// Returns an entry of the inverse of a parameter that is a latent matrix times a monomial, the same for all entries.
  MaybePolynomial inverse_of_atoms(const std::string& name, std::size_t j, std::size_t l) const;
  /// Returns the argument in the model from which a canonical parameter is computed: the `variance` for the precision.
  /// Null if there is none.
  const model::Parameter* spelled(const std::string& canonical) const;

  const Symbolic& symbolic_;  // evaluates expressions of the model
  /// The distribution whose formulas are evaluated, with the arguments that the model writes.
  const model::Distribution& distribution_;
  const IndexValues& at_;  // index values of the element at which formulas are evaluated
  std::size_t extent_;     // extent of the distribution's event axis
};

}  // namespace lehr
