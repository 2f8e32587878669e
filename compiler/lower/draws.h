// Draws of elements from their factors, for Gibbs sampling. A random number is a pure function of the key and of the
// element's position (loops::Random). So samples do not depend on the order in which elements are visited.
#pragma once
#include "compiler/lower/terms.h"

namespace lehr::loops {

/// Emits random numbers and draws of categories, for updates that draw from factors (Gibbs sampling).
class Draws : Part {
 public:
  Draws(Shared& shared, Terms& terms) : Part(shared), terms_(terms) {}

  /// Returns an expression for a random number for a component of an element, the same whenever key and element are the
  /// same. `kind`, below kKinds, distinguishes the random numbers of one element; `argument` and `second` are
  /// those of the distribution (math::Noise).
  ExprId random(math::Noise noise, BlockId b, std::size_t kind, const std::vector<ExprId>& element, ExprId component,
                ExprId argument, ExprId second = {});
  /// Emits code that draws a category with probabilities that sum to 1, and calls `store(k, share)` in a loop over its
  /// values. The share is 1 at the drawn value, 0 elsewhere. If the element stands for several `copies` (an f64), each
  /// is drawn (a multinomial), and the share is the fraction of them. An element that stands for no copy is drawn as
  /// one.
  void category(BlockId b, const std::vector<ExprId>& element, ExprId size, ExprId copies,
                const std::function<ExprId(ExprId k)>& probability,
                const std::function<void(ExprId k, ExprId share)>& store);

 private:
  static constexpr std::size_t kKinds = 64;  // kinds of random numbers of one element, at most
  /// Returns an expression for the number of an element, by which its random numbers differ from those of the other
  /// elements of its variable: the row-major position, with nested rows packed.
  ExprId position(const model::Variable& v, const std::vector<ExprId>& element);

  Terms& terms_;  // the part that emits loop nests of terms
};

}  // namespace lehr::loops
