// The plan of one streamed category: where its log odds come from and where its probabilities go.
#pragma once
#include "compiler/loops/lowering.h"

namespace lehr::loops {

/// One term that holds the category.
struct StreamUse {
  const schedule::ItemStage::LocalTerm* term = nullptr;
  std::size_t atom = 0;                // the category's own
  std::optional<std::size_t> partner;  // the one other local atom, of a stored block
  BoundId value;                       // the bound that is the category's value
  enum class Kind {
    table,   // a table at the element's indices, coefficient 1
    vector,  // expected statistics of the partner, coefficient 1, the same for the whole item
    general
  } kind = Kind::general;
};

struct Lowering::Stream {
  BlockId block;
  const schedule::ItemStage* stage = nullptr;
  std::vector<StreamUse> uses;
  SizeId values;  // number of values of the category
  /// Probabilities are a normalised product of exponentials, each taken at the level where it is known:
  /// tables once a sweep, vectors once a pass over the item. Otherwise log odds are added up per element.
  bool factored = false;
  BufferId probs, odds, item_odds, item_exp;  // work arrays over the values
};

}  // namespace lehr::loops
