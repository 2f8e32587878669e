// Polynomials in the latent numbers of a model. Means and variances of distributions are such polynomials once all
// indices have values: with z[n] = 2, the mean of Normal(mu[z[n]] * w, ...) is the monomial mu[2] w.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/model/model.h"

namespace lehr {

/// A variable of a polynomial: one number x of a latent variable as it is, 1 - x, 1 / x, or an entry of the inverse of
/// a matrix.
struct Atom {
  /// Which function of the latent number x the atom is.
  enum class Kind : std::uint8_t {
    value,          // x
    complement,     // 1 - x
    inverse,        // 1 / x
    matrix_inverse  // the number at the same place in the inverse of its matrix
  };
  /// The latent variable that the number x belongs to.
  model::VariableId variable;
  std::size_t number = 0;   // position of the number in the variable's array, row-major (ModelEvaluator::values)
  Kind kind = Kind::value;  // which function of the number it is
  /// Orders atoms by variable, number and kind.
  auto operator<=>(const Atom&) const = default;
};

/// A product of atoms, sorted; an atom is repeated for a power: x, x is x^2. Empty: 1.
using Atoms = std::vector<Atom>;

/// A term of a polynomial: a coefficient times a product of atoms, such as 2 mu[3] w.
struct Monomial {
  double coefficient = 0;  // the constant that multiplies the atoms
  Atoms atoms = {};        // the product that is multiplied, sorted; empty: the monomial is a constant
};

/// A sum of monomials; empty: 0. After merged() no product of atoms occurs twice.
using Polynomial = std::vector<Monomial>;
/// The largest number of monomials in a MaybePolynomial; the result of an operation with more is nullopt.
inline constexpr std::size_t kMaxMonomials = 100'000;

/// Makes the polynomial with the constant value x.
Polynomial constant(double x);
/// Returns true if no monomial has an atom, so that the polynomial is a plain number.
bool is_constant(const Polynomial& p);
/// Returns the value of a polynomial that is_constant(): the sum of its coefficients.
double constant_value(const Polynomial& p);

/// Returns the product of two monomials.
Monomial operator*(const Monomial& a, const Monomial& b);
/// Returns the sum of two polynomials; equal products of atoms are not merged. If both are constants, the result is a
/// single monomial, or none if the sum is 0.
Polynomial operator+(Polynomial a, const Polynomial& b);
/// Returns the product of two polynomials; equal products of atoms are not merged.
Polynomial operator*(const Polynomial& a, const Polynomial& b);
/// Returns the polynomial times a constant.
Polynomial scaled(Polynomial p, double by);

/// Returns the polynomial with monomials of the same atoms added up, sorted by their atoms, and those with coefficient
/// 0 removed.
Polynomial merged(Polynomial p);

/// Returns 1 / p for a single monomial: the coefficient and each atom become their reciprocals. A polynomial without
/// atoms gives the reciprocal of its constant value. Returns nullopt if p is 0 (empty), has several monomials of which
/// some have atoms, or has an atom 1 - x or one of an inverse matrix.
std::optional<Polynomial> inverse_of(const Polynomial& p);

/// The value of an expression; nullopt if it is no polynomial or would be longer than kMaxMonomials. The operators give
/// nullopt if an operand is nullopt or the result would be too long, and are those of polynomials otherwise.
using MaybePolynomial = std::optional<Polynomial>;
/// Returns true for nullopt. Sums in evaluate/arithmetic.h stop then, as further summands do not change it.
inline bool is_undefined(const MaybePolynomial& p) { return !p; }
/// Returns -p; nullopt if p is.
MaybePolynomial operator-(MaybePolynomial p);
/// Adds b to a. The sum is nullopt if a or b is, or if it would be longer than kMaxMonomials.
MaybePolynomial& operator+=(MaybePolynomial& a, const MaybePolynomial& b);
/// Returns a + b; nullopt if one of them is, or if the sum would be longer than kMaxMonomials.
MaybePolynomial operator+(MaybePolynomial a, const MaybePolynomial& b);
/// Returns a - b; nullopt if one of them is, or if the difference would be longer than kMaxMonomials.
MaybePolynomial operator-(MaybePolynomial a, MaybePolynomial b);
/// Returns a * b; nullopt if one of them is, or if the product would be longer than kMaxMonomials.
MaybePolynomial operator*(const MaybePolynomial& a, const MaybePolynomial& b);
/// Returns a / b; nullopt if one of them is, if inverse_of(b) is, or if the result would be longer than kMaxMonomials.
MaybePolynomial operator/(const MaybePolynomial& a, const MaybePolynomial& b);

}  // namespace lehr
