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
  /// The plan of the category whose element it is.
  const FusedCategory& stream;
  /// The indices of the element, that of the item first.
  const std::vector<ExprId>& element;
  /// What the visit does with the probabilities of the element.
  const FusedVisit& visit;
  /// By use: the index variables of its term that the element determines, with their values.
  std::vector<Env> envs;
  /// By use: the indices of the row of its table that the element reads, without the value; empty for uses of other
  /// kinds.
  std::vector<std::vector<ExprId>> rows;
  ScalarId total, shift;  // sum of the exponentials in `probs`; what was subtracted before exp
};

}  // namespace lehr::loops
