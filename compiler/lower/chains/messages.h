// The work arrays of forward-backward for one sequence of categories (lower_chain_categories.cpp).
//
// "Over histories" means one axis for each of the `max_lag` last values. "Over the steps" means that the first axis is
// the step t. Arrays over neighbours (j, k) with max_lag 1 are matrices: `pair` is [t, j, k], or [1, j, k] if
// homogeneous.
#pragma once
#include "compiler/lower/chains/chains.h"

namespace lehr::loops {

/// The work arrays and facts of one sequence of categories, while its forward-backward code is written. "Over
/// histories" means one axis for each of the `max_lag` last values, "over the steps" that the first axis is the step t.
struct Chains::Messages {
  /// The block of the chain.
  BlockId block;
  /// The indices of the sequence: all but the step.
  std::vector<ExprId> sequence;
  SizeId size;                    // number of values of the category
  std::int64_t max_lag;           // the largest lag: number of values in a history
  ExprId values, end;             // number of values of the category; number of elements of the sequence
  BufferId unary, pair, forward;  // over the steps: unary and joint log potentials, forward log messages over histories
                                  // (`by_rows`: `unary` is filled for the pass in logarithms alone)
  /// Over the steps: 1 over the sum of the products. In logarithms, the log of the sum.
  BufferId scale;
  BufferId backward, message;  // of one step, over histories: the backward message, and a message under construction
  BufferId unscaled;           // of one step, over histories: the forward products before division by their sum
  /// Over the steps: the probabilities of the values, which are the result; may be the same array as `emission`.
  BufferId marginal;
  /// The buffer of the stored factor into which the probabilities are copied.
  BufferId probs;
  /// True if the expectations of products of neighbours are stored as sums over the steps.
  bool summed;
  /// The entropy of the sequence so far: log Z minus the means of the unary and joint log potentials.
  ScalarId entropy;
  /// True if the joint potentials are the same at every step: their arrays then have one row for all steps.
  bool homogeneous;
  /// All terms with elements of the chain, as its uses.
  Uses all;
  /// The unary potentials are those of `singles`: rows of tables with exponentials, and potentials of the first
  /// element.
  bool by_rows;
  /// The uses that give unary potentials, if `by_rows`; otherwise none.
  UnaryUses singles;
  /// What the caller adds to the emitted update: work before and after each element is stored, and options.
  const UpdateHooks* hooks;
  BufferId start;  // by rows: log potentials that the first element has besides rows; or invalid
  /// The largest of the log potentials in `start`, which is subtracted before exp.
  ScalarId start_top;
  BufferId transition, filtered;  // over the steps: exp(pair) with a shift; normalised forward messages
  BufferId emission, onward;      // over the steps: exp(unary) with a shift; emission * scale * backward message
  /// 1 as long as no sum of products underflowed; with 0, messages are formed again in logarithms.
  ScalarId products;

  /// Returns the first index of the joint log potentials of step t: 0 if they are the same at every step, otherwise t.
  ExprId row(ExprId t, ExprId zero) const { return homogeneous ? zero : t; }

  /// Returns the indices of the element of this sequence at step t.
  std::vector<ExprId> element(ExprId t) const {
    std::vector<ExprId> at = sequence;
    at.push_back(t);
    return at;
  }
};

}  // namespace lehr::loops
