// Natural parameters in gather form: what one named element of a block collects from the log joint.
//
// A use (term, atom) names the element that it adds to, and so is a scatter. Here the indices of the atom are solved
// for the element v[i]: an index variable of the term is replaced by i and its sum disappears; `t-1` gives t = i+1. An
// index that cannot be solved, a lookup or constant, stays as the guard [index = i]. Example, for theta[d]:
//     sum(n) [z[n] = k] log theta[doc[n]][k]    ->    coefficient of log theta[d][k]: sum(n | doc[n] = d) [z[n] = k]
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compiler/conditionals/conditionals.h"
#include "compiler/density/poly.h"

namespace lehr::conditionals {

/// The element that a block's natural parameters are written for, by index variables.
struct Element {
  /// The index variables that name the element, one for each axis of the block.
  std::vector<density::IndexVarId> axes;
  /// The index variables of the statistics: none for scalars; else two, of which a category uses the first. A chain of
  /// categories has one for the element and one for each step that it reaches back.
  std::vector<density::IndexVarId> event;
};

/// One summand of a natural parameter of a block, that is, of the coefficient of a statistic in the log joint.
struct Summand {
  /// The summand: a term of the density without the statistic of the block itself.
  density::Term term;
  /// An index t+1 that must be an element of its plate (or of its row of a nested plate). Where it is not, the summand
  /// is 0. None if there is no such index.
  std::optional<density::IndexId> in_range;
};

/// A natural parameter of a block as a constant plus summands that depend on other variables.
struct Affine {
  /// The constant part: the summands without atoms, sums, conditions and multiplicities. It may mention the index
  /// variables of the element.
  density::CoefId constant;
  /// The statements that the constant comes from, as indices into Density::origins. One may be listed several times.
  std::vector<std::size_t> constant_origins;
  /// The part that depends on other variables or is summed, with like terms merged.
  std::vector<Summand> summands;
};

/// Replaces each sum of a term over an index variable that nothing mentions by a factor, the size of its plate.
void count_unused_index_vars(density::Algebra& a, density::Term& t);

/// Returns a general element of `b`: new index variables over the plates of its axes and statistics.
Element generic_element(density::Algebra& a, const model::Model& m, const Block& b);

/// Returns the natural parameter of each statistic of `b` that occurs in the log joint, at `element`. Those with two
/// event indices are symmetric in them. `a` is the density's algebra or a copy that was extended.
std::map<math::Stat, Affine> natural_parameters(density::Algebra& a, const model::Model& m, const Conditionals& c,
                                                const Block& b, const Element& element);

/// The log potentials of a chain (a block with one factor for each sequence), from which forward-backward or the Kalman
/// smoother computes its factor.
struct ChainPotentials {
  /// The natural parameters of one element, from terms with no other element of its sequence.
  std::map<math::Stat, Affine> unary;
  /// By lags: the coefficient of a product of statistics, of the element (at event[0]) and of the elements that many
  /// steps before it (at event[event_of_lag(lag)]). Scalars have no event indices.
  std::map<Lags, Affine> joint;
};
/// Returns the position in Element::event of the index of the element `lag` steps back.
std::size_t event_of_lag(const Block& b, std::int64_t lag);
/// Returns the log potentials of the chain `b` (a block with one factor for each sequence) at `element`.
ChainPotentials chain_potentials(density::Algebra& a, const model::Model& m, const Conditionals& c, const Block& b,
                                 const Element& element);

}  // namespace lehr::conditionals
