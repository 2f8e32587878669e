// The whole numbers that doubles tell apart.
#pragma once

namespace lehr {

/// 2^53: from here on a double does not distinguish neighbouring whole numbers, so counts and ids in data must be
/// below.
inline constexpr double kMaxExactInteger = 0x1p53;

}  // namespace lehr
