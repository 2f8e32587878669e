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

}  // namespace lehr
