// The `let`s of a model as variables, so that they can be predicted.
#pragma once
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/support/diagnostic.h"

namespace lehr {

/// Variance of what is an expression and nothing else.
inline constexpr double kNoVariance = 1e-300;

/// The resolved model of the source with `let`s of numbers beside it as observed variables of the same names, Normal
/// about their expressions with kNoVariance. What the model has keeps its ids, and is latent or observed as in `of`,
/// the model that was analysed with the data. Left out is a `let` that is no number, that depends on no latent
/// variable, that names an observed one with missing values, or several elements of a chain of categories, which have
/// no draws together; with a note, one of more than a million elements, and one that reads an element that is not
/// there.
model::Model with_lets(const Source& source, const model::Model& resolved, const model::Model& of,
                       const BoundData& data, std::vector<std::string>& notes);

/// Whether all that an element of the statement reads of the variable is one element of it.
bool reads_one_element(const model::Model& m, const model::Statement& s, model::VariableId v);

/// The data of the first model for the second one: the added variables are missing.
BoundData with_missing_lets(const model::Model& resolved, const model::Model& with_lets, BoundData data);

}  // namespace lehr
