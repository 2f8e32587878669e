// One element of a fused category while the code of its visit is written. The visit forms unnormalised probabilities
// and their sum in work arrays, then adds them to statistics, natural parameters and entropies.
#pragma once
#include "compiler/lower/stages/fused_categories.h"

namespace lehr::loops {

/// A sum of products of exponentials that is smaller than this has lost too much to underflow. The probabilities are
/// then computed again from log odds.
inline constexpr double kUnderflow = 1e-200;

/// One element of a fused category while the code of its visit is written: where it is, and the scalars that its visit
/// has computed.
struct FusedCategories::Element {
  const FusedCategory& stream;            // whose element it is
  const std::vector<ExprId>& element;     // its indices
  const FusedVisit& visit;                // what the visit does
  std::vector<Env> envs;                  // by use: index variables that the element gives
  std::vector<std::vector<ExprId>> rows;  // by use: indices of the table's row, without the value
  ScalarId total, shift;                  // sum of the exponentials in `probs`; what was subtracted before exp
};

}  // namespace lehr::loops
