// Which auxiliary variables a draw of a bit, spin or category integrates out (a collapsed Gibbs step).
//
// A sampler has auxiliary variables for links: a Polya-Gamma variable for logistic, a Normal one for probit. Given
// their values, a bit in the argument of the link would hardly ever change. So the bit is drawn from its conditional
// with the auxiliary integrated out, and the auxiliary must be drawn before anything else reads it: Van Dyk & Park,
// Partially collapsed Gibbs samplers (2008). The integral is in closed form: the log normaliser of the auxiliary's
// factor.
#pragma once
#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// An auxiliary variable that a Gibbs sampler integrates out where it draws a block. The logarithm of the integral is
/// the Factor::log_normaliser of the auxiliary's sample factor, over its natural parameters.
struct CollapsedAuxiliary {
  /// The block of the auxiliary variable that is integrated out.
  BlockId auxiliary;
  /// Which elements of the auxiliary share a term with an element of the drawn block: with y.bound[n] and s[g[n]],
  /// element n of the auxiliary does with element g[n] of the block. Each entry has two atoms without event indices,
  /// first one of the auxiliary, then one of the block, and the index variables that they mention; its other fields
  /// mean nothing. A single entry with the first atom alone means that any element of the auxiliary may. If there are
  /// several entries, the element of the block is a function of the auxiliary's in each.
  std::vector<density::Term> pairs;
};

/// Returns the auxiliary variables of links (such as logistic and probit) that a Gibbs draw of the block integrates
/// out, in order of their blocks. Each is itself drawn, has a log normaliser in closed form, and shares a term with the
/// block. One is left out if the axes of its elements are not different index variables without offsets in some term,
/// or if it shares a term with another auxiliary. If the drawn block is a chain, one is also left out unless each of
/// its elements shares terms with one element of the chain, which it determines.
///
/// The list is empty if the block is not drawn (Block::drawn), or if its variable is no bit, spin or category.
std::vector<CollapsedAuxiliary> collapsed_auxiliaries(const model::Model& m, const Conditionals& c, BlockId block);

/// Changes Block::sequential of drawn blocks so that their elements are drawn one after another along each axis that
/// data index in a term with an auxiliary that is integrated out, such as s[g[n]] with y.bound[n]. The terms of one
/// element are then found by an inverse lookup, without a search of all terms.
void make_lookup_axes_sequential(const model::Model& m, Conditionals& c);

}  // namespace lehr::conditionals
