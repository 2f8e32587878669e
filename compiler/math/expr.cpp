// Builders of formulas. They fold constants and nothing else, so that a formula prints as its row has it. Derivations
// and `lehr families` show formulas to users.
#include "compiler/math/expr.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/math/walk.h"

namespace lehr::math {

namespace {

/// Makes a formula with a node of this form at its root.
template <class Form>
Expr make(Form form) {
  return Expr(Node{std::move(form)});
}

/// Returns the constant that a formula is, or nothing.
std::optional<double> number(const Expr& e) {
  const auto* n = std::get_if<Number>(&e->form);
  return n ? std::optional(n->value) : std::nullopt;
}

/// Returns the event rank that a use of this index implies.
int rank_of(Index i) { return i == kSecond ? 2 : i == kFirst ? 1 : 0; }

}  // namespace

int free_event_rank(const Expr& e) {
  std::vector<Index> own;
  if (const auto* s = std::get_if<Symbol>(&e->form)) own = s->indices;
  if (const auto* v = std::get_if<IndexValue>(&e->form)) own = {v->index};
  if (const auto* d = std::get_if<Delta>(&e->form)) own = {d->left, d->right};
  if (const auto* m = std::get_if<InverseEntry>(&e->form)) own = {m->row, m->column};
  int rank = 0;
  for (Index i : own)
    rank = std::max(rank, rank_of(i));
  for (const Expr& part : children_of(e))
    rank = std::max(rank, free_event_rank(part));
  return rank;
}

Expr::Expr(double value) : node_(std::make_shared<const Node>(Node{Number{value}})) {}
Expr::Expr(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}

bool Expr::operator==(const Expr& other) const { return node_ == other.node_ || node_->form == other.node_->form; }

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

Expr apply(Function f, Expr a) {
  if (const auto x = number(a)) return value_of(f, *x);
  return make(Apply{f, std::move(a)});
}
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
