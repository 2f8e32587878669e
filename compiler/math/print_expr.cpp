// Text of formulas in the notation of the docs. Numbers are %.6g, except the constants of log densities,
// which print by name.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>

#include "compiler/math/expr.h"

namespace lehr::math {

namespace {

/// How tightly a text binds: a + b, sum(j) a, a * b, everything else.
enum Precedence { kSumLevel, kTermLevel, kProductLevel, kPowerLevel };

std::string_view name_of(Function function) {
  switch (function) {
    case Function::log:
      return "log";
    case Function::exp:
      return "exp";
    case Function::sqrt:
      return "sqrt";
    case Function::reciprocal:
      return "1/";
    case Function::lgamma:
      return "lgamma";
    case Function::digamma:
      return "digamma";
    case Function::trigamma:
      return "trigamma";
    case Function::log1m:
      return "log1m";
    case Function::tanh:
      return "tanh";
    case Function::log_cosh:
      return "log_cosh";
    case Function::step:
      return "step";
    case Function::xlogx:
      return "xlogx";
  }
  return "?";
}

std::string number_text(double value) {
  static const std::array<std::pair<double, const char*>, 6> kNamed{{
      {std::log(2.0 * std::numbers::pi), "log(2*pi)"},
      {0.5 * std::log(2.0 * std::numbers::pi), "0.5*log(2*pi)"},
      {0.25 * std::log(std::numbers::pi), "0.25*log(pi)"},
      {std::log(2.0), "log(2)"},
      {0.5 * std::log(2.0), "0.5*log(2)"},
      {0.5 * (1.0 + std::log(2.0 * std::numbers::pi)), "0.5*log(2*pi*e)"},
  }};
  for (const auto& [constant, text] : kNamed) {
    if (std::abs(std::abs(value) - constant) < 1e-15) return value < 0 ? fmt::format("-{}", text) : text;
  }
  return fmt::format("{:.6g}", value);
}

bool is_reciprocal(const Expr& e) {
  const auto* apply = std::get_if<Apply>(&e->form);
  return apply && apply->function == Function::reciprocal;
}

/// `e` without its leading minus, when it has one.
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
  /// Free event indices keep the letters j and l; everything bound takes what is left.
  explicit Printer(const Expr& e) {
    const int rank = free_event_rank(e);
    if (rank >= 1) names_.emplace(kFirst.id, "j");
    if (rank >= 2) names_.emplace(kSecond.id, "l");
  }

  std::string text(const Expr& e, Precedence at_least) {
    return std::visit([&](const auto& form) { return form_text(form, at_least); }, e->form);
  }

 private:
  std::string name(Index i) {
    const auto known = names_.find(i.id);
    if (known != names_.end()) return known->second;
    for (const char* letter : {"j", "l", "k", "m", "n", "p", "q"}) {
      bool taken = false;
      for (const auto& [id, used] : names_)
        taken = taken || used == letter;
      if (!taken) return names_.emplace(i.id, letter).first->second;
    }
    return fmt::format("i{}", i.id);
  }

  static std::string wrap(std::string text, Precedence own, Precedence at_least) {
    return own < at_least ? fmt::format("({})", text) : text;
  }

  std::string form_text(const Number& n, Precedence at_least) {
    const std::string text = number_text(n.value);
    const bool product = text.find('*') < text.find('(');
    return wrap(text, n.value < 0 ? kSumLevel : product ? kProductLevel : kPowerLevel, at_least);
  }

  std::string form_text(const Symbol& s, Precedence) {
    std::string text = s.name;
    for (std::size_t i = 0; i < s.indices.size(); ++i)
      text += fmt::format("{}{}", i ? "," : "[", name(s.indices[i]));
    return s.indices.empty() ? text : text + "]";
  }

  std::string form_text(const AtValue& v, Precedence) { return fmt::format("{}[{}]", v.vector, v.value); }

  std::string form_text(const Add& a, Precedence at_least) {
    const std::string left = text(a.left, kSumLevel);
    const auto minus = negated(a.right);
    const std::string right =
        minus ? fmt::format(" - {}", text(*minus, kTermLevel)) : fmt::format(" + {}", text(a.right, kSumLevel));
    return wrap(left + right, kSumLevel, at_least);
  }

  std::string form_text(const Multiply& m, Precedence at_least) {
    if (&*m.left == &*m.right) return text(m.left, kPowerLevel) + "^2";
    if (const auto* n = std::get_if<Number>(&m.left->form); n && n->value == -1.0)
      return wrap(fmt::format("-{}", text(m.right, kTermLevel)), kSumLevel, at_least);
    if (is_reciprocal(m.right)) {
      const Expr& divisor = std::get<Apply>(m.right->form).argument;
      return wrap(text(m.left, kProductLevel) + "/" + text(divisor, kPowerLevel), kProductLevel, at_least);
    }
    const bool negative = negated(m.left).has_value();
    return wrap(text(m.left, negative ? kSumLevel : kProductLevel) + "*" + text(m.right, kPowerLevel),
                negative ? kSumLevel : kProductLevel, at_least);
  }

  std::string form_text(const Apply& a, Precedence at_least) {
    if (a.function == Function::reciprocal)
      return wrap(fmt::format("1/{}", text(a.argument, kPowerLevel)), kProductLevel, at_least);
    return fmt::format("{}({})", name_of(a.function), text(a.argument, kSumLevel));
  }

  std::string form_text(const Sum& s, Precedence at_least) {
    std::string indices = name(s.index);
    const Expr* body = &s.body;
    while (const auto* inner = std::get_if<Sum>(&(*body)->form)) {
      indices += fmt::format(",{}", name(inner->index));
      body = &inner->body;
    }
    return wrap(fmt::format("{}({}) {}", s.largest ? "max" : "sum", indices, text(*body, kProductLevel)), kTermLevel,
                at_least);
  }

  std::string form_text(const Delta& d, Precedence) { return fmt::format("[{} = {}]", name(d.left), name(d.right)); }
  std::string form_text(const ExtentValue&, Precedence) { return "D"; }
  std::string form_text(const IndexValue& v, Precedence) { return name(v.index); }
  std::string form_text(const InverseEntry& i, Precedence) {
    return fmt::format("{}({})[{},{}]", i.root ? "inverse_root" : "inverse", i.matrix, name(i.row), name(i.column));
  }
  std::string form_text(const LogDet& l, Precedence) { return fmt::format("logdet({})", l.matrix); }

  std::map<int, std::string> names_;
};

}  // namespace

std::string print(const Expr& e) { return Printer(e).text(e, kSumLevel); }

}  // namespace lehr::math
