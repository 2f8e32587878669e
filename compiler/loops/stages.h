// Item stages: tables before, local blocks item by item, statistics added up at the end of each item.
#pragma once
#include "compiler/loops/blocks.h"
#include "compiler/loops/streams.h"

namespace lehr::loops {

class Stages : Part {
 public:
  Stages(Shared& shared, Terms& terms, Residuals& residuals, Updates& updates, Chains& chains, Integrals& integrals,
         Blocks& blocks, Energies& energies, Streams& streams)
      : Part(shared),
        terms_(terms),
        residuals_(residuals),
        updates_(updates),
        chains_(chains),
        integrals_(integrals),
        blocks_(blocks),
        energies_(energies),
        streams_(streams) {}

  StageFunctions emit_stage(std::size_t step);

 private:
  std::size_t emit_tables(std::size_t step);
  std::size_t emit_items(std::size_t step, StageMode mode);
  ItemArrays declare_item_arrays(const schedule::ItemStage& stage, const LocalSums& sums);
  /// How long an item is worked on.
  struct Passes {
    ExprId iterations, tolerance;
  };
  /// One item at work in one function.
  struct ItemWork {
    const schedule::ItemStage& stage;
    ExprId item;
    StageMode mode;
    const ItemArrays& arrays;
    std::vector<Stream> streams;
    bool refreshed;         // sources and streams are formed once more in the end
    bool gathered = false;  // what streams add up for the blocks is there
  };
  /// The mean relative change of stored parameters: its numerator and denominator.
  struct Change {
    ScalarId moved, size;
  };
  /// The uses of a stored block in terms that no streamed category takes part in.
  Uses stored_uses(const schedule::ItemStage& stage, BlockId b);
  /// Adds what the streams have added up for the naturals of a stored block.
  UpdateHooks with_streams(const ItemArrays& arrays, BlockId b);
  using ParameterBody = std::function<void(BufferId previous, const std::vector<ExprId>& event, ExprId now)>;
  void each_parameter(const ItemArrays& arrays, BlockId b, const std::vector<ExprId>& element,
                      const ParameterBody& body);
  /// One pass over the local blocks.
  void emit_pass(const ItemWork& w, bool final, const std::optional<Change>& change);
  /// Auxiliary sources and the streams, once more, from the other blocks as they are now.
  void emit_refresh(const ItemWork& w);
  void emit_item(const schedule::ItemStage& stage, ExprId item, StageMode mode, const Passes& passes,
                 const ItemArrays& arrays);
  /// For what streams add up in the end, which is for the sums of the item alone.
  ItemArrays again(const ItemArrays& arrays);
  // ---- lower_full_rows.cpp
  /// Items with full rows, of one function.
  struct FullWork {
    const schedule::ItemStage& stage;
    const Stream& stream;
    const ItemArrays& arrays;
    ExprId begin, end;
  };
  /// The one stream of a stage whose items have full rows.
  std::optional<Stream> full_stream(const schedule::ItemStage& stage, StageMode mode) const;
  void emit_full(const FullWork& f, StageMode mode, const Passes& passes);
  /// Some items together.
  void each_full(const FullWork& f, ExprId first, const std::function<void(ExprId u, ExprId item)>& body);
  void update_full(const FullWork& f, ExprId first, const Passes& passes);
  /// With the update of a chain (Chains::adds_with_update).
  bool added_already(const schedule::ItemStage& stage, const schedule::ItemStage::LocalTerm& t) const;
  void emit_item_sums(const schedule::ItemStage& stage, ExprId item, StageMode mode, const ItemArrays& arrays);
  /// What the entropies of all items lack when their sums are there: means of the tables' rows under them. None lack
  /// any.
  std::optional<std::size_t> emit_close(const schedule::ItemStage& stage, std::size_t step);
  std::size_t emit_fresh(const schedule::ItemStage& stage, std::size_t step);
  void emit_data_sums(const schedule::ItemStage& stage, std::size_t step, StageFunctions& out);
  std::size_t emit_item_expectations(const schedule::ItemStage& stage, std::size_t step);
  void start_chains(const schedule::ItemStage& stage, ExprId item, StageMode mode);
  void seed_stored(BlockId b, ExprId item);
  /// The category that a block has its distribution from, where only data depend on the block, without that category.
  std::optional<BlockId> seeded_by(BlockId b) const;

  Terms& terms_;
  Residuals& residuals_;
  Updates& updates_;
  Chains& chains_;
  Integrals& integrals_;
  Blocks& blocks_;
  Energies& energies_;
  Streams& streams_;
};

}  // namespace lehr::loops
