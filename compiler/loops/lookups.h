// The bounds of a term that a known element decides.
#pragma once
#include "compiler/loops/terms.h"

namespace lehr::loops {

/// How the bounds of a term follow from the element that one of its atoms names: some are known, one may be walked
/// through an inverse lookup, and what is left are conditions.
struct Solved {
  Env env;
  struct Walk {
    BoundId bound;
    BufferId order;
    ExprId begin, end;
  };
  std::optional<Walk> walk;
  std::vector<Factor> conditions;
};

class Lookups : Part {
 public:
  Lookups(Shared& shared, Terms& terms) : Part(shared), terms_(terms) {}

  void declare_inverse_lookups();
  void prepare_inverse_lookups();
  Solved solve_axes(const Atom& atom, const std::vector<bool>& fixed, const std::vector<ExprId>& element);
  void for_solutions(const Solved& s, const std::function<void(const Env&)>& body);

 private:
  /// source[bound], the bound over a whole plate.
  struct PlainLookup {
    density::DataSource source;
    BoundId bound;
  };
  std::optional<PlainLookup> plain_lookup(IndexId i) const;

  Terms& terms_;
};

}  // namespace lehr::loops
