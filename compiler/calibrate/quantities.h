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

/// The values of all variables, by VariableId, each packed as a BoundArray; an empty list for a variable without
/// values.
using Values = std::vector<std::vector<double>>;

/// Sorts arrays that are named after variables by VariableId. Arrays with other names are ignored.
Values values_of(const model::Model& model, const std::vector<NamedArray>& arrays);
/// Extracts draw `d` from arrays over [draw] and the axes of each variable.
Values draw_of(const model::Model& model, const std::vector<NamedArray>& draws, std::size_t d);

/// A number to compare: one element of a variable, or a sum of squares over exchangeable elements. The sum does not
/// depend on their order and signs.
struct Quantity {
  std::string name;             // "mu.2.1", counted from 1; "mu^2.*.1" is a sum over the first axis
  model::VariableId variable;   // the variable whose elements are read
  std::vector<std::size_t> at;  // positions of these elements in the packed order
  bool squares = false;         // true: the sum of squares at `at`; false: the element at `at[0]`
};
/// Computes a quantity from the values of all variables.
double value(const Quantity& q, const Values& values);

/// Returns by PlateId whether the elements of a plate are exchangeable: any permutation leaves data, model and
/// therefore the posterior unchanged. Such a plate has no data along it or with its elements as values, and no
/// multiplicities. No index into it is a constant or shifted, and no function such as softmax gives its elements an
/// order. It is not ordered, nested, a parent of a nested plate, or a stick. The entries of aliases mean nothing.
std::vector<bool> exchangeable_plates(const model::Model& model);

/// What simulations are compared by: quantities, then log densities.
struct Measures {
  std::vector<Quantity> quantities;  // elements of latent variables, or sums of squares
  /// True if the log joint density and the log likelihood follow the numbers. They need draws of every variable.
  bool densities = true;
  /// Latent variables whose log densities given their parents follow after that, by name. They need `densities`.
  std::vector<std::string> given_parents = {};
  std::vector<std::string> skipped;  // one line for each thing that is not compared: what, and why

  /// Returns the names of all measures, in the order of of(): "lp__" and "log_lik__" are the two log densities.
  std::vector<std::string> names() const;
  /// Computes all measures from the data and the values of the latent variables.
  std::vector<double> of(const model::Model& model, const BoundData& data, const Values& latent) const;
};

/// The maximum number of quantities that measures_of takes of one variable.
inline constexpr std::size_t kMaxOfVariable = 8;
/// Chooses the measures: the first kMaxOfVariable quantities of each latent variable in `names`. These must be all
/// latent variables for the log densities. A category whose values are exchangeable has no quantities. With `every`,
/// each element is a quantity, exchangeable or not, and Measures::given_parents are measured too; use
/// it where components need not be identified.
Measures measures_of(const model::Model& model, const BoundData& data, const std::vector<std::string>& names,
                     bool every);

}  // namespace lehr
