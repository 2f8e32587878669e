// Which arrays and numbers do with 32 bits, by what flows into what.
#pragma once

#include "compiler/loops/few_ids.h"
#include "compiler/loops/loops.h"

namespace lehr::loops {

struct Narrowable {
  FewIds<BufferId> arrays;
  FewIds<ScalarId> scalars;
  FewIds<BufferId> kept;  // of 64 bits, formed in them whatever is called: what is made of it has to stay exact

  /// Whether a real expression reads one of them.
  bool meets(const Program& program, ExprId e) const;
};

/// See narrow.h.
Narrowable narrowable(const Program& program);

/// A store to what is kept of an item, of a value that calls a function of the costly kind.
bool calls_for_item(const Program& program, const Store& store);

}  // namespace lehr::loops
