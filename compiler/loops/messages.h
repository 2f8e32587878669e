// The arrays that messages of a chain of categories are in.
#pragma once
#include "compiler/loops/chains.h"

namespace lehr::loops {

/// The arrays of one sequence.
struct Chains::Messages {
  BlockId block;
  std::vector<ExprId> sequence;
  SizeId size;
  std::int64_t reach;             // values of a history
  ExprId values, end;             // of the category; elements of the sequence
  BufferId unary, pair, forward;  // over the steps; with rows, `unary` is for logarithms alone
  BufferId scale;                 // over the steps: 1 over the sum of the products; in logarithms, log of the sum
  BufferId backward, message;     // of one element, over histories that end with it
  BufferId unscaled;              // the same, forwards: the products, not yet over their sum
  BufferId marginal;              // over the steps: the probabilities; may be the place of `emission`
  BufferId probs;                 // the factor
  bool summed;                    // pairs are kept as sums over the steps
  ScalarId entropy;               // log Z - <U> - <W>
  bool steady;                    // one row of pair potentials stands for all steps
  Uses all;                       // of the chain in terms
  bool by_rows;                   // log potentials of single elements are those of `singles`
  Singles singles;
  const UpdateHooks* hooks;
  BufferId start;                 // by rows: log potentials of the first element, beside those in rows
  ScalarId start_top;             // their largest
  BufferId transition, filtered;  // over the steps: exp(pair), and the normalised products
  BufferId emission, onward;      // over the steps: exp(unary); times what follows, over the sum of the step
  ScalarId products;              // 1 where no sum underflowed
  ScalarId top;                   // of the pair potentials that were exponentiated last

  ExprId row(ExprId t, ExprId zero) const { return steady ? zero : t; }

  std::vector<ExprId> element(ExprId t) const {
    std::vector<ExprId> at = sequence;
    at.push_back(t);
    return at;
  }
};

}  // namespace lehr::loops
