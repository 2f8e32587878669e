// Item stages: tables before, local blocks item by item, statistics added up at the end of each item.
#pragma once
#include "compiler/loops/blocks.h"
#include "compiler/loops/streams.h"

namespace lehr::loops {

class Stages : Part {
 public:
  Stages(Shared& shared, Terms& terms, Residuals& residuals, Updates& updates, Chains& chains, Blocks& blocks,
         Energies& energies, Streams& streams)
      : Part(shared),
        terms_(terms),
        residuals_(residuals),
        updates_(updates),
        chains_(chains),
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
  void emit_item(const schedule::ItemStage& stage, ExprId item, StageMode mode, const Passes& passes,
                 const ItemArrays& arrays);
  void emit_item_sums(const schedule::ItemStage& stage, ExprId item, StageMode mode, const ItemArrays& arrays);
  std::size_t emit_fresh(const schedule::ItemStage& stage, std::size_t step);
  void emit_data_sums(const schedule::ItemStage& stage, std::size_t step, StageFunctions& out);
  std::size_t emit_item_expectations(const schedule::ItemStage& stage, std::size_t step);
  void start_chains(const schedule::ItemStage& stage, ExprId item, StageMode mode);
  void seed_stored(BlockId b, ExprId item);

  Terms& terms_;
  Residuals& residuals_;
  Updates& updates_;
  Chains& chains_;
  Blocks& blocks_;
  Energies& energies_;
  Streams& streams_;
};

}  // namespace lehr::loops
