// Solving for index variables: which index variables of a term follow if one of its atoms is a given element.
//
// If the atom is `U[n, r]` and the element is (3, 1), then n = 3 and r = 1. If the atom is named through data, as
// `s[a[e]]` with the element 3, the e with a[e] = 3 are walked in an inverse lookup. What cannot be solved is tested.
#pragma once
#include "compiler/lower/terms.h"

namespace lehr::loops {

/// The index variables of a term under the condition that one of its atoms is a given element.
struct Solved {
  /// The index variables that the element determines, with their values.
  Env env;
  /// An index variable that takes the values order[begin] .. order[end - 1]: the positions at which a data array names
  /// the wanted element.
  struct Walk {
    /// The index variable of the term that takes these values.
    IndexVarId bound;
    /// The positions of the data array sorted by value (InverseLookup::order).
    BufferId order;
    /// The range of `order` that has the positions with the wanted element.
    ExprId begin, end;
  };
  /// The index variable whose values are walked; none if no data array names the element. At most one is walked.
  std::optional<Walk> walk;
  /// Bool expressions that are true where the atom is the element, for what was not solved. Each is tested where its
  /// index variables are open.
  std::vector<Factor> conditions;
};

/// Solves for the index variables of terms, and emits inverse lookups and loops over the solutions.
class Lookups : Part {
 public:
  Lookups(Shared& shared, Terms& terms) : Part(shared), terms_(terms) {}

  /// Declares an inverse lookup for each data array that names sequential elements of a block, or elements of a chain.
  void declare_inverse_lookups();
  /// Emits the code that fills the inverse lookups, by a counting sort of the data.
  void prepare_inverse_lookups();
  /// Returns which index variables of a term follow if `atom` has the indices `element` along its `fixed` axes, and the
  /// conditions for what does not follow. The update of one element then loops over the others alone.
  Solved solve_axes(const Atom& atom, const std::vector<bool>& fixed, const std::vector<ExprId>& element);
  /// Emits the code of `body` inside a loop over the walked index variable or, if there is none, without a loop. `body`
  /// gets the values of the index variables that are solved. The caller tests Solved::conditions.
  void for_solutions(const Solved& s, const std::function<void(const Env&)>& body);

 private:
  /// An index that a data array gives for one index variable, as a[e] in s[a[e]]. The index variable ranges over a
  /// plate that is not nested.
  struct PlainLookup {
    /// The data array that gives the index.
    density::DataSource source;
    /// The index variable at which the data array is read.
    IndexVarId bound;
  };
  /// Returns the data array and the index variable of an index source[bound], as in s[a[e]]; nothing for other indices.
  std::optional<PlainLookup> plain_lookup(IndexId i) const;

  Terms& terms_;  // the part that emits loop nests of terms
};

}  // namespace lehr::loops
