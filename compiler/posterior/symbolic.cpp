// Follows the structure of ModelEvaluator::entry, with polynomials in the place of numbers. Expressions without latent
// numbers are evaluated by Forward. Of latent numbers there are sums, products, quotients by a monomial, and sticks;
// other functions have no polynomial.
#include "compiler/posterior/symbolic.h"

#include <algorithm>
#include <cmath>

#include "compiler/model/walk.h"
#include "compiler/posterior/row_formula.h"
#include "compiler/support/overloaded.h"

namespace lehr {
namespace {

using namespace model;
using Maybe = std::optional<Polynomial>;

/// Returns the polynomial, or nullopt if it is too long.
Maybe limited(Polynomial p) { return p.size() > kMaxMonomials ? std::nullopt : Maybe(std::move(p)); }

}  // namespace

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

Symbolic::Symbolic(const ModelEvaluator& forward)
    : forward_(forward), model_(forward.model()), latent_(model_.exprs.size(), false) {
  for (std::size_t k = 0; k < model_.exprs.size(); ++k) {
    for (const ExprId id : nodes_under(model_, {ExprId(k)})) {
      const auto* ref = std::get_if<VariableRef>(&model_[id].node);
      if (!ref) continue;
      const Variable& v = model_[ref->variable];
      latent_[k] = latent_[k] || (!v.observed && !v.value_plate);
    }
  }
}

Polynomial Symbolic::atom(const VariableRef& r, const IndexValues& at, std::size_t offset) const {
  return {{1.0, {Atom{r.variable, forward_.variable_address(r, at) + offset, Atom::Kind::value}}}};
}

/// The sum over k of a(k) b(k), or of a(row, k) b(k).
Maybe Symbolic::product(ExprId a, ExprId b, const IndexValues& at, std::size_t n,
                        std::optional<std::size_t> row) const {
  Polynomial out;
  for (std::size_t k = 0; k < n; ++k) {
    const Maybe x = row ? entry(a, at, *row, k) : entry(a, at, k), y = entry(b, at, k);
    if (!x || !y || x->size() * y->size() + out.size() > kMaxMonomials) return std::nullopt;
    out = std::move(out) + *x * *y;
  }
  return out;
}

Maybe Symbolic::sum(const SumOver& s, const IndexValues& at, std::size_t i, std::size_t j) const {
  IndexValues inner = at;
  Maybe total = Polynomial();
  forward_.each(s.index_vars, inner, [&] {
    if (!total) return;
    const Maybe x = entry(s.body, inner, i, j);
    total = x ? limited(std::move(*total) + *x) : std::nullopt;
  });
  return total;
}

Maybe Symbolic::binary(const Binary& b, const IndexValues& at, std::size_t i, std::size_t j) const {
  const Maybe x = entry(b.left, at, i, j), y = entry(b.right, at, i, j);
  if (!x || !y) return std::nullopt;
  switch (b.op) {
    case BinaryOp::add:
      return limited(*x + *y);
    case BinaryOp::subtract:
      return limited(*x + scaled(*y, -1));
    case BinaryOp::multiply:
      return x->size() * y->size() > kMaxMonomials ? std::nullopt : Maybe(*x * *y);
    case BinaryOp::divide:
      break;
    default:
      return std::nullopt;
  }
  const Maybe inverse = inverse_of(*y);
  return inverse ? Maybe(*x * *inverse) : std::nullopt;
}

Maybe Symbolic::sticks(const StickBreaking& s, const IndexValues& at, std::size_t i) const {
  const auto* r = std::get_if<VariableRef>(&model_[s.fractions].node);
  if (!r) return std::nullopt;
  Polynomial out = constant(1);
  const auto n = static_cast<std::size_t>(forward_.data().sizes[model_[s.fractions].shape[0].index()]);
  for (std::size_t k = 0; k < std::min(i + 1, n); ++k) {
    Polynomial fraction = atom(*r, at, k);
    if (k < i) fraction[0].atoms[0].kind = Atom::Kind::complement;
    out = out * fraction;
  }
  return out;
}

Maybe Symbolic::entry(ExprId id, const IndexValues& at, std::size_t i, std::size_t j) const {
  if (!latent_[id.index()]) return constant(forward_.entry(id, at, i, j));
  const Expr& e = model_[id];
  const auto extent_of = [&](ExprId of, std::size_t axis) {
    return static_cast<std::size_t>(forward_.data().sizes[model_[of].shape[axis].index()]);
  };
  const std::size_t offset = e.shape.empty() ? 0 : e.shape.size() == 1 ? i : i * extent_of(id, 1) + j;
  return std::visit(
      Overloaded{
          [&](const VariableRef& r) -> Maybe { return atom(r, at, offset); },
          [&](const Negate& n) -> Maybe {
            Maybe x = entry(n.operand, at, i, j);
            return x ? Maybe(scaled(std::move(*x), -1)) : std::nullopt;
          },
          [&](const Binary& b) -> Maybe { return binary(b, at, i, j); },
          [&](const MatrixVector& m) -> Maybe { return product(m.matrix, m.vector, at, extent_of(m.vector, 0), i); },
          [&](const Dot& d) -> Maybe { return product(d.left, d.right, at, extent_of(d.left, 0), {}); },
          [&](const SumOver& s) -> Maybe { return sum(s, at, i, j); },
          [&](const Diag& d) -> Maybe { return i == j ? entry(d.vector, at, i) : Maybe(Polynomial()); },
          [&](const Component& c) -> Maybe { return entry(c.vector, at, static_cast<std::size_t>(at[c.at.index()])); },
          [&](const StickBreaking& s) -> Maybe { return sticks(s, at, i); },
          [](const auto&) -> Maybe { return std::nullopt; }},
      e.node);
}

Maybe Symbolic::mean(const Statement& s, const IndexValues& at, std::size_t j) const {
  const Distribution& d = forward_.distribution(s, at);
  return d.family->mean ? RowFormula(*this, s, at).value(*d.family->mean, j, 0) : std::nullopt;
}

Maybe Symbolic::covariance(const Statement& s, const IndexValues& at, std::size_t j, std::size_t l) const {
  const Distribution& d = forward_.distribution(s, at);
  return d.family->covariance ? RowFormula(*this, s, at).value(*d.family->covariance, j, l) : std::nullopt;
}

Maybe Symbolic::parameter(const Statement& s, const IndexValues& at, const std::string& canonical, std::size_t j,
                          std::size_t l) const {
  return RowFormula(*this, s, at).parameter(canonical, j, l);
}

}  // namespace lehr
