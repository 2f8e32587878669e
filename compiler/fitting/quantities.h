// The numbers of a model that simulations are compared by: elements of latent variables where the data tell them apart,
// and otherwise sums that do not change when what nothing tells apart changes places.
#pragma once
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/model/model.h"
#include "runtime/array.h"

namespace lehr {

/// Values of all variables, packed as a BoundArray, by VariableId; empty where there are none.
using Values = std::vector<std::vector<double>>;

/// Arrays by the names of variables; others are passed over.
Values values_of(const model::Model& model, const std::vector<NamedArray>& arrays);
/// Draw `d` of arrays over [draw] and the axes of each variable.
Values draw_of(const model::Model& model, const std::vector<NamedArray>& draws, std::size_t d);

/// A number, or a sum of squares: the same for every order and every sign of what is summed over.
struct Quantity {
  std::string name;  // "mu.2.1", counted from 1; a sum over the first axis: "mu^2.*.1"
  model::VariableId variable;
  std::vector<std::size_t> at;  // positions in the packed order
  bool squares = false;
};
double value(const Quantity& q, const Values& values);

/// By PlateId: whether a permutation of the elements changes neither the data nor what stands in the model, so that the
/// posterior is the same for all orders: no data have the plate as an axis or as values, no index into it is a constant
/// or a shift, and it is neither ordered nor nested nor a stick.
std::vector<bool> exchangeable_plates(const model::Model& model);

/// What simulations are compared by: quantities, then the log densities of everything and of the data.
struct Measures {
  std::vector<Quantity> numbers;
  bool densities = true;                        // all variables are known
  std::vector<std::string> given_parents = {};  // latent variables, whose log densities given their parents follow
  std::vector<std::string> skipped;             // what is not among them, and why: a line each

  std::vector<std::string> names() const;
  /// The values, with `data` as Forward has observations.
  std::vector<double> of(const model::Model& model, const BoundData& data, const Values& latent) const;
};

/// At most kMostOfVariable of each latent variable of `names`, the first ones. With `every`, exchangeable elements are
/// numbers like others: for comparisons that need no order of them.
inline constexpr std::size_t kMostOfVariable = 8;
Measures measures_of(const model::Model& model, const BoundData& data, const std::vector<std::string>& names,
                     bool every);

}  // namespace lehr
