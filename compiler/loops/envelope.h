// The envelope of all runs of a sampler of spins and bits: of every element the least and the most that it could be,
// whatever the state was at the start. Huber (1998); Harvey & Neal, Inference for belief networks using coupling from
// the past (2000); MacKay (2003), section 32.4, writes elements whose two bounds differ as `?`.
#pragma once
#include "compiler/loops/blocks.h"

namespace lehr::loops {

class Envelope : Part {
 public:
  Envelope(Shared& shared, Terms& terms, Residuals& residuals, Updates& updates, Blocks& blocks)
      : Part(shared), terms_(terms), residuals_(residuals), updates_(updates), blocks_(blocks) {}

  /// Interface::envelope. All blocks are drawn, from families on spins or bits.
  void emit();

 private:
  /// By element of a block.
  struct Bounds {
    BufferId least, most;
  };
  using Interval = std::pair<ExprId, ExprId>;

  void declare();
  /// Every summand of the log joint, as a function of the elements.
  std::vector<ArrayTerm> terms();
  std::size_t emit_couplings();
  std::size_t emit_open();
  std::size_t emit_undecided();
  std::size_t emit_turn(const schedule::Turn& turn);
  void update(BlockId b, const std::vector<ExprId>& lead);
  /// What the other atoms of the term multiply the coefficient to, at least and at most.
  Interval product(const ArrayTerm& t, std::size_t use, ExprId coefficient, const Env& env);
  void draw(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n, BufferId into);
  BufferId value_of(BlockId b) const;

  std::vector<Bounds> bounds_;  // by block

  Terms& terms_;
  Residuals& residuals_;
  Updates& updates_;
  Blocks& blocks_;
};

}  // namespace lehr::loops
