// Statistics that are powers of a positive number.
#pragma once
#include <optional>

#include "compiler/math/family.h"

namespace lehr::math {

/// Returns the exponent of a power of a positive number; nothing for other statistics.
inline std::optional<int> exponent(Stat s) {
  switch (s) {
    case Stat::value:
      return 1;
    case Stat::square:
      return 2;
    case Stat::inverse:
      return -1;
    case Stat::inverse_square:
      return -2;
    default:
      return std::nullopt;
  }
}

}  // namespace lehr::math
