// Prints a Model for `lehr emit --as model`, and expressions of it for messages. Names and indices are written as in
// the model file.
#pragma once
#include <string>

#include "compiler/model/model.h"

namespace lehr {

/// Returns a whole model as text: constants, plates, givens, statements with resolved indices and supports, potentials,
/// and the guide.
std::string print(const model::Model& model);
/// Returns an expression in the notation of the language, such as `mu[z[n]]`. Messages and `lehr derive` use it.
std::string print(const model::Model& model, model::ExprId expr);
/// Returns one index in the notation of the language, such as `t-1`. Constants are counted as in the model file.
std::string print(const model::Model& model, const model::Index& index);
/// Returns where a span begins, as `points.lehr:7:3`, for messages of stages that see data. Empty if the model has no
/// text.
std::string place_of(const model::Model& model, Span span);

}  // namespace lehr
