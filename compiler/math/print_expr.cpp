// Prints formulas in the notation of the docs. Numbers are printed with six digits, but constants of log densities such
// as log(2*pi) by name. Brackets are printed only where the binding strength demands them (support/printing.h).
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>

#include "compiler/math/expr.h"
#include "compiler/support/printing.h"

namespace lehr::math {

namespace {

// Returns the text of a constant.
Infix number_text(double value) {
  static const std::array<std::pair<double, Infix>, 6> kNamed{{
      {std::log(2.0 * std::numbers::pi), {"log(2*pi)"}},
      {0.5 * std::log(2.0 * std::numbers::pi), {"0.5*log(2*pi)", kProduct}},
      {0.25 * std::log(std::numbers::pi), {"0.25*log(pi)", kProduct}},
      {std::log(2.0), {"log(2)"}},
      {0.5 * std::log(2.0), {"0.5*log(2)", kProduct}},
      {0.5 * (1.0 + std::log(2.0 * std::numbers::pi)), {"0.5*log(2*pi*e)", kProduct}},
  }};
  for (const auto& [constant, name] : kNamed) {
    if (std::abs(std::abs(value) - constant) < 1e-15) return value < 0 ? Infix{"-" + name.text, kSum} : name;
  }
  return {fmt::format("{:.6g}", value), value < 0 ? kSum : kAtom};
}

bool is_reciprocal(const Expr& e) {
  const auto* apply = std::get_if<Apply>(&e->form);
  return apply && apply->function == Function::reciprocal;
}

/// Returns `e` without its leading minus sign, if it has one.
std::optional<Expr> negated(const Expr& e) {
  if (const auto* n = std::get_if<Number>(&e->form)) {
    if (n->value < 0) return Expr(-n->value);
  }
  if (const auto* m = std::get_if<Multiply>(&e->form)) {
    if (const auto left = negated(m->left)) return *left * m->right;
  }
  return std::nullopt;
}

class Printer {
 public:
  /// Reserves the letters j and l for the free event indices; index variables of sums take letters that are left.
  explicit Printer(const Expr& e) {
    const int rank = free_event_rank(e);
    if (rank >= 1) names_.emplace(kFirst.id, "j");
    if (rank >= 2) names_.emplace(kSecond.id, "l");
  }

  Infix print(const Expr& e) {
    return std::visit([&](const auto& form) { return spell(form); }, e->form);
  }

 private:
  // Returns the letter of an index, the same one for each use.
  std::string name(Index i) {
    const auto it = names_.find(i.id);
    if (it != names_.end()) return it->second;
    for (const char* letter : {"j", "l", "k", "m", "n", "p", "q"}) {
      bool in_use = false;
      for (const auto& [id, used] : names_)
        in_use = in_use || used == letter;
      if (!in_use) return names_.emplace(i.id, letter).first->second;
    }
    return fmt::format("i{}", i.id);
  }

  // Returns the text of `e`, in brackets if it binds less tightly than `needed`.
  std::string at(const Expr& e, Strength needed) { return print(e).at(needed); }

  static Infix spell(const Number& n) { return number_text(n.value); }

  Infix spell(const Symbol& s) {
    return {s.name + bracketed(listed(
                         s.indices, [&](Index i) { return name(i); }, ","))};
  }

  static Infix spell(const AtValue& v) { return {fmt::format("{}[{}]", v.vector, v.value)}; }

  Infix spell(const Add& a) {
    const std::string left = at(a.left, kSum);
    const auto minus = negated(a.right);
    return {left + (minus ? " - " + at(*minus, kTerm) : " + " + at(a.right, kSum)), kSum};
  }

  Infix spell(const Multiply& m) {
    if (&*m.left == &*m.right) return {at(m.left, kAtom) + "^2"};
    if (const auto* n = std::get_if<Number>(&m.left->form); n && n->value == -1.0)
      return {"-" + at(m.right, kTerm), kSum};
    const bool below = is_reciprocal(m.right);
    const Strength own = negated(m.left) && !below ? kSum : kProduct;
    const std::string left = at(m.left, own);
    if (below) return {left + "/" + at(std::get<Apply>(m.right->form).argument, kAtom), own};
    return {left + "*" + at(m.right, kAtom), own};
  }

  Infix spell(const Apply& a) {
    if (a.function == Function::reciprocal) return {"1/" + at(a.argument, kAtom), kProduct};
    return {fmt::format("{}({})", row_of(a.function).name, at(a.argument, kSum))};
  }

  Infix spell(const Sum& s) {
    std::string indices = name(s.index);
    const Expr* body = &s.body;
    while (const auto* inner = std::get_if<Sum>(&(*body)->form)) {
      indices += "," + name(inner->index);
      body = &inner->body;
    }
    return {fmt::format("{}({}) {}", s.largest ? "max" : "sum", indices, at(*body, kProduct)), kTerm};
  }

  Infix spell(const Delta& d) {
    const std::string left = name(d.left);
    return {fmt::format("[{} = {}]", left, name(d.right))};
  }
  static Infix spell(const ExtentValue&) { return {"D"}; }
  Infix spell(const IndexValue& v) { return {name(v.index)}; }
  Infix spell(const InverseEntry& i) {
    const std::string row = name(i.row);
    return {fmt::format("{}({})[{},{}]", i.root ? "inverse_root" : "inverse", i.matrix, row, name(i.column))};
  }
  static Infix spell(const LogDet& l) { return {fmt::format("logdet({})", l.matrix)}; }

  std::map<int, std::string> names_;  // letters in use, by id of the index
};

}  // namespace

std::string print(const Expr& e) { return Printer(e).print(e).text; }

}  // namespace lehr::math
