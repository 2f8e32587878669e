// Whether blocks occur in one term of the log joint. The uses of one block give the terms to look at.
#include "compiler/conditionals/shared_terms.h"

#include <algorithm>

namespace lehr::conditionals {

bool share_a_term(const Conditionals& c, BlockId block, const std::vector<BlockId>& others) {
  return std::any_of(c[block].uses.begin(), c[block].uses.end(), [&](const Use& u) {
    const std::vector<density::Atom>& atoms = c.density.terms[u.term].atoms;
    return std::any_of(atoms.begin(), atoms.end(), [&](const density::Atom& x) {
      const BlockId b = c.block_of[x.variable.index()];
      return b != block && std::find(others.begin(), others.end(), b) != others.end();
    });
  });
}

}  // namespace lehr::conditionals
