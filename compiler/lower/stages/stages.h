// Item stages: tables before, local blocks updated item by item, statistics added up at the end of each item.
//
// An item is an element of the outermost plate that the data size (document, point, sequence). For LDA the functions
// are
//
//     tables:  G[w, k] = E[log beta[k, w]]
//     items:   for doc in begin .. end:  update theta[doc] and the fused z[doc, .], several passes
//              S[w, k] += count[doc, w] * P(z = k);   add energies and entropies to the parts of the ELBO
#pragma once
#include "compiler/lower/stages/blocks.h"
#include "compiler/lower/stages/fused_categories.h"

namespace lehr::loops {

/// Emits the generated functions of the item stages. An item stage works on one item after another (document, point,
/// sequence): in one or several passes it visits fused categories and updates stored local blocks, then it adds up
/// statistics.
class Stages : Part {
 public:
  Stages(Shared& shared, Terms& terms, Residuals& residuals, Updates& updates, Chains& chains, Integrals& integrals,
         Blocks& blocks, Energies& energies, FusedCategories& streams)
      : Part(shared),
        terms_(terms),
        residuals_(residuals),
        updates_(updates),
        chains_(chains),
        integrals_(integrals),
        blocks_(blocks),
        energies_(energies),
        fused_(streams) {}

  /// Emits all functions of the stage at position `step` of Schedule::steps.
  StageFunctions emit_stage(std::size_t step);

 private:
  /// Emits the function that computes the expected natural-parameter tables G of the stage (schedule.h), and the
  /// exponentials of those that need them. Returns its position in the program.
  std::size_t emit_tables(std::size_t step);
  /// Emits the function over a range of items that updates, seeds, sums or refreshes them, by `mode`. Returns its
  /// position in the program.
  std::size_t emit_items(std::size_t step, StageMode mode);
  /// Declares the work arrays of one function over items, which every item overwrites: natural parameters to which
  /// fused categories add, and parameters before an update. `sums` are the partial sums of the ELBO.
  ItemArrays declare_item_arrays(const schedule::ItemStage& stage, const LocalSums& sums);
  /// How long an item is iterated: at most `iterations` passes, until the sum of the absolute changes of all
  /// parameters, in the units of unit_of(), is at most `tolerance` times that of their absolute values. The pass
  /// after that is the last.
  struct IterationLimits {
    /// The most passes (i64); the relative change at which an item has converged (f64).
    ExprId iterations, tolerance;
  };
  /// The item whose code is being written in one function: its stage and index, what is done to it, and the code's work
  /// arrays.
  struct ItemWork {
    /// The item stage whose blocks the item has.
    const schedule::ItemStage& stage;
    /// The index of the item.
    ExprId item;
    /// What the function does to the item.
    StageMode mode;
    /// The work arrays of the function, and the partial sums of the ELBO.
    const ItemArrays& arrays;
    /// The plans of the fused categories of the item, in order of the blocks.
    std::vector<FusedCategory> streams;
    /// True if sources and fused categories are formed once more after the last pass (emit_refresh).
    bool refreshed;
    /// True if the fused categories have been visited in this pass already: emit_pass() then updates stored blocks
    /// alone, from what the visits have added up.
    bool gathered = false;
  };
  /// The change of stored parameters in one pass: sums of absolute differences and of absolute values before, in the
  /// units of unit_of().
  struct Change {
    /// The sum of |new - old| over all numbers of the parameters, each in its unit; the sum of |old|.
    ScalarId moved, size;
  };
  /// Returns the uses of a stored block in the stage's terms without fused categories, and without auxiliary variables
  /// that draws of the block integrate out (Integrals).
  Uses stored_uses(const schedule::ItemStage& stage, BlockId b);
  /// Returns hooks for the update of a stored local block in a pass over its item, such as theta[doc] where z[doc, .]
  /// is fused. They add to its natural parameters what the visits of the item's fused categories have added up for it
  /// in this pass (ItemArrays::partner_naturals). They do nothing if no fused category adds to the block. `arrays` must
  /// outlive them.
  UpdateHooks with_streams(const ItemArrays& arrays, BlockId b);
  /// A function that emits code for one number of a factor's parameters, for each_parameter(). It gets the parameter,
  /// the event indices of the number, and its current value.
  using ParameterBody =
      std::function<void(const math::FactorParameter& parameter, const std::vector<ExprId>& event, ExprId now)>;
  /// Emits loops over all numbers of the parameters of one element's factor, with `body` inside.
  void each_parameter(BlockId b, const std::vector<ExprId>& element, const ParameterBody& body);
  /// Returns the array of the values that a parameter had before the update, all of one element.
  using Previous = std::function<BufferId(const math::FactorParameter&)>;
  /// Returns the unit of one number of a parameter, as a factor by which changes are multiplied, such that sums over
  /// parameters do not depend on the unit of the data. Locations count in standard deviations, or multiples of these;
  /// precisions, spreads and entries of matrices relative to their own size. Invalid for numbers that have no unit.
  ExprId unit_of(const math::Factor& factor, const math::FactorParameter& p, const std::vector<ExprId>& event,
                 const Previous& previous);
  /// Returns the hooks with code around the update of a block that adds its change to `change`, in the units of
  /// unit_of(). `arrays` must outlive them.
  UpdateHooks measuring(UpdateHooks hooks, const ItemArrays& arrays, BlockId b, const Change& change);
  /// Emits one pass over the item's blocks: it visits fused categories and updates stored blocks. In the `final` pass
  /// fused categories also add to statistics, unless a refresh does. With `change`, the pass adds up the change of
  /// parameters.
  void emit_pass(const ItemWork& w, bool final, const std::optional<Change>& change);
  /// Emits the last visit of an item. It forms auxiliary sources and fused categories once more from the other blocks
  /// as they are now, so that the statistics belong to the final factors.
  void emit_refresh(const ItemWork& w);
  /// Emits all code for one item: passes until convergence, the refresh, and the sums.
  void emit_item(const schedule::ItemStage& stage, ExprId item, StageMode mode, const IterationLimits& passes,
                 const ItemArrays& arrays);
  /// Returns the arrays with new work arrays in place of ItemArrays::partner_naturals. The refresh adds to the new
  /// ones, for the energy (expected log density) of the item alone. The old ones serve the updates.
  ItemArrays again(const ItemArrays& arrays);
  // ---- lower_full_rows.cpp

