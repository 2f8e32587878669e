// The variables that the compiler adds to select the parts of mixtures, apart from variables of the text that do so.
#pragma once
#include "compiler/model/model.h"

namespace lehr::model {

/// Returns true if the variable is the one, x.part, that the compiler added to select the part of this mixture x
/// (expand_mixtures.cpp). False if a variable of the model file selects it.
inline bool is_part_of(const Model& model, const Statement& mixture, VariableId variable) {
  return model[variable].name == model[mixture.variable].name + ".part";
}

}  // namespace lehr::model
