// Centring of ill-scaled data: inference runs on distances from a reference point near the data, which keeps their
// digits.
//
// Some models depend on differences only. Take `mu ~ Normal(0, 1e-6); x[n] ~ Normal(mu, tau)` with x near 1e8. Adding c
// to x, mu and the prior mean of mu leaves every density unchanged. So x - c and mu - c are inferred with prior mean
// -c. This is the same model, and sums of squares no longer lose digits to cancellation.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/model/model.h"
#include "runtime/array.h"

namespace lehr {

/// The offset (reference) that was subtracted from each variable, by VariableId: element i of the packed values is
/// stored as its distance from reference[i % size]. An empty reference is zero.
using CentringOffsets = std::vector<std::vector<double>>;

/// Returns the reference (offset) that was subtracted from the values of a variable; null if nothing was.
const std::vector<double>* centring_offset_of(const CentringOffsets& references, model::VariableId v);
/// Adds `sign` times a reference (offset), which must not be empty, to packed values: +1 restores the values, -1 makes
/// distances of them.
void add_centring_offset(std::span<double> values, const std::vector<double>& reference, double sign);

/// The centred model, which inference runs on if data are ill-scaled: model and data restated in distances from
/// reference points near the data.
struct CentredModel {
  model::Model model;          // the restated model; prior means that moved are additional inputs, behind the user's
  BoundData data;              // observed values less their references
  CentringOffsets references;  // what was subtracted, by VariableId of either model
};

/// Restates model and data in distances from references if the model depends on differences and an observed column is
/// ill-scaled (ill_scaled_columns.h). Here a constant column counts as ill-scaled, too, unless it is 0.
///
/// The condition: whatever has a reference has a location family or a flat prior, and occurs only as a plain summand of
/// means, in no potential and with no limits. A variable has one reference for all elements, or one for each column.
/// `data` is bound to `model`, or to it with its auxiliary variables.
///
/// Ill-scaled variables that fail the condition stay as they are. Returns nothing if all fail, if nothing is
/// ill-scaled, or if latent variables have observed values (BoundData::clamped). Nor is a model centred if its guide
/// joins others than Normal variables, or a mean and its precision. A common prior of Normal variables
/// (Model::joint_priors) is restated; if it lacks the digits, or has a reference for each column, nothing is centred.
std::optional<CentredModel> centre_model(const model::Model& model, const BoundData& data);

}  // namespace lehr
