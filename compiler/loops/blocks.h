// Blocks, whatever kind of factor they have: their updates, starts and entropies.
#pragma once
#include "compiler/loops/chains.h"
#include "compiler/loops/integrals.h"
#include "compiler/loops/sums_ahead.h"

namespace lehr::loops {

class Blocks : Part {
 public:
  Blocks(Shared& shared, Terms& terms, Residuals& residuals, Updates& updates, Chains& chains, Integrals& integrals)
      : Part(shared),
        terms_(terms),
        residuals_(residuals),
        updates_(updates),
        chains_(chains),
        integrals_(integrals),
        sums_ahead_(shared, terms, updates) {}

  /// One pass over all elements (or those with the leading `element` values) of a stored block.
  void update(BlockId b, Uses uses, const std::vector<ExprId>& element, const UpdateHooks& caller);
  /// Axes of a variable that are fixed in an update, or the others, after the `given` leading ones.
  struct Axes {
    const model::Variable& variable;
    const std::vector<bool>& fixed;
    bool wanted;
    std::size_t given;
  };
  /// Loops over these axes: `element` has their values inside.
  void for_axes(const Axes& axes, std::vector<ExprId>& element, const std::function<void()>& body, std::size_t x = 0);
  Uses outer_uses(BlockId b);
  /// Blocks in an order in which each comes after the latent parents of its statement.
  std::vector<BlockId> parents_first() const;
  /// As its own statement alone has it.
  void form_from_prior(BlockId b, const std::vector<ExprId>& lead);
  void recompute_expectations(BlockId b, const std::vector<ExprId>& lead);
  void add_entropy(BlockId b, const std::vector<ExprId>& lead, ScalarId into);

 private:
  /// The terms of its own statement that factors at the start can be read from.
  Uses prior_uses(BlockId b) const;

  Terms& terms_;
  Residuals& residuals_;
  Updates& updates_;
  Chains& chains_;
  Integrals& integrals_;
  SumsAhead sums_ahead_;
};

}  // namespace lehr::loops
