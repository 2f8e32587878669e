// Evaluates formulas (Expr) at numbers. It is the oracle that generated code is tested against, and gives initial
// values, normalisers and predictive densities.
#pragma once
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/math/expr.h"
#include "compiler/math/family.h"

namespace lehr::math {

/// A number, vector or square matrix: the value of a symbol or of a formula.
struct Quantity {
  int rank = 0;                // 0: a number, 1: a vector, 2: a matrix
  std::vector<double> values;  // 1, D or D * D numbers, row-major; D is the extent of the event axis
};

/// The values of all symbols that a formula may contain, and the size of the event axis. Formulas are evaluated in it.
struct Environment {
  std::size_t extent = 1;                   // D: the size of the event axis
  std::map<std::string, Quantity> symbols;  // by symbol name
  /// For probabilities that may round to 0 or 1: log p and log(1 - p) by symbol name. They replace log and log1m of the
  /// symbol.
  std::map<std::string, std::pair<double, double>> logarithms = {};
};

/// Returns the number that a formula is in this environment, with its free event indices kFirst and kSecond set to
/// `first` and `second`. An unknown symbol is NaN. InverseEntry and LogDet use a Cholesky factorisation, and are NaN if
/// the matrix is not positive definite.
double evaluate(const Expr& e, const Environment& environment, std::size_t first = 0, std::size_t second = 0);

/// Returns all components of a formula with `rank` free event indices: one number, a vector or a row-major matrix. A
/// scalar symbol stands for a constant vector where a vector is needed, and for a multiple of the identity where a
/// matrix is.
Quantity evaluate_all(const Expr& e, const Environment& environment, int rank);

/// Returns log p(x | parameters) for the `x` and canonical parameters in the environment. Zero times infinity is 0
/// here. So a count of 0 with probability 0 adds nothing: 0 log 0 = 0.
double log_density(const FamilyRow& row, const Environment& environment);
/// Returns the node `p[x]` if the log density of the row is log p[x], as that of Categorical is, or null.
const AtValue* categorical_lookup(const FamilyRow& row);

/// Returns the canonical parameters of the density, by name, from those that the user typed: `sd` gives `precision`.
/// `spelled` has the typed ones by spelling. A parameter that is not in it is left out.
std::map<std::string, Quantity> canonical_parameters(const FamilyRow& row, const Environment& spelled);
/// Returns the canonical parameters concatenated in row order, matrices row-major. This is the argument that
/// FamilyRow::draw, FamilyRow::tempered and FamilyRow::log_tail take. A parameter that is not in `parameters` is NaN.
std::vector<double> flatten_parameters(const FamilyRow& row, const Environment& parameters);

/// Returns the exported parameters of a factor, by name, from its natural parameters, as an update does. `natural` has
/// these by natural_name(stat).
std::map<std::string, Quantity> parameters_from_natural(const Factor& factor, const Environment& natural);
/// Returns the natural parameters of a factor, by natural_name(stat), from its exported parameters.
std::map<std::string, Quantity> natural_from_parameters(const Factor& factor, const Environment& parameters);
/// Returns the exported parameters of the factor that equals a density. `density` has the canonical parameters of that
/// density.
std::map<std::string, Quantity> parameters_from_density(const Factor& factor, const Environment& density);

/// Returns true if the factor is a proper distribution: all formulas in Factor::valid are positive, and exported matrix
/// parameters are positive definite.
bool is_proper(const Factor& factor, const Environment& parameters);

/// Returns the log normaliser A(eta) of a factor at its natural parameters (-log g(eta) in Bishop 2006, eq. 2.194);
/// infinity outside the domain.
double log_normaliser(const Factor& factor, const Environment& natural);

/// Returns the log of the integral (or sum) over x of p(x | parameters)^(1/temperature), base measure included, for
/// canonical parameters. It is FamilyRow::tempered if the row has one, else it is computed from the natural parameters
/// if the row has a factor, else by summation over counts. Bits and counts with a probability that rounds to 0 or 1
/// (Environment::logarithms) are always summed. It is infinite where the integral is. It is NaN for improper families,
/// and for values that are no counts if the row has neither.
double tempered_log_normaliser(const FamilyRow& row, const Environment& parameters, double temperature);

}  // namespace lehr::math
