// Expressions without latent numbers are evaluated by ModelEvaluator. Of latent numbers there are the nodes of
// Arithmetic, as ModelEvaluator evaluates them, and sticks; other functions have no polynomial.
#include "compiler/posterior/symbolic.h"

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/arithmetic.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/row_formula.h"
#include "compiler/support/overloaded.h"

namespace lehr {
namespace {

using namespace model;
using Maybe = MaybePolynomial;

}  // namespace

Symbolic::Symbolic(const ModelEvaluator& forward)
    : forward_(forward), model_(forward.model()), latent_(model_.exprs.size(), false) {
  for (std::size_t k = 0; k < model_.exprs.size(); ++k) {
    for (const VariableRef* ref : references_under(model_, {ExprId(k)})) {
      const Variable& v = model_[ref->variable];
      latent_[k] = latent_[k] || (!v.observed && !v.value_plate);
    }
  }
}

Polynomial Symbolic::atom(const VariableRef& r, const IndexValues& at, std::size_t offset) const {
  return {{1.0, {Atom{r.variable, forward_.variable_address(r, at) + offset, Atom::Kind::value}}}};
}

Maybe Symbolic::sticks(const StickBreaking& s, const IndexValues& at, std::size_t i) const {
  const auto* r = std::get_if<VariableRef>(&model_[s.fractions].node);
  if (!r) return std::nullopt;
  Polynomial out = constant(1);
  for (std::size_t k = 0; k < std::min(i + 1, forward_.extent_of(s.fractions, 0)); ++k) {
    Polynomial fraction = atom(*r, at, k);
    if (k < i) fraction[0].atoms[0].kind = Atom::Kind::complement;
    out = out * fraction;
  }
  return out;
}

Maybe Symbolic::entry(ExprId id, const IndexValues& at, std::size_t i, std::size_t j) const {
  if (!latent_[id.index()]) return constant(forward_.entry(id, at, i, j));
  const auto of = [this](ExprId e, const IndexValues& x, std::size_t k, std::size_t l) { return entry(e, x, k, l); };
  return std::visit(
      Overloaded{[&](const VariableRef& r) { return Maybe(atom(r, at, forward_.position_of(id, i, j))); },
                 Arithmetic{forward_, at, i, j, Maybe(Polynomial()), of},
                 [&](const Binary& b) {
                   const Maybe x = entry(b.left, at, i, j), y = entry(b.right, at, i, j);
                   return value_of(b.op, x, y);
                 },
                 [&](const StickBreaking& s) { return sticks(s, at, i); }, [](const auto&) { return Maybe(); }},
      model_[id].node);
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
