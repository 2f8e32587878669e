// The proof of one optimum. Signs need not be looked at: the density of a statement integrates to one over its left
// side, whatever the values of all other variables are, so no part of its logarithm can grow without end.
//
//   real        A logarithm of degree 2 at most is a quadratic form. If it were convex in some direction, the density
//               would grow along it without end. So it is concave. Its arguments of links are affine: squares of others
//               have a higher degree.
//   positive    In logarithms t of the values, a product of powers is exp(p.t). One with a positive coefficient would
//               grow along p faster than all others of its statement with exponents of the same length |p|. So products
//               of equal length have negative coefficients, and -exp(p.t) is concave. Logarithms are linear in t.
//
// A potential need not integrate to anything, so groups with potentials have no proof.
#include "compiler/conditionals/one_optimum.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/math/exponent.h"
#include "compiler/model/expectations.h"

namespace lehr::conditionals {
namespace {

using density::Atom;
using density::Term;
using math::Stat;

/// The groups of blocks that share terms: a representative of the group for each block.
class Groups {
 public:
  explicit Groups(const Conditionals& c) : of_(c.blocks.size()) {
    std::iota(of_.begin(), of_.end(), std::size_t{0});
    for (const Term& t : c.density.terms) {
      for (std::size_t k = 1; k < t.atoms.size(); ++k)
        unite(c.block_of[t.atoms[0].variable.index()].index(), c.block_of[t.atoms[k].variable.index()].index());
    }
  }
  /// Returns the representative of the group of a block.
  std::size_t operator[](std::size_t block) const { return of_[block]; }

 private:
  void unite(std::size_t a, std::size_t b) {
    const std::size_t from = of_[b], to = of_[a];
    std::ranges::replace(of_, from, to);
  }
  std::vector<std::size_t> of_;
};

/// Returns true if the variable is the tangent point of a local bound with this row.
bool is_point_of(const model::Variable& v, const math::FamilyRow& row) {
  return v.auxiliary && v.auxiliary->kind == model::Auxiliary::Kind::bound && v.auxiliary->bound == &row;
}

/// Returns true if the variable is the tangent point of a bound, or of an expectation, that leaves the functional
/// concave.
bool is_concave_bound(const model::Variable& v) {
  return model::has_expectation(v) || is_point_of(v, math::logistic_bound()) || is_point_of(v, math::softmax_bound()) ||
         is_point_of(v, math::absolute_bound());
}

/// Returns true if the values are real numbers or vectors, and no tangent points.
bool is_real(const model::Variable& v) {
  const bool tangent = v.auxiliary && v.auxiliary->kind == model::Auxiliary::Kind::bound;
  return !tangent && (v.support == math::Support::real || v.support == math::Support::vector);
}

/// Returns the degree of a statistic of real numbers as a polynomial, also of those that are multiplied by a precision;
/// nothing for others. Limits of a number make its density 0 outside an interval and count as constant.
std::optional<int> degree(Stat s) {
  switch (s) {
    case Stat::above:
    case Stat::below:
    case Stat::lower:
    case Stat::upper:
      return 0;
    case Stat::value:
    case Stat::comp:
    case Stat::weighted:
      return 1;
    case Stat::square:
    case Stat::comp2:
    case Stat::weighted_square:
    case Stat::weighted2:
      return 2;
    default:
      return std::nullopt;
  }
}

/// Returns true if the statistic has real numbers that are multiplied by a precision of the same factor.
bool is_weighted(Stat s) { return s == Stat::weighted || s == Stat::weighted_square || s == Stat::weighted2; }

/// Returns true if the term is a polynomial of degree 2 at most in real numbers, with at most one tangent point.
bool is_quadratic(const model::Model& m, const Term& t) {
  int sum = 0, tangents = 0;
  for (const Atom& x : t.atoms) {
    const model::Variable& v = m[x.variable];
    if (!x.opaque.empty()) return false;
    if (is_concave_bound(v)) {
      ++tangents;
      continue;
    }
    const std::optional<int> d = is_real(v) ? degree(x.stat) : std::nullopt;
    if (!d || (*d == 0 && t.atoms.size() > 1)) return false;
    sum += *d;
  }
  return sum <= 2 && tangents <= 1;
}

/// Returns the squared length of the exponents of a product of powers of positive numbers, 0 for a logarithm; nothing
/// for other terms.
std::optional<int> length_of_powers(const model::Model& m, const Term& t) {
  int out = 0;
  for (const Atom& x : t.atoms) {
    if (!x.opaque.empty() || m[x.variable].support != math::Support::positive || m[x.variable].auxiliary)
      return std::nullopt;
    if (x.stat == Stat::log && t.atoms.size() == 1) return 0;
    const std::optional<int> p = math::exponent(x.stat);
    if (!p) return std::nullopt;
    out += *p * *p;
  }
  return out;
}

/// What the terms of one group are.
struct Kind {
  std::size_t blocks = 0;                   // number of blocks
  bool coupled = false;                     // true: some block has elements that share terms
  bool real = true, positive = true;        // true: the group may still be of that kind
  std::map<std::size_t, int> lengths = {};  // by origin: squared length of the exponents of its products
};

/// Notes one term of a group.
void note(const model::Model& m, const density::Density& d, const Term& t, Kind& kind) {
  const bool stated = !d.origins[t.origin].potential;
  kind.real = kind.real && stated && is_quadratic(m, t);
  const std::optional<int> length = length_of_powers(m, t);
  kind.positive = kind.positive && stated && length &&
                  (*length == 0 || kind.lengths.try_emplace(t.origin, *length).first->second == *length);
}

}  // namespace

std::optional<std::string> why_one_optimum(const model::Model& m, const Conditionals& c) {
  const Groups groups(c);
  std::map<std::size_t, Kind> kinds;
  for (std::size_t k = 0; k < c.blocks.size(); ++k) {
    Kind& kind = kinds[groups[k]];
    ++kind.blocks;
    kind.coupled = kind.coupled || c.blocks[k].coupled();
  }
  for (const Term& t : c.density.terms) {
    if (!t.atoms.empty()) note(m, c.density, t, kinds[groups[c.block_of[t.atoms[0].variable.index()].index()]]);
  }
  bool real = false, positive = false;
  for (const auto& [group, kind] : kinds) {
    if (kind.blocks == 1 && !kind.coupled) continue;
    if (!kind.real && !kind.positive) return std::nullopt;
    (kind.real ? real : positive) = true;
  }
  if (!real && !positive) return "no factor depends on another one";
  std::string in = real ? "the latent variables" : "the logarithms of the latent variables";
  if (real && positive) in += ", or in their logarithms";
  return "the log joint is concave in " + in;
}

bool has_products(const model::Model& m, const Conditionals& c) {
  return std::ranges::any_of(c.density.terms, [&](const Term& t) {
    int sum = 0;
    for (const Atom& x : t.atoms) {
      const bool counts = is_real(m[x.variable]) || is_weighted(x.stat);
      if (counts) sum += degree(x.stat).value_or(0);
    }
    return sum > 2;
  });
}

bool starts_may_agree(const model::Model& m, const Conditionals& c) {
  const auto is_continuous = [&](const Block& b) {
    const math::Support s = m[b.variable].support;
    return !math::is_discrete(s) && s != math::Support::switched && s != math::Support::count &&
           s != math::Support::counts;
  };
  return std::ranges::all_of(c.blocks, is_continuous) && !has_products(m, c);
}

}  // namespace lehr::conditionals
