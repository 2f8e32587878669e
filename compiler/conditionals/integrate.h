// Auxiliary variables of links that draws of bits, spins and categories do not depend on: with them given, those would
// hardly ever change. Such a draw is from the conditional given all but the auxiliary variables, so that these must be
// drawn before anything else reads them. Van Dyk & Park, Partially collapsed Gibbs samplers (2008).
#pragma once
#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// An auxiliary variable that is integrated out where a block is drawn. The logarithm of the integral is the
/// Factor::log_normaliser of the auxiliary's draw, over its naturals and what follows from them before the draw.
struct Integrated {
  BlockId auxiliary;
  /// Which elements of the auxiliary stand in a term with an element of the block: an atom of the former, then one of
  /// the latter; no coefficient. Without the latter: any may. Of several, each element is a function of the
  /// auxiliary's.
  std::vector<density::Term> beside;
};

/// Empty where the block is not drawn.
std::vector<Integrated> integrated(const model::Model& m, const Conditionals& c, BlockId block);

/// Axes of drawn blocks along which data name the elements that have something integrated out are made sequential:
/// terms of one element are then found without a look at all others.
void walk_lookups(const model::Model& m, Conditionals& c);

}  // namespace lehr::conditionals
