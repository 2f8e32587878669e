// Natural parameters in gather form: what one named element of a block collects from the log joint.
//
// A use (term, atom) scatters to the element the atom names. Solving the atom's indices for the element v[i]:
// an entry that is a bound of the term is replaced by i and its loop disappears, `t-1` gives t = i+1, and
// what cannot be solved (a lookup, a constant) stays as the guard [entry = i].
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "compiler/conditionals/conditionals.h"
#include "compiler/density/poly.h"

namespace lehr::conditionals {

/// The element a block's conditional is written for: one bound an axis, and those of the statistics' event
/// indices.
struct Element {
  std::vector<density::BoundId> axes;
  std::vector<density::BoundId> event;  // 0, 1 or 2; of a chain of categories one more than it reaches back
};

/// One summand of a natural parameter. `in_range`: an index that must not run past the end of its plate.
struct Summand {
  density::Term term;
  std::optional<density::IndexId> in_range;
};

/// constant + sum of the summands; a constant mentions no bound of a sum and no other variable.
struct Affine {
  density::CoefId constant;
  std::vector<std::size_t> constant_origins;  // indices into Density::origins
  std::vector<Summand> summands;
};

/// Sums over bounds that nothing in the term mentions become factors: the sizes of their plates.
void count_unused_bounds(density::Algebra& a, density::Term& t);

/// Fresh bounds for an element of `b`, named by the plates of its axes.
Element name_element(density::Algebra& a, const model::Model& m, const Block& b);

/// The natural parameter of each statistic that stands in the log joint, at `element`; those of two event
/// indices are symmetric in them. `a` is the density's algebra or a copy that was extended.
std::map<math::Stat, Affine> natural_parameters(density::Algebra& a, const model::Model& m, const Conditionals& c,
                                                const Block& b, const Element& element);

/// Log potentials of a chain. `unary`: the natural parameters of one element from the terms that hold no other element
/// of the chain. `together`: the coefficient of the product of the statistic of element.event[0] at the element and
/// those of element.event[event_of_lag] at the elements so many steps before (scalars have no event indices).
struct ChainPotentials {
  std::map<math::Stat, Affine> unary;
  std::map<Lags, Affine> together;
};
std::size_t event_of_lag(const Block& b, std::int64_t lag);
ChainPotentials chain_potentials(density::Algebra& a, const model::Model& m, const Conditionals& c, const Block& b,
                                 const Element& element);

}  // namespace lehr::conditionals
