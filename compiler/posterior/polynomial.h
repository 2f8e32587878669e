// Polynomials in the latent numbers of a model. Means and variances of distributions are such polynomials once all
// indices have values: with z[n] = 2, the mean of Normal(mu[z[n]] * w, ...) is the monomial mu[2] w.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/model/model.h"

namespace lehr {

/// A variable of a polynomial: a number x of a latent variable, 1 - x, 1 / x, or an entry of the inverse of a matrix.
struct Atom {
  /// The function of the number.
  enum class Kind : std::uint8_t {
    value,          // x
    complement,     // 1 - x
    inverse,        // 1 / x
    matrix_inverse  // the number at the same place in the inverse of its matrix
  };
  /// The latent variable.
  model::VariableId variable;
  std::size_t number = 0;   // position of the number, as in ModelEvaluator::values
  Kind kind = Kind::value;  // which function of the number it is
  /// Orders atoms by variable, number and kind.
  auto operator<=>(const Atom&) const = default;
};

/// A product of atoms, sorted; an atom is repeated for a power.
using Atoms = std::vector<Atom>;

/// A coefficient times a product of atoms.
struct Monomial {
  double coefficient = 0;  // the constant that multiplies the atoms
  Atoms atoms = {};        // sorted; empty: the monomial is a constant
};

/// A sum of monomials; empty: 0. After merged() no product of atoms occurs twice.
using Polynomial = std::vector<Monomial>;
/// Longer polynomials are given up.
inline constexpr std::size_t kMaxMonomials = 100'000;

/// Makes the polynomial with the constant value x.
Polynomial constant(double x);
/// Returns true if the polynomial has no atoms.
bool is_constant(const Polynomial& p);
/// Returns the value of a constant polynomial.
double constant_value(const Polynomial& p);

/// Returns the product of two monomials.
Monomial operator*(const Monomial& a, const Monomial& b);
/// Returns the sum of two polynomials, not merged. Two constants give their sum as one monomial, or none if it is 0.
Polynomial operator+(Polynomial a, const Polynomial& b);
/// Returns the product of two polynomials, not merged.
Polynomial operator*(const Polynomial& a, const Polynomial& b);
/// Returns the polynomial times a constant.
Polynomial scaled(Polynomial p, double by);

/// Adds up monomials with the same atoms, and removes those with coefficient 0.
Polynomial merged(Polynomial p);

/// Returns 1 / p for a single monomial: the coefficient and each atom become their reciprocals. A polynomial without
/// atoms gives the reciprocal of its constant value. Returns nullopt if p is 0 (empty), has several monomials of which
/// some have atoms, or has an atom 1 - x or one of an inverse matrix.
std::optional<Polynomial> inverse_of(const Polynomial& p);

/// The value of an expression; nullopt if it is no polynomial or would be longer than kMaxMonomials. The operators give
/// nullopt if an operand is nullopt or the result would be too long, and are those of polynomials otherwise.
using MaybePolynomial = std::optional<Polynomial>;
/// Returns true for nullopt: further summands do not change it.
inline bool is_undefined(const MaybePolynomial& p) { return !p; }
/// Returns -p.
MaybePolynomial operator-(MaybePolynomial p);
/// Adds b to a.
MaybePolynomial& operator+=(MaybePolynomial& a, const MaybePolynomial& b);
/// Returns a + b.
MaybePolynomial operator+(MaybePolynomial a, const MaybePolynomial& b);
/// Returns a - b.
MaybePolynomial operator-(MaybePolynomial a, MaybePolynomial b);
/// Returns a * b.
MaybePolynomial operator*(const MaybePolynomial& a, const MaybePolynomial& b);
/// Returns a / b, which is nullopt where inverse_of(b) is.
MaybePolynomial operator/(const MaybePolynomial& a, const MaybePolynomial& b);

}  // namespace lehr
