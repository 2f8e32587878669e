// Draws of elements from their factors: random numbers by place, and categories.
#pragma once
#include "compiler/loops/terms.h"

namespace lehr::loops {

class Draws : Part {
 public:
  Draws(Shared& shared, Terms& terms) : Part(shared), terms_(terms) {}

  /// The `which`-th kind of random number of an element, below kKinds.
  ExprId random(math::Noise noise, BlockId b, std::size_t which, const std::vector<ExprId>& element, ExprId component,
                ExprId argument, ExprId second = {});
  /// All mass on one value, drawn by probabilities that sum to 1; of several copies, shares of the copies.
  void category(BlockId b, const std::vector<ExprId>& element, ExprId size, ExprId copies,
                const std::function<ExprId(ExprId k)>& probability,
                const std::function<void(ExprId k, ExprId share)>& store);

 private:
  static constexpr std::size_t kKinds = 64;
  /// Of an element among all of its variable.
  ExprId position(const model::Variable& v, const std::vector<ExprId>& element);

  Terms& terms_;
};

}  // namespace lehr::loops
