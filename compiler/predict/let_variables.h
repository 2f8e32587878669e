// Turns the `let` expressions of a model into observed variables with missing values, so that they can be predicted
// like data.
//
//   let slope = exp(b);   ->   observe slope ~ Normal(mean = exp(b), variance = 1e-300);
#pragma once
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/support/diagnostic.h"

namespace lehr {

/// The variance of the Normal variable that stands for a `let` expression in a prediction: so small that it counts as
/// zero.
inline constexpr double kNoVariance = 1e-300;

/// Parses the model again with each numeric `let` as an observed variable of the same name, so that a prediction has
/// the posterior of these expressions. Existing variables keep their ids, and are latent or observed as in `of`, the
/// model that was analysed with the data.
///
/// Some `let`s are left out: those that are not numbers, depend on no latent variable, read missing data, or read
/// several steps of a chain of categories or other whole numbers. So are those with more than a million elements or
/// with a constant index out of range; `notes` then gets a line. The added variables come last, in the order of the
/// text.
model::Model with_lets(const Source& source, const model::Model& resolved, const model::Model& of,
                       const BoundData& data, std::vector<Diagnostic>& notes);

/// Returns true if each element of the statement reads at most one element of variable `v`, and no sum over its
/// elements. Other statements need the joint distribution of several elements, as of the steps of a chain.
bool reads_one_element(const model::Model& m, const model::Statement& s, model::VariableId v);

/// Extends data bound to the model `resolved` to the model that with_lets() returned: all values of the added variables
/// are missing, so they are predicted. Data of auxiliary variables, which come after those of `resolved`, are dropped.
BoundData with_missing_lets(const model::Model& resolved, const model::Model& with_lets, BoundData data);

}  // namespace lehr
