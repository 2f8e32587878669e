// Prints the conditionals (`lehr emit --as conditionals`).
#pragma once
#include <string>

#include "compiler/conditionals/conditionals.h"

namespace lehr {

/// Returns the conditionals as text for `lehr emit --as conditionals` and tests: a paragraph for each block with its
/// axes and family, then each use of its variable as "statistic <- line: term". `source` is the model file, for line
/// numbers.
std::string print(const model::Model& model, const conditionals::Conditionals& conditionals, const Source& source);

}  // namespace lehr
