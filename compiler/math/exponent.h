// Statistics that are powers of a positive number.
#pragma once
#include <optional>

#include "compiler/math/family.h"

namespace lehr::math {

/// Returns the exponent k of a statistic x^k: 1 for `value`, 2 for `square`, -1 for `inverse`, -2 for `inverse_square`;
/// nothing for other statistics.
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
