// Prints the family table: the text of `lehr families`.
#pragma once
#include <string>

namespace lehr::math {

/// Returns a description of every row of families(): its parameters, support, alternative parameters, log density, and
/// posterior parameters.
std::string print_families();

}  // namespace lehr::math
