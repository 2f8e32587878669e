// Schedule -> Loops, from its parts: each writes its functions into one program.
#pragma once
#include "compiler/loops/envelope.h"
#include "compiler/loops/stages.h"

namespace lehr::loops {

class Lowering : Part {
 public:
  /// `shared` is of this lowering alone.
  explicit Lowering(Shared& shared);
  Lowered run();

 private:
  // ---- lower_layout.cpp
  void declare_sizes();
  bool is_constant(model::PlateId set) const;
  void declare_data();
  void declare_blocks();
  void declare_arrays();
  /// Of the entries of a table, along its last axis.
  void declare_exponentials(ArrayId table);
  std::vector<model::PlateId> statistic_order(const schedule::Statistic& s) const;
  /// A flag for sums of the same factors that are kept.
  void declare_kept(const schedule::Statistic& s);
  /// Buffers for the running means of natural gradients, and their norms (LowerOptions::gradients).
  void declare_gradients();

  // ---- lower_program.cpp: functions outside the sweep
  void emit_prepare();
  /// The statistics without local factors.
  void sum_data();
  /// The functions that form the sums that are kept.
  void emit_kept();
  void sum_kept(const KeptSums& group);
  struct Summed;
  std::optional<BoundId> lanes_of(const Summed& sum) const;
  void add_item(const Summed& sum, const Env& items);
  /// The function at `position` reads the term.
  void keep_before(std::size_t position, const ArrayTerm& term);
  /// They are no longer what factors of this block, or any, say.
  void forget_kept(std::optional<BlockId> block = {});
  void forget_bounds();
  std::size_t emit_initialise(const std::string& name, bool globals);
  std::size_t emit_expectations(const std::string& name, bool local);
  std::size_t emit_update(BlockId b);
  bool is_local(std::size_t origin) const;
  void emit_elbo();
  void emit_states();
  void mark_single(const StageFunctions& stage);

  Terms terms_;
  FormulaLoops formulas_;
  Lookups lookups_;
  Residuals residuals_;
  Draws draws_;
  Clamps clamps_;
  Updates updates_;
  Chains chains_;
  Integrals integrals_;
  Blocks blocks_;
  Energies energies_;
  Streams streams_;
  Stages stages_;
  Envelope envelope_;
};

}  // namespace lehr::loops
