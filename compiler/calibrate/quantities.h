// The numbers of a model by which simulations and posteriors are compared (calibration). Usually these are single
// elements of latent variables. Components that the model cannot distinguish have no fixed order, so they enter by sums
// of squares, which are the same in every order:
//
//   mu[component], 3 values   ->  "mu^2.*"  =  mu[0]^2 + mu[1]^2 + mu[2]^2
#pragma once
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/model/model.h"
#include "runtime/array.h"

namespace lehr {

/// The values of all variables of a model in one simulation or posterior draw, by VariableId, each packed as a
/// BoundArray; an empty list for a variable without values.
using Values = std::vector<std::vector<double>>;

/// Sorts named arrays, such as those of a simulation, by variable: returns the values of each variable's array, by
/// VariableId. Arrays that have the name of no variable are ignored; a variable without an array gets an empty list.
Values values_of(const model::Model& model, const std::vector<NamedArray>& arrays);
/// Returns the values of all variables in draw `d`, by VariableId. `draws` has an array for each variable, over [draw]
/// and then the variable's axes; a variable without an array gets an empty list.
Values draw_of(const model::Model& model, const std::vector<NamedArray>& draws, std::size_t d);

/// A number by which calibration compares true values with posterior draws: one element of a variable, or a sum of
/// squares over exchangeable elements, which does not depend on their order and signs.
struct Quantity {
  std::string name;             // "mu.2.1", counted from 1; "mu^2.*.1" is a sum over the first axis
  model::VariableId variable;   // the variable whose elements are read
  std::vector<std::size_t> at;  // positions of these elements in the packed order
  bool squares = false;         // true: the sum of squares at `at`; false: the element at `at[0]`
};
/// Returns the number that a quantity stands for, computed from the values of all variables in one draw.
double value(const Quantity& q, const Values& values);

/// Returns by PlateId whether the elements of a plate are exchangeable: any permutation leaves data, model and
/// therefore the posterior unchanged. Such a plate has no data along it or with its elements as values, and no
/// multiplicities. No index into it is a constant or shifted, and no function such as softmax gives its elements an
/// order. It is not ordered, nested, a parent of a nested plate, or a stick. The entries of aliases mean nothing.
std::vector<bool> exchangeable_plates(const model::Model& model);

/// The list of numbers by which calibration compares a simulation with posterior draws: quantities, then log densities.
/// names() and of() list them in one order.
struct Measures {
  std::vector<Quantity> quantities;  // elements of latent variables, or sums of squares
  /// True if the log joint density and the log likelihood are compared too; they follow the quantities in the list.
  /// They need draws of every latent variable.
  bool densities = true;
  /// Names of latent variables, one for each statement, whose log densities given their parents come last in the list.
  /// Only with `densities`; empty if they are not compared.
  std::vector<std::string> given_parents = {};
  std::vector<std::string> skipped;  // one line for each number or variable left out: its name, and why

  /// Returns the names of all measures, in the order of of(): "lp__" and "log_lik__" are the two log densities.
  std::vector<std::string> names() const;
  /// Computes all measures of one draw, in the order of names(), from the data and the values of the latent variables.
  std::vector<double> of(const model::Model& model, const BoundData& data, const Values& latent) const;
};

/// The most quantities that calibration compares of one variable; measures_of() skips the others and says so.
inline constexpr std::size_t kMaxOfVariable = 8;
/// Chooses the numbers that calibration compares: the first kMaxOfVariable quantities of each latent variable in
/// `names`, those that have posterior draws, and the log densities if these are all latent variables. A category whose
/// values are exchangeable has no quantities. With `every`, each element is a quantity, exchangeable or not, and the
/// log density of each latent variable given its parents is compared too: for the joint test, where components need not
/// be identified.
Measures measures_of(const model::Model& model, const BoundData& data, const std::vector<std::string>& names,
                     bool every);

}  // namespace lehr
