// Sums of products with a factor that all of them have.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// c1 (f x1) + c2 (f x2) + ... as f (c1 x1 + c2 x2 + ...), in the order in which they were added up; any other
/// expression as it is. Factors are the same where they are written the same.
ExprId with_factor_in_front(Program& program, ExprId sum);

}  // namespace lehr::loops
