// Numeric value of a formula: the oracle of the generated parameter maps, and the source of initial values.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/math/expr.h"
#include "compiler/math/family.h"

namespace lehr::math {

/// A scalar (rank 0), vector or row-major matrix over the event axis.
struct Quantity {
  int rank = 0;
  std::vector<double> values;
};

struct Environment {
  std::size_t extent = 1;
  std::map<std::string, Quantity> symbols;
};

/// Value of `e` with event indices bound to `first` and `second` (ignored where the formula has none).
/// InverseEntry and LogDet use a Cholesky factorisation; NaN when the matrix is not positive definite.
double evaluate(const Expr& e, const Environment& environment, std::size_t first = 0, std::size_t second = 0);

/// Parameters of a factor from its natural parameters, and back; keys as in the row (natural: name_of symbol).
std::map<std::string, Quantity> parameters_from_natural(const Factor& factor, const Environment& natural);
std::map<std::string, Quantity> natural_from_parameters(const Factor& factor, const Environment& parameters);

/// log of the integral (sum) of p(x | parameters)^(1/temperature): the tempered normaliser, base measure included.
double tempered_log_normaliser(const FamilyRow& row, const Environment& parameters, double temperature);

}  // namespace lehr::math
