// Sums over data that do not depend on the block that they are for.
#pragma once
#include "compiler/loops/updates.h"

namespace lehr::loops {

/// Of the block of an item, what goes over data and reads nothing of the block itself: it is formed for all elements of
/// the item at once, where they would be visited one after the other, and multiplied by the weights that its terms have
/// in common afterwards, where every number of the data would be.
class SumsAhead : Part {
 public:
  SumsAhead(Shared& shared, Terms& terms, Updates& updates) : Part(shared), terms_(terms), updates_(updates) {}

  struct Taken {
    Uses uses;
    std::vector<bool> fixed;  // axes, while they are formed
    NaturalTarget sums;
    std::map<math::Stat, std::vector<Weight>> weights;  // that are left out
  };
  /// Takes them from `uses`, whose axes are `fixed`; nothing where an axis after the `given` leading ones is not, or
  /// has not a small constant length.
  std::optional<Taken> take(BlockId b, Uses& uses, const std::vector<bool>& fixed, std::size_t given);
  void form(BlockId b, const Taken& taken, const std::vector<ExprId>& element);
  /// The naturals of an element are these sums, and 0 where there are none.
  void begin(BlockId b, const Taken& taken, const std::vector<ExprId>& element, const NaturalTarget& n);

 private:
  bool goes_ahead(BlockId b, const ArrayTerm& t, std::size_t atom) const;
  std::vector<Weight> own_weights(const ArrayTerm& t) const;

  Terms& terms_;
  Updates& updates_;
};

}  // namespace lehr::loops
