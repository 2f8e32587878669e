// Numeric value of a formula: the oracle of the generated parameter maps, and the source of initial values.
#pragma once
#include <map>
#include <span>
#include <string>
#include <utility>
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
  /// Of probabilities that may round to 0 or 1: log p, and log(1 - p).
  std::map<std::string, std::pair<double, double>> logarithms = {};
};

/// Value of `e` with event indices bound to `first` and `second` (ignored where the formula has none).
/// InverseEntry and LogDet use a Cholesky factorisation; NaN when the matrix is not positive definite.
double evaluate(const Expr& e, const Environment& environment, std::size_t first = 0, std::size_t second = 0);

/// All components of a formula with `rank` free event indices. (A scalar symbol stands for a constant vector
/// or a multiple of the identity wherever a formula asks for components.)
Quantity evaluate_all(const Expr& e, const Environment& environment, int rank);

/// log p(x | parameters), `x` and the canonical parameters among the symbols. 0 log 0 is 0: what cannot happen costs
/// nothing where it does not happen.
double log_density(const FamilyRow& row, const Environment& environment);
/// The `p[x]` of a row whose log density is log p[x], or null.
const AtValue* looks_up(const FamilyRow& row);

/// Canonical density parameters from those the user spelled (`sd` gives `precision`).
std::map<std::string, Quantity> canonical_parameters(const FamilyRow& row, const Environment& spelled);
/// The canonical parameters in row order, matrices row-major: the argument of FamilyRow::draw and ::tempered.
std::vector<double> flatten_parameters(const FamilyRow& row, const Environment& parameters);

/// Parameters of a factor from its natural parameters, and back, or from those of the density it is to equal;
/// keys as in the row, exported parameters only (natural: natural_name(stat)).
std::map<std::string, Quantity> parameters_from_natural(const Factor& factor, const Environment& natural);
std::map<std::string, Quantity> natural_from_parameters(const Factor& factor, const Environment& parameters);
std::map<std::string, Quantity> parameters_from_density(const Factor& factor, const Environment& density);

/// All of `valid` positive, and matrix parameters positive definite.
bool is_proper(const Factor& factor, const Environment& parameters);

/// A(eta); infinite outside the domain.
double log_normaliser(const Factor& factor, const Environment& natural);

/// log of the integral (sum) of p(x | parameters)^(1/temperature): the tempered normaliser, base measure
/// included. By the natural maps where the row has a factor, by the row's own function, or by summation over
/// counts. Infinite where the integral is, NaN for improper families.
double tempered_log_normaliser(const FamilyRow& row, const Environment& parameters, double temperature);

}  // namespace lehr::math
