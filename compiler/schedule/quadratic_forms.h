// Finds the quadratic forms of an invariance: terms that a change of basis neither leaves alone nor changes as the
// prior of single elements. In the dynamics x[t] ~ Normal(A x[t-1] + B u[t], 1) they are products of x with itself,
// with its neighbours and with data. Matrices that multiply them, A and B, follow the change: their factors are chosen
// anew.
#pragma once
#include <set>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Returns true if the factor of the block is a Normal vector.
bool is_vector(const conditionals::Block& b);

/// Returns the components of an atom of a vector, or of a number that is its own component: an index for each power.
std::vector<density::IndexId> powers_of(density::Algebra& a, const density::Atom& x);

/// Returns the index variable that the index is, if the term sums it over a whole plate.
std::optional<density::IndexVarId> free_variable(const density::Algebra& a, const Term& t, density::IndexId i);

/// Returns true if the term mentions the index variable outside the events of the atoms at the positions `own`.
bool is_mentioned(const density::Algebra& a, const Term& t, density::IndexVarId b, const std::vector<std::size_t>& own);

/// Finds the quadratic forms and followers of invariances over one plate, or of those of numbers.
class FormFinder {
 public:
  /// Prepares the search over the plate. Index variables are added to the algebra of the schedule.
  FormFinder(const model::Model& m, Schedule& s, model::PlateId plate)
      : m_(m), s_(s), c_(s.conditionals), a_(s.conditionals.density.algebra), plate_(plate) {}

  /// Adds the term to the forms of the invariance, and the matrices in it to the followers, if it is a sum over
  /// elements of products of two components of variables, or of a component and data, times what does not depend on
  /// elements and at most two entries of followers. `own` has the positions of the atoms of variables that the
  /// invariance transforms.
  bool add(std::size_t term, const std::vector<std::size_t>& own, Invariance& out) const;

  /// Returns true if all other uses of the followers are sums over their entries of what does not belong to items; adds
  /// these uses.
  bool complete_followers(Invariance& out) const;

 private:
  /// One of the two factors of the products, and the number of its variable in the invariance; without one it is data.
  struct Factor {
    density::IndexId index;
    std::optional<std::size_t> variable;
  };
  /// What multiplies what in a term: the factors, and the row of the followers that multiply them.
  struct Parts {
    std::vector<Factor> factors;
    std::optional<density::IndexId> row;
  };

  BlockId block_of(const density::Atom& x) const { return c_.block_of[x.variable.index()]; }
  /// Returns true if the block is a matrix with Normal rows, one for each component, that no item has.
  bool may_follow(BlockId b) const;
  /// Returns the two factors in the term; nothing if it has others.
  std::optional<Parts> parts_of(const Term& t, const std::vector<std::size_t>& own, const Invariance& out) const;
  /// Divides the atoms, coefficients and conditions of the term between the moments and the coefficient of the form: to
  /// the moments goes what mentions an index variable in `inside`. Returns false if it cannot.
  bool divide(const Term& t, const std::vector<std::size_t>& own, const std::set<density::IndexVarId>& inside,
              QuadraticForm& form) const;
  /// Divides the index variables of the term, after all else. Returns false if it cannot.
  bool divide_index_vars(const Term& t, const Parts& parts, const std::set<density::IndexVarId>& inside,
                         QuadraticForm& form) const;
  /// Numbers the factors in the moments by new index variables, and sums over these.
  void number_factors(const Parts& parts, QuadraticForm& form) const;

  const model::Model& m_;                // the model
  Schedule& s_;                          // its schedule
  const conditionals::Conditionals& c_;  // the blocks
  density::Algebra& a_;                  // of the terms
  model::PlateId plate_;                 // the plate of the components; invalid for numbers
};

}  // namespace lehr::schedule
