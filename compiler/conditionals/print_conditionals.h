// Prints the conditionals (`lehr emit --as conditionals`).
#pragma once
#include <string>

#include "compiler/conditionals/conditionals.h"

namespace lehr {

/// Returns a paragraph for each block: its axes and family, then each use as "statistic <- line: term".
std::string print(const model::Model& model, const conditionals::Conditionals& conditionals, const Source& source);

}  // namespace lehr
