// Builders of formulas. They fold numbers and nothing else, so that a formula prints the way its row spells
// it.
#include "compiler/math/expr.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/math/special.h"

namespace lehr::math {

namespace {

template <class Form>
Expr make(Form form) {
  return Expr(Node{std::move(form)});
}

std::optional<double> number(const Expr& e) {
  const auto* n = std::get_if<Number>(&e->form);
  return n ? std::optional(n->value) : std::nullopt;
}

/// Value of a function at a number, where folding is wanted: digamma and trigamma never meet one.
std::optional<double> fold(Function function, double x) {
  switch (function) {
    case Function::log:
      return std::log(x);
    case Function::exp:
      return std::exp(x);
    case Function::sqrt:
      return std::sqrt(x);
    case Function::reciprocal:
      return 1.0 / x;
    case Function::lgamma:
      return log_gamma_value(x);
    case Function::log1m:
      return std::log1p(-x);
    case Function::tanh:
      return std::tanh(x);
    case Function::log_cosh:
      return std::abs(x) + std::log1p(std::exp(-2.0 * std::abs(x))) - std::log(2.0);
    case Function::xlogx:
      return x == 0.0 ? 0.0 : x * std::log(x);
    case Function::step:
      return x > 0.0 ? 1.0 : 0.0;
    case Function::digamma:
    case Function::trigamma:
      return std::nullopt;
  }
  return std::nullopt;
}

Expr apply(Function function, Expr argument) {
  if (const auto x = number(argument)) {
    if (const auto value = fold(function, *x)) return *value;
  }
  return make(Apply{function, std::move(argument)});
}

int rank_of(Index i) { return i == kSecond ? 2 : i == kFirst ? 1 : 0; }

struct FreeRank {
  int operator()(const Number&) const { return 0; }
  int operator()(const AtValue&) const { return 0; }
  int operator()(const ExtentValue&) const { return 0; }
  int operator()(const LogDet&) const { return 0; }
  int operator()(const IndexValue& v) const { return rank_of(v.index); }
  int operator()(const Delta& d) const { return std::max(rank_of(d.left), rank_of(d.right)); }
  int operator()(const InverseEntry& e) const { return std::max(rank_of(e.row), rank_of(e.column)); }
  int operator()(const Apply& a) const { return free_event_rank(a.argument); }
  int operator()(const Sum& s) const { return free_event_rank(s.body); }
  int operator()(const Add& a) const { return std::max(free_event_rank(a.left), free_event_rank(a.right)); }
  int operator()(const Multiply& m) const { return std::max(free_event_rank(m.left), free_event_rank(m.right)); }
  int operator()(const Symbol& s) const {
    int rank = 0;
    for (Index i : s.indices)
      rank = std::max(rank, rank_of(i));
    return rank;
  }
};

}  // namespace

int free_event_rank(const Expr& e) { return std::visit(FreeRank{}, e->form); }

Expr::Expr(double value) : node_(std::make_shared<const Node>(Node{Number{value}})) {}
Expr::Expr(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}

Expr operator+(Expr a, Expr b) {
  const auto x = number(a), y = number(b);
  if (x && y) return *x + *y;
  if (x && *x == 0.0) return b;
  if (y && *y == 0.0) return a;
  return make(Add{std::move(a), std::move(b)});
}

Expr operator*(Expr a, Expr b) {
  const auto x = number(a), y = number(b);
  if (x && y) return *x * *y;
  if (y) return std::move(b) * std::move(a);
  if (x && *x == 0.0) return 0.0;
  if (x && *x == 1.0) return b;
  if (x) {
    if (const auto* inner = std::get_if<Multiply>(&b->form)) {
      if (const auto z = number(inner->left)) return Expr(*x * *z) * inner->right;
    }
  }
  return make(Multiply{std::move(a), std::move(b)});
}

Expr operator-(Expr a) { return Expr(-1.0) * std::move(a); }
Expr operator-(Expr a, Expr b) { return std::move(a) + (-std::move(b)); }
Expr operator/(Expr a, Expr b) { return std::move(a) * reciprocal(std::move(b)); }

Expr log(Expr a) { return apply(Function::log, std::move(a)); }
Expr exp(Expr a) { return apply(Function::exp, std::move(a)); }
Expr sqrt(Expr a) { return apply(Function::sqrt, std::move(a)); }
Expr lgamma(Expr a) { return apply(Function::lgamma, std::move(a)); }
Expr digamma(Expr a) { return apply(Function::digamma, std::move(a)); }
Expr log1m(Expr a) { return apply(Function::log1m, std::move(a)); }
Expr xlogx(Expr a) { return apply(Function::xlogx, std::move(a)); }
Expr tanh(Expr a) { return apply(Function::tanh, std::move(a)); }
Expr log_cosh(Expr a) { return apply(Function::log_cosh, std::move(a)); }
Expr step(Expr a) { return apply(Function::step, std::move(a)); }
Expr reciprocal(Expr a) { return apply(Function::reciprocal, std::move(a)); }
Expr square(Expr a) { return a * a; }

Expr symbol(std::string name) { return make(Symbol{std::move(name), {}}); }
Expr symbol(std::string name, Index i) { return make(Symbol{std::move(name), {i}}); }
Expr symbol(std::string name, Index i, Index j) { return make(Symbol{std::move(name), {i, j}}); }
Expr at_value(std::string vector, std::string value) { return make(AtValue{std::move(vector), std::move(value)}); }
Expr sum(Index index, Expr body) { return make(Sum{index, std::move(body)}); }
Expr largest(Index index, Expr body) { return make(Sum{index, std::move(body), true}); }
Expr delta(Index a, Index b) { return a == b ? Expr(1.0) : make(Delta{a, b}); }
Expr extent() { return make(ExtentValue{}); }
Expr index_value(Index i) { return make(IndexValue{i}); }
Expr inverse(std::string matrix, Index i, Index j) { return make(InverseEntry{std::move(matrix), i, j}); }
Expr inverse_root(std::string matrix, Index i, Index j) { return make(InverseEntry{std::move(matrix), i, j, true}); }
Expr logdet(std::string matrix) { return make(LogDet{std::move(matrix)}); }

}  // namespace lehr::math
