// Prints the family table: the text of `lehr families`. It shows for each distribution what a user may type, and what
// the posterior will have.
#pragma once
#include <string>

namespace lehr::math {

/// Returns a description of every row of families(), as `lehr families` prints it: its parameters, support, alternative
/// parameters, log density, and posterior parameters.
std::string print_families();

}  // namespace lehr::math
