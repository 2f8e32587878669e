// The text of `lehr families`: every row of the family table, readable.
#pragma once
#include <string>

namespace lehr::math {

std::string print_families();

}  // namespace lehr::math
