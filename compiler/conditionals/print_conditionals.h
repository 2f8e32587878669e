// `lehr emit --as conditionals`: blocks, their families and what their natural parameters are made of.
#pragma once
#include <string>

#include "compiler/conditionals/conditionals.h"

namespace lehr {

std::string print(const model::Model& model, const conditionals::Conditionals& conditionals, const Source& source);

}  // namespace lehr
