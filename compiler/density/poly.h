// Polynomials in statistics: the values that expressions and log densities expand to, and their arithmetic.
#pragma once
#include <vector>

#include "compiler/density/density.h"

namespace lehr::density {

/// A sum of terms; origins are set when a statement is finished.
using Poly = std::vector<Term>;

Poly constant(CoefId c);
Poly constant(Algebra& a, double v);
Poly add(Poly a, const Poly& b);
Poly scale(Algebra& a, CoefId c, Poly p);
/// Bounds of `q` that also stand in `p` are renamed first, so that a square has two independent sums.
Poly multiply(Algebra& a, const Poly& p, const Poly& q);
Poly with_bound(Poly p, BoundId b);
Poly with_guard(Poly p, const Guard& g);

/// Replaces a bound of the term by an index expression (the bound itself is removed from `bounds`); nested bounds
/// whose parent mentions it follow.
Term substitute(Algebra& a, Term t, BoundId b, IndexId by);
/// Fresh names for all bounds of the term.
Term rename_bounds(Algebra& a, Term t);

/// The bounds that an atom or a guard mentions, inside lookups too.
void collect(const Algebra& a, const Atom& x, std::set<BoundId>& out);
void collect(const Algebra& a, const Guard& g, std::set<BoundId>& out);

/// The coefficient that a polynomial without atoms is; nothing when it has atoms or guards that do not dissolve.
std::optional<CoefId> as_coefficient(Algebra& a, const model::Model& m, const Poly& p);

/// The same sum with fewer terms: what has no atoms is one coefficient, like terms are one.
Poly gathered(Algebra& a, const model::Model& m, const Poly& p);

/// A statement may expand to this many terms, those with guards counted once more for each guard.
inline constexpr std::size_t kMaxTerms = 50'000;
inline std::size_t weight(const Term& t) { return 1 + t.guards.size(); }

/// All terms of the product, the equal indices identified and coinciding atoms merged (normal form of one term). Where
/// they weigh more than kMaxTerms, some that weigh more than that.
std::vector<Term> normalise(Algebra& a, const model::Model& m, Term t);
/// Like terms of one origin (equal up to the names of bounds) added up; terms with coefficient 0 dropped.
std::vector<Term> merge_like_terms(Algebra& a, const model::Model& m, std::vector<Term> terms);

}  // namespace lehr::density
