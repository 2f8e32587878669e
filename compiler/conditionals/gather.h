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

/// A general element of a block, such as theta[d][k], named by index variables. Natural parameters are written for it.
struct Element {
  /// The index variables that name the element, one for each axis of the block.
  std::vector<density::IndexVarId> axes;
  /// The index variables over components or values of the element, which its statistics have: none for scalars; two for
  /// vectors, matrices and categories, of which a category uses the first. A chain of categories has one for the value
  /// of the element, and one for that of the element each step back.
  std::vector<density::IndexVarId> event;
};

/// One summand of a natural parameter of a block. The natural parameter is the coefficient of a statistic of the block
/// in the log joint; each use of the statistic adds a summand.
struct Summand {
  /// The summand: a term of the density without the statistic of the block itself.
  density::Term term;
  /// An index t+1 that must be an element of its plate (or of its row of a nested plate). Where it is not, the summand
  /// is 0. None if there is no such index.
  std::optional<density::IndexId> in_range;
};

/// A natural parameter of a block, written as a constant plus summands that depend on other variables.
struct Affine {
  /// The constant part: the summands without atoms, sums, conditions and multiplicities. It may mention the index
  /// variables of the element.
  density::CoefId constant;
  /// The statements that the constant comes from, as indices into Density::origins. One may be listed several times.
  std::vector<std::size_t> constant_origins;
  /// The part that depends on other variables or is summed, with like terms merged.
  std::vector<Summand> summands;
};

/// Simplifies a term: replaces each sum over an index variable that nothing in it mentions by a factor, the size of the
/// plate. sum(n) tau becomes size(n) * tau.
void count_unused_index_vars(density::Algebra& a, density::Term& t);

/// Returns a general element of the block `b`, for which natural_parameters() are written: new index variables, one for
/// each axis, and those over its components or values.
Element generic_element(density::Algebra& a, const model::Model& m, const Block& b);

/// Returns the natural parameters of the block `b` at `element`: for each statistic that occurs in the log joint, the
/// sum of its coefficients in all terms. `lehr derive` prints updates from them. Those with two event indices are
/// symmetric in them. `a` is the density's algebra or a copy that was extended.
std::map<math::Stat, Affine> natural_parameters(density::Algebra& a, const model::Model& m, const Conditionals& c,
                                                const Block& b, const Element& element);

/// The log potentials of a chain (a block with one factor for each sequence), from which forward-backward or the Kalman
/// smoother computes its factor.
struct ChainPotentials {
  /// The natural parameters of one element alone, from terms with no other element of its sequence.
  std::map<math::Stat, Affine> unary;
  /// For each group of elements that terms multiply, by lags: the coefficient of the product of their statistics, of
  /// the element (at event[0]) and of the elements that many steps before it (at event[event_of_lag(lag)]). Scalars
  /// have no event indices.
  std::map<Lags, Affine> joint;
};
/// Returns the position in Element::event of the index variable for the value or component of the element `lag` steps
/// back in the chain `b`: `lag` for categories, 1 for vectors.
std::size_t event_of_lag(const Block& b, std::int64_t lag);
/// Returns the log potentials of the chain `b` (a block with one factor for each sequence) at `element`, of one element
/// and of each group of neighbours that terms multiply. `lehr derive` prints them.
ChainPotentials chain_potentials(density::Algebra& a, const model::Model& m, const Conditionals& c, const Block& b,
                                 const Element& element);

}  // namespace lehr::conditionals
