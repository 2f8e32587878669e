// `lehr emit --as model`: plates, givens, variables with their types, statements with resolved indices.
#pragma once
#include <string>

#include "compiler/model/model.h"

namespace lehr {

std::string print(const model::Model& model);
/// One expression in the language's own notation, e.g. `mu[z[n]]`; used by messages and by `lehr derive`.
std::string print(const model::Model& model, model::ExprId expr);
std::string print(const model::Model& model, const model::Index& index);

}  // namespace lehr
