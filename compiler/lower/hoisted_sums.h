// Sums over data that the update of a local block needs and that do not depend on the block itself. They are formed for
// all elements of the item in one pass over the data, before the elements are updated one after another:
//
//     for e: for n: h += w * x[n] * y[n, e];  update e    becomes
//     for n: for e: s[e] += x[n] * y[n, e];     for e: h = w * s[e];  update e
//
// Run-time weights w that all terms have in common are multiplied once for each element, not once for each number.
#pragma once
#include "compiler/lower/updates.h"

namespace lehr::loops {

/// Emits code that sums data once for all elements of a block, before they are updated one after another.
class HoistedSums : Part {
 public:
  HoistedSums(Shared& shared, Terms& terms, Updates& updates) : Part(shared), terms_(terms), updates_(updates) {}

  /// The sums over data that one update has moved out of its loop over elements.
  struct Hoisted {
    /// The uses of the block whose contributions are summed ahead.
    Uses uses;
    /// By axis of the block's variable: true for the leading axes whose indices the caller gives. The arrays of the
    /// sums have the other axes.
    std::vector<bool> fixed;
    /// The arrays of the sums, one for each statistic that has some.
    NaturalTarget sums;
    /// By statistic: the run-time weights that all its uses have in common. The sums are without them; begin()
    /// multiplies by them.
    std::map<math::Stat, std::vector<Weight>> weights;
  };
  /// Moves the uses of a local block whose sums over data can be formed ahead out of `uses`, and declares the arrays of
  /// these sums. Returns nothing, and leaves `uses` as it is, if no use qualifies or the block is not local. The same
  /// holds unless all axes after the `given` leading ones are `fixed` (Updates::gather_axes), not nested, and of
  /// constant lengths whose product is a few hundred at most.
  std::optional<Hoisted> take(BlockId b, Uses& uses, const std::vector<bool>& fixed, std::size_t given);
  /// Emits the pass over the data that computes the sums, for the item in the leading indices of `element`.
  void form(BlockId b, const Hoisted& hoisted, const std::vector<ExprId>& element);
  /// Emits code that sets the natural parameters of an element to its sums times their weights, or to 0 for statistics
  /// without sums.
  void begin(BlockId b, const Hoisted& hoisted, const std::vector<ExprId>& element, const NaturalTarget& n);

 private:
  /// Returns true if the sum in a term can be computed before the block is updated, and if that pays. The term must
  /// read nothing of the block but the atom at this position, have no residual form, and sum over a plate, beyond the
  /// atom's indices, with eight elements or a number that only the data give.
  bool can_hoist(BlockId b, const ArrayTerm& t, std::size_t atom) const;
  /// Returns the run-time weights that multiply the term: ArrayTerm::weights, without that of the data if the term is
  /// not tempered.
  std::vector<Weight> own_weights(const ArrayTerm& t) const;

  Terms& terms_;      // the part that emits loop nests of terms
  Updates& updates_;  // the part that updates factors of single elements
};

}  // namespace lehr::loops
