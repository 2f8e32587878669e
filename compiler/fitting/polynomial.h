// Polynomials in the numbers of a model's elements: what a mean or a variance is once indices have values.
#pragma once
#include <compare>
#include <cstdint>
#include <vector>

#include "compiler/model/model.h"

namespace lehr {

/// A number of a variable (positions as in Forward::values), or what is made of it.
struct Atom {
  enum class Kind : std::uint8_t {
    value,
    complement,     // 1 - x
    inverse,        // 1 / x
    matrix_inverse  // the number at that place of the inverse matrix
  };
  model::VariableId variable;
  std::size_t number = 0;
  Kind kind = Kind::value;
  auto operator<=>(const Atom&) const = default;
};

using Atoms = std::vector<Atom>;

struct Monomial {
  double coefficient = 0;
  Atoms atoms = {};  // sorted; repeated where there are powers
};

/// A sum; no monomial twice after merged(). Empty: 0.
using Polynomial = std::vector<Monomial>;

Polynomial constant(double x);
bool is_constant(const Polynomial& p);
double constant_value(const Polynomial& p);

Monomial operator*(const Monomial& a, const Monomial& b);
Polynomial operator+(Polynomial a, const Polynomial& b);
Polynomial operator*(const Polynomial& a, const Polynomial& b);
Polynomial scaled(Polynomial p, double by);

/// Equal monomials are one, and none has the coefficient 0.
Polynomial merged(Polynomial p);

}  // namespace lehr
