// Polynomials: sums of terms that are not yet part of a density, and their arithmetic.
//
// Expressions of the model and log densities of families expand to polynomials. Multiplication distributes, so a square
// of a sum has a term for each pair. normalise() then brings each term into the normal form of density.h.
#pragma once
#include <vector>

#include "compiler/density/density.h"

namespace lehr::density {

/// A sum of terms: the value of an expression or the log density of a statement while the density is being made.
/// Term::origin is set when the statement is finished.
using Poly = std::vector<Term>;

/// Returns the polynomial of one term without statistics, whose coefficient is `c`.
Poly constant(CoefId c);
/// Returns the polynomial that is the number `v`; for 0 the empty sum.
Poly constant(Algebra& a, double v);
/// Returns the sum of two polynomials, all terms of both, without merging like terms.
Poly add(Poly a, const Poly& b);
/// Returns the product of a coefficient and a polynomial, c * p, without the terms whose coefficient becomes 0.
Poly scale(Algebra& a, CoefId c, Poly p);
/// Returns p * q, a term for each pair of terms whose coefficient is not 0. If both terms of a pair sum over the same
/// index variable, those of the second are renamed first. So (sum(k) x[k]) * (sum(k) x[k]) becomes a sum over two
/// independent index variables.
Poly multiply(Algebra& a, const Poly& p, const Poly& q);
/// Returns the polynomial with every term summed over the index variable `b` as well.
Poly with_index_var(Poly p, IndexVarId b);
/// Returns the polynomial with the condition `g` added to the sum of every term.
Poly with_guard(Poly p, const Guard& g);

/// Returns the term with the index expression `by` in place of the index variable `b` everywhere, and without the sum
/// over `b`. Each index variable nested in `b` is replaced by a new one, which is nested in `by`. If the term mentions
/// `b` with an offset (mentions_with_offset), `by` must be an index variable or a constant.
Term substitute(Algebra& a, Term t, IndexVarId b, IndexId by);

/// Returns true if the term mentions `b` with an offset, as in x[b - 1]. Such an occurrence can only be replaced by an
/// index variable or a constant, to which the offset is added.
bool mentions_with_offset(Algebra& a, const Term& t, IndexVarId b);
/// Returns the same term with a new index variable in place of each that it sums over. multiply() does so before it
/// joins the sums of two terms.
Term rename_index_vars(Algebra& a, Term t);

/// Adds to `out` the index variables that an atom mentions, also inside lookups.
void collect(const Algebra& a, const Atom& x, std::set<IndexVarId>& out);
/// Adds to `out` the index variables that a guard mentions, also inside lookups.
void collect(const Algebra& a, const Guard& g, std::set<IndexVarId>& out);

/// Returns the coefficient that equals the polynomial (0 for the empty one), with sums over index variables as CoefSum.
/// It returns nothing if a term in normal form has atoms, multiplicities or guards, for then the value depends on
/// latent variables or on conditions.
std::optional<CoefId> as_coefficient(Algebra& a, const model::Model& m, const Poly& p);

/// Returns an equal polynomial with fewer terms, so that a product of it has fewer: all terms without atoms, guards and
/// multiplicities become one term, and like terms are added up.
Poly compacted(Algebra& a, const model::Model& m, const Poly& p);

/// The largest total weight() of the terms of one statement or potential, and the most terms of a product in it. A
/// statement that exceeds it is reported as an error, so that the compiler does not run out of memory or time.
inline constexpr std::size_t kMaxTerms = 50'000;
/// Returns what a term counts towards kMaxTerms: 1, and 1 more for each guard.
inline std::size_t weight(const Term& t) { return 1 + t.guards.size(); }

/// Returns the normal form of a term, as one or several terms whose sum equals it. Equalities of indices are
/// substituted, unused selectors dropped and atoms of one element merged. If two atoms may belong to one element, the
/// term is split by a guard: x[i] * x[j] becomes (x[i]^2 where j = i) + (x[i] * x[j] where j != i). It stops early when
/// the terms weigh more than kMaxTerms, and the caller then reports the statement.
std::vector<Term> normalise(Algebra& a, const model::Model& m, Term t);
/// Returns a text by which callers compare index expressions of different terms: it is equal for two terms if and only
/// if their `lists` are equal up to the names of the terms' index variables.
std::string index_key(const Algebra& a, const Term& t, const std::vector<std::vector<IndexId>>& lists);
/// Returns the terms with like terms added up: terms of one origin that differ in the names of index variables and in
/// coefficients only. Terms with coefficient 0 are dropped.
std::vector<Term> merge_like_terms(Algebra& a, const model::Model& m, std::vector<Term> terms);

}  // namespace lehr::density
