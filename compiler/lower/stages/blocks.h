// Updates, initial values and entropies of stored blocks, whatever kind of factor they have.
//
// A block is the elements of a variable that are updated together. This part loops over the elements and chooses how.
// Chains are updated as whole sequences, residual form keeps running sums, sums over the data go ahead of the elements.
// The natural parameters and factors themselves are the work of Updates and Chains.
#pragma once
#include "compiler/lower/chains/chains.h"
#include "compiler/lower/hoisted_sums.h"
#include "compiler/lower/integrals.h"

namespace lehr::loops {

/// Emits the updates, initial values and entropies of whole blocks. A block is the elements of a variable that are
/// updated together; the code loops over them.
class Blocks : Part {
 public:
  Blocks(Shared& shared, Terms& terms, Residuals& residuals, Updates& updates, Chains& chains, Integrals& integrals)
      : Part(shared),
        terms_(terms),
        residuals_(residuals),
        updates_(updates),
        chains_(chains),
        integrals_(integrals),
        hoisted_sums_(shared, terms, updates) {}

  /// Emits one update of all elements of a stored block whose leading indices are `element`, from the terms in `uses`.
  /// Elements along sequential axes are updated one after another, so that each reads the factors just updated.
  /// `caller` has the work that is added to each element.
  void update(BlockId b, Uses uses, const std::vector<ExprId>& element, const UpdateHooks& caller);
  /// A choice of a variable's axes: those with fixed[x] == wanted, after the `given` leading ones.
  struct Axes {
    /// The variable over whose elements for_axes() emits loops; the other members say along which of its axes.
    const model::Variable& variable;
    /// By axis: true if the update fixes it to one element at a time (Updates::gather_axes).
    const std::vector<bool>& fixed;
    /// True if the fixed axes are chosen, false if the others are.
    bool wanted;
    /// The number of leading axes without loops, because the caller has their indices.
    std::size_t given;
  };
  /// Emits loops over the chosen axes of a variable, from axis `x` on. Inside, `element` has their indices.
  void for_axes(const Axes& axes, std::vector<ExprId>& element, const std::function<void()>& body, std::size_t x = 0);
  /// Returns the terms with a block that is outside the item stages, as its update reads them, with the positions of
  /// its atoms. Terms whose auxiliary variable a draw integrates out are left out (Integrals).
  Uses outer_uses(BlockId b);
  /// Returns the blocks in an order in which each comes after the latent parents of its statements. A cycle is broken
  /// at the first block that is left.
  std::vector<BlockId> parents_first() const;
  /// Emits code that sets the initial factors of a block, for elements whose leading indices are `lead`. They follow
  /// from the block's own statement alone; improper ones become NaN.
  void initialise_from_prior(BlockId b, const std::vector<ExprId>& lead);
  /// Emits code that computes the expected statistics of the elements whose leading indices are `lead` from their
  /// parameters. Observed entries get their values before. Expected products of elements of a chain that is not
  /// Chain::local are formed as if the elements were independent.
  void recompute_expectations(BlockId b, const std::vector<ExprId>& lead);
  /// Emits code that adds the entropies of the elements or sequences whose leading indices are `lead` to a scalar.
  void add_entropy(BlockId b, const std::vector<ExprId>& lead, ScalarId into);

 private:
  /// Returns the uses in the block's own statements from which an initial factor can be formed. All atoms of the term
  /// must be stored. Unless the block is a chain, the atom must not be an element before another one (x[t - 1] in the
  /// statement of x[t]).
  Uses prior_uses(BlockId b) const;

  Terms& terms_;              // the part that emits loop nests of terms
  Residuals& residuals_;      // the part for terms in residual form (running sums)
  Updates& updates_;          // the part that updates factors of single elements
  Chains& chains_;            // the part that updates chains (factors of sequences)
  Integrals& integrals_;      // the part that integrates out auxiliary variables of draws
  HoistedSums hoisted_sums_;  // the part that sums data ahead of the elements
};

}  // namespace lehr::loops
