// Reference points: a model of differences, told in distances from a point near the data. Where adding c to the data
// and to some latent variables leaves every density as it was but for constant prior means, which move by c, nothing is
// lost by leaving c out: x - mu is the same number, and its digits are those of centred data.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/model/model.h"
#include "runtime/array.h"

namespace lehr {

/// By VariableId: of the packed values of a variable, value i is told from [i % size]; empty: from zero.
using References = std::vector<std::vector<double>>;

/// The reference of a variable, or nothing.
const std::vector<double>* reference_of(const References& references, model::VariableId v);
/// Adds `sign` times the reference to packed values.
void add_reference(std::span<double> values, const std::vector<double>& reference, double sign);

struct AboutReferences {
  model::Model model;  // with the prior means that moved as givens behind those that were there
  BoundData data;
  References references;
};

/// The same model and data in distances from references, where observed columns are far from zero (far_columns.h) and
/// the model is one of differences: all that is told from a reference has a location family or a flat prior, and stands
/// as a plain summand in means alone. References are equal for all elements, or one for each column. Nothing otherwise.
/// `data` is bound to `model`, or to it with its auxiliary variables.
/// Nothing either where latent variables have known values (BoundData::clamped).
std::optional<AboutReferences> about_references(const model::Model& model, const BoundData& data);

}  // namespace lehr
