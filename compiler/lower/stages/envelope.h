// Exact sampling of spins and bits by coupling from the past, on intervals. The interval of an element has the least
// and the greatest value that the element takes in any run of the sampler, whatever the run's start. If all intervals
// are single values, all runs have met, and the state is an exact sample. Huber (1998); Harvey & Neal, Inference for
// belief networks using coupling from the past (2000); MacKay (2003), section 32.4, writes elements whose two ends
// differ as `?`.
#pragma once
#include "compiler/lower/stages/blocks.h"

namespace lehr::loops {

/// Emits the functions of exact sampling (coupling from the past) for models of spins and bits. In place of a value,
/// each element has the interval of all values that it can have in any run of the sampler.
class Envelope : Part {
 public:
  Envelope(Shared& shared, Terms& terms, Residuals& residuals, Updates& updates, Blocks& blocks)
      : Part(shared), terms_(terms), residuals_(residuals), updates_(updates), blocks_(blocks) {}

  /// Emits all functions for exact sampling (Interface::envelope). All blocks must be drawn, from families on spins or
  /// bits.
  void emit();

 private:
  /// The arrays with the lower and upper ends of a block's intervals, by element.
  struct Bounds {
    /// The lower ends; the upper ends. Both are over the axes of the variable.
    BufferId least, most;
  };
  /// The lower and upper end of an expression's value.
  using Interval = std::pair<ExprId, ExprId>;

  /// Declares the arrays with the intervals of all blocks.
  void declare();
  /// Returns the terms of the log joint with all their atoms, so that intervals can take the place of these. Terms that
  /// the schedule has divided into sums over items are undivided, since such sums contain expectations.
  std::vector<ArrayTerm> terms();
  /// Emits the function that decides whether the model is attractive (EnvelopeFunctions::couplings): it finds the least
  /// coefficient of a pair of latent variables, negative if some pair repels, and counts the terms with more than two.
  /// Returns its position in the program.
  std::size_t emit_couplings();
  /// Emits the function that sets every interval to the whole support (EnvelopeFunctions::open). Returns its position
  /// in the program.
  std::size_t emit_open();
  /// Emits the function that counts the elements whose interval is not yet one value (EnvelopeFunctions::undecided).
  /// Returns its position in the program.
  std::size_t emit_undecided();
  /// Emits the function that updates intervals in one visit of a step of the sweep (EnvelopeFunctions::visits). Returns
  /// its position in the program.
  std::size_t emit_sweep_entry(const schedule::SweepEntry& entry);
  /// Emits code that updates the intervals of the elements whose leading indices are `lead`.
  void update(BlockId b, const std::vector<ExprId>& lead);
  /// Returns the interval of the coefficient times the term's atoms other than `use`, from their intervals.
  Interval product(const ArrayTerm& t, std::size_t use, ExprId coefficient, const Env& env);
  /// Emits code that draws an element from its natural parameters, and stores the value as an end of its interval. Both
  /// ends are drawn with the same random number.
  void draw(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n, BufferId into);
  /// Returns the buffer with the drawn values of a block.
  BufferId value_of(BlockId b) const;

  /// The arrays with the intervals, by BlockId.
  std::vector<Bounds> bounds_;

  Terms& terms_;          // the part that emits loop nests of terms
  Residuals& residuals_;  // the part for terms in residual form (running sums)
  Updates& updates_;      // the part that updates factors of single elements
  Blocks& blocks_;        // the part that updates whole blocks
};

}  // namespace lehr::loops
