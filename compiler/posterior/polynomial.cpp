// Arithmetic of polynomials as unsorted sums of monomials; merged() sorts them and adds up equal ones. The atoms of
// each monomial are always sorted.
#include "compiler/posterior/polynomial.h"

#include <algorithm>

namespace lehr {

Polynomial constant(double x) { return x == 0 ? Polynomial() : Polynomial{{x, {}}}; }

bool is_constant(const Polynomial& p) {
  return std::ranges::all_of(p, [](const Monomial& m) { return m.atoms.empty(); });
}

double constant_value(const Polynomial& p) {
  double out = 0;
  for (const Monomial& m : p)
    out += m.coefficient;
  return out;
}

Monomial operator*(const Monomial& a, const Monomial& b) {
  Monomial out{a.coefficient * b.coefficient, a.atoms};
  out.atoms.insert(out.atoms.end(), b.atoms.begin(), b.atoms.end());
  std::inplace_merge(out.atoms.begin(), out.atoms.begin() + static_cast<std::ptrdiff_t>(a.atoms.size()),
                     out.atoms.end());
  return out;
}

Polynomial operator+(Polynomial a, const Polynomial& b) {
  a.insert(a.end(), b.begin(), b.end());
  if (is_constant(a) && a.size() > 1) return constant(constant_value(a));
  return a;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial out;
  out.reserve(a.size() * b.size());
  for (const Monomial& x : a)
    for (const Monomial& y : b)
      out.push_back(x * y);
  return out;
}

Polynomial scaled(Polynomial p, double by) {
  for (Monomial& m : p)
    m.coefficient *= by;
  return p;
}

Polynomial merged(Polynomial p) {
  std::ranges::stable_sort(p, {}, &Monomial::atoms);
  Polynomial out;
  for (Monomial& m : p) {
    if (!out.empty() && out.back().atoms == m.atoms) out.back().coefficient += m.coefficient;
    else out.push_back(std::move(m));
  }
  std::erase_if(out, [](const Monomial& m) { return m.coefficient == 0; });
  return out;
}

std::optional<Polynomial> inverse_of(const Polynomial& p) {
  if (p.empty()) return std::nullopt;
  if (is_constant(p)) return constant(1 / constant_value(p));
  if (p.size() != 1) return std::nullopt;
  Monomial out{1 / p[0].coefficient, p[0].atoms};
  for (Atom& a : out.atoms) {
    if (a.kind == Atom::Kind::value) a.kind = Atom::Kind::inverse;
    else if (a.kind == Atom::Kind::inverse) a.kind = Atom::Kind::value;
    else return std::nullopt;
  }
  std::ranges::sort(out.atoms);
  return Polynomial{out};
}

MaybePolynomial operator-(MaybePolynomial p) { return p ? MaybePolynomial(scaled(std::move(*p), -1)) : p; }

MaybePolynomial& operator+=(MaybePolynomial& a, const MaybePolynomial& b) {
  if (!a || !b || a->size() + b->size() > kMaxMonomials) a.reset();
  else a = std::move(*a) + *b;
  return a;
}

MaybePolynomial operator+(MaybePolynomial a, const MaybePolynomial& b) { return std::move(a += b); }

MaybePolynomial operator-(MaybePolynomial a, MaybePolynomial b) { return std::move(a += -std::move(b)); }

MaybePolynomial operator*(const MaybePolynomial& a, const MaybePolynomial& b) {
  return a && b && a->size() * b->size() <= kMaxMonomials ? MaybePolynomial(*a * *b) : std::nullopt;
}

MaybePolynomial operator/(const MaybePolynomial& a, const MaybePolynomial& b) {
  return a * (b ? inverse_of(*b) : std::nullopt);
}

}  // namespace lehr