  /// What one function over items with full rows of counts works on. Enough of all counts in the data are above zero
  /// (FusedCategories::can_have_full_rows) that zeros are visited too: elements are visited in tiles, of four items
  /// together (lower_full_rows.cpp).
  struct FullWork {
    /// The item stage that is lowered.
    const schedule::ItemStage& stage;
    /// The only fused category of the stage, whose items have full rows of counts.
    const FusedCategory& stream;
    /// The work arrays and partial sums of the function.
    const ItemArrays& arrays;
    /// The range of the items that the function works on.
    ExprId begin, end;
  };
  /// Returns the stage's only fused category if its elements are to be visited in groups of items (emit_full): the
  /// items have full rows of counts (FusedCategories::has_full_rows), and the mode is a refresh, or an update of a
  /// stage that iterates. Nothing for samplers, if the stage has no refresh, and if other blocks of it are fused,
  /// chains or auxiliary sources.
  std::optional<FusedCategory> dense_category(const schedule::ItemStage& stage, StageMode mode) const;
  /// Emits the loop over groups of four items with full rows of counts, with all that an update or a refresh of them
  /// does.
  void emit_full(const FullWork& f, StageMode mode, const IterationLimits& passes);
  /// Emits a loop over the items of the group that begins with `first`: `u` is the position in the group.
  void each_full(const FullWork& f, ExprId first, const std::function<void(ExprId u, ExprId item)>& body);
  /// Emits the passes over a group of four items: all rows at once, then the stored blocks of each item that has not
  /// converged.
  void update_full(const FullWork& f, ExprId first, const IterationLimits& passes);
  // ---- lower_stage.cpp

  /// Returns true if the update of a chain adds the term to its statistic already (Chains::sums_in_update).
  bool added_already(const schedule::ItemStage& stage, const schedule::ItemStage::LocalTerm& t) const;
  /// Emits code that adds an item's contribution to statistics, energies and entropies; in StageMode::seed to
  /// statistics alone. Statistics and entropies of fused categories are left out: their visits have added them.
  void emit_item_sums(const schedule::ItemStage& stage, ExprId item, StageMode mode, const ItemArrays& arrays);
  /// Emits the function that subtracts, from the entropies, the means of tables that the items left out: the sum over
  /// entries of S * G. Returns nothing if the items left out none.
  std::optional<std::size_t> emit_finalise(const schedule::ItemStage& stage, std::size_t step);
  /// Emits the function over items that forms stored blocks from their priors (StageFunctions::initialise).
  std::size_t emit_fresh(const schedule::ItemStage& stage, std::size_t step);
  /// Emits the function over items that adds up the sums of the data alone (StageFunctions::data), and lists the arrays
  /// in StageFunctions::data_sums. Sums over no items, or over pairs of items, are left out.
  void emit_data_sums(const schedule::ItemStage& stage, std::size_t step, StageFunctions& out);
  /// Emits the function over items that recomputes expected statistics (StageFunctions::expectations).
  std::size_t emit_item_expectations(const schedule::ItemStage& stage, std::size_t step);
  /// Emits code that forms the expectations of products of elements, and the entropies, of the item's chains as if
  /// elements were independent, where no update of the chain has formed them. Those that are stored for all items are
  /// formed in StageMode::seed alone.
  void start_chains(const schedule::ItemStage& stage, ExprId item, StageMode mode);
  /// Emits code that sets all elements of a stored category block in the item to the item's pick.
  void seed_stored(BlockId b, ExprId item);
  /// Returns the category of the items that chooses the block's prior and gets its value from the picks of a start; a
  /// seed forms such a block from its item's data. For `theta[n] ~ Normal(mu[z[n]], tau[z[n]])`, theta gives z. Nothing
  /// if there is none, if the block's other terms have further latent variables, and for chains and auxiliary
  /// variables.
  std::optional<BlockId> seeded_by(BlockId b) const;

  Terms& terms_;            // the part that emits loop nests of terms
  Residuals& residuals_;    // the part for terms in residual form (running sums)
  Updates& updates_;        // the part that updates factors of single elements
  Chains& chains_;          // the part that updates chains (factors of sequences)
  Integrals& integrals_;    // the part that integrates out auxiliary variables of draws
  Blocks& blocks_;          // the part that updates whole blocks
  Energies& energies_;      // the part that adds up energies by item
  FusedCategories& fused_;  // the part that visits fused categories
};

}  // namespace lehr::loops
