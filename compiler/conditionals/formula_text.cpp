// Formulas in the language's own notation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/conditionals/formula.h"
#include "compiler/support/overloaded.h"

namespace lehr::conditionals {
namespace {

/// How tightly a text binds: a + b, a * b, everything else. A sum over indices swallows the product to its
/// right.
enum Level { kSum, kProduct, kAtom };

std::string at_level(const Formula& f, Level needed);

std::string list(const Formulas& all) {
  std::vector<std::string> out;
  for (const Formula& f : all)
    out.push_back(text(f));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string brackets(const Formulas& all) { return all.empty() ? "" : "[" + list(all) + "]"; }

std::string_view name_of(FormulaFunction f) {
  switch (f) {
    case FormulaFunction::log:
      return "log";
    case FormulaFunction::log1m:
      return "log1m";
    case FormulaFunction::exp:
      return "exp";
    case FormulaFunction::sqrt:
      return "sqrt";
    case FormulaFunction::reciprocal:
      return "1/";
    case FormulaFunction::lgamma:
      return "lgamma";
    case FormulaFunction::digamma:
      return "digamma";
    case FormulaFunction::trigamma:
      return "trigamma";
    case FormulaFunction::tanh:
      return "tanh";
    case FormulaFunction::log_cosh:
      return "log_cosh";
    case FormulaFunction::step:
      return "step";
    case FormulaFunction::curvature:
      return "lambda";
    case FormulaFunction::offset:
      return "offset";
    case FormulaFunction::xlogx:
      return "xlogx";
    case FormulaFunction::logdet:
      return "logdet";
  }
  return "";
}

/// Inside other brackets a relation needs none of its own.
std::string bare(const Formula& f) {
  const auto* r = std::get_if<FormulaRelation>(&f.form);
  const auto* q = std::get_if<FormulaQuadratic>(&f.form);
  if (q && q->event.empty()) return text(f).substr(1, text(f).size() - 2);
  return r ? fmt::format("{} {} {}", text(r->sides[0]), r->sign, text(r->sides[1])) : text(f);
}

std::string sum_text(const FormulaSum& s) {
  std::vector<std::string> conditions;
  for (const Formula& c : s.conditions)
    conditions.push_back(bare(c));
  return fmt::format("sum({}{}{}) {}", fmt::join(s.bounds, ", "), conditions.empty() ? "" : " | ",
                     fmt::join(conditions, ", "), at_level(s.body[0], kProduct));
}

std::string product_text(const FormulaMultiply& p) {
  std::string numerator, denominator;
  for (std::size_t k = 0; k < p.factors.size(); ++k) {
    const Formula& f = p.factors[k];
    const auto* apply = std::get_if<FormulaApply>(&f.form);
    const auto* number = std::get_if<FormulaNumber>(&f.form);
    if (apply && apply->function == FormulaFunction::reciprocal) {
      denominator += " / " + at_level(apply->argument[0], kAtom);
    } else if (number && number->value == -1 && numerator.empty()) {
      numerator = "-";
    } else {
      const bool last = k + 1 == p.factors.size();
      const bool open = last && std::holds_alternative<FormulaSum>(f.form);
      numerator += (numerator.empty() || numerator == "-" ? "" : " * ") + (open ? text(f) : at_level(f, kAtom));
    }
  }
  if (numerator.empty() || numerator == "-") numerator += "1";
  return numerator + denominator;
}

Level level_of(const Formula& f) {
  if (std::holds_alternative<FormulaAdd>(f.form)) return kSum;
  if (std::holds_alternative<FormulaMultiply>(f.form) || std::holds_alternative<FormulaSum>(f.form)) return kProduct;
  const auto* apply = std::get_if<FormulaApply>(&f.form);
  if (apply && apply->function == FormulaFunction::reciprocal) return kProduct;
  const auto* number = std::get_if<FormulaNumber>(&f.form);
  return number && number->value < 0 ? kProduct : kAtom;
}

std::string at_level(const Formula& f, Level needed) { return level_of(f) < needed ? "(" + text(f) + ")" : text(f); }

}  // namespace

std::string summand_text(const Formula& f) { return at_level(f, kProduct); }

std::string text(const Formula& f) {
  return std::visit(
      Overloaded{
          [](const FormulaNumber& n) { return fmt::format("{:.6g}", n.value); },
          [](const FormulaSymbol& s) { return s.name + brackets(s.axes) + brackets(s.event); },
          [](const FormulaIndex& i) { return i.offset == 0 ? i.bound : fmt::format("{}{:+}", i.bound, i.offset); },
          [](const FormulaAdd& a) {
            std::string out;
            for (Formula part : a.parts) {
              const bool minus = take_minus(part);
              if (!out.empty()) out += minus ? " - " : " + ";
              else if (minus) out += "-";
              out += at_level(part, kProduct);
            }
            return out.empty() ? std::string("0") : out;
          },
          [](const FormulaMultiply& p) { return product_text(p); },
          [](const FormulaApply& a) {
            if (a.function == FormulaFunction::reciprocal) return "1 / " + at_level(a.argument[0], kAtom);
            if (a.function == FormulaFunction::log1m)
              return fmt::format("log(1 - {})", at_level(a.argument[0], kProduct));
            const bool plain = std::holds_alternative<FormulaSymbol>(a.argument[0].form);
            const bool juxtaposed =
                plain && (a.function == FormulaFunction::log || a.function == FormulaFunction::logdet);
            return juxtaposed ? fmt::format("{} {}", name_of(a.function), text(a.argument[0]))
                              : fmt::format("{}({})", name_of(a.function), text(a.argument[0]));
          },
          [](const FormulaSquare& s) { return at_level(s.base[0], kAtom) + "^2"; },
          [](const FormulaSum& s) { return sum_text(s); }, [&](const FormulaRelation&) { return "[" + bare(f) + "]"; },
          [](const FormulaPresent& p) { return fmt::format("present({})", text(p.element[0])); },
          [](const FormulaExpectation& e) {
            std::vector<std::string> all;
            for (const Formula& x : e.body)
              all.push_back(bare(x));
            return fmt::format("E[{}]", fmt::join(all, ", "));
          },
          [](const FormulaEntropy& e) { return fmt::format("H[q({})]", list(e.elements)); },
          [](const FormulaSize& s) {
            return s.row.empty() ? fmt::format("size({})", s.plate)
                                 : fmt::format("size({}[{}])", s.plate, text(s.row[0]));
          },
          [](const FormulaInverse& i) { return fmt::format("inverse({}){}", text(i.matrix[0]), brackets(i.indices)); },
          [](const FormulaQuadratic& q) {
            const std::string p = text(q.precision[0]), mean = text(q.mean[0]);
            return q.square ? fmt::format("({}' * {} * {})", mean, p, mean)
                            : fmt::format("({} * {}){}", p, mean, brackets(q.event));
          }},
      f.form);
}

Formula product(Formulas factors) {
  double scale = 1;
  Formulas rest;
  for (Formula& f : factors) {
    if (const auto* n = std::get_if<FormulaNumber>(&f.form)) {
      scale *= n->value;
    } else if (auto* inner = std::get_if<FormulaMultiply>(&f.form)) {
      for (Formula& g : inner->factors) {
        if (const auto* k = std::get_if<FormulaNumber>(&g.form)) scale *= k->value;
        else rest.push_back(std::move(g));
      }
    } else {
      rest.push_back(std::move(f));
    }
  }
  if (rest.empty() || scale == 0) return {FormulaNumber{scale}};
  if (scale != 1) rest.insert(rest.begin(), Formula{FormulaNumber{scale}});
  if (rest.size() == 1) return rest[0];
  return {FormulaMultiply{std::move(rest)}};
}

bool take_minus(Formula& f) {
  if (auto* n = std::get_if<FormulaNumber>(&f.form); n && n->value < 0) {
    n->value = -n->value;
    return true;
  }
  auto* p = std::get_if<FormulaMultiply>(&f.form);
  const auto* n = p ? std::get_if<FormulaNumber>(&p->factors[0].form) : nullptr;
  if (!n || n->value >= 0) return false;
  Formulas factors = p->factors;
  factors[0] = {FormulaNumber{-n->value}};
  f = product(std::move(factors));
  return true;
}

}  // namespace lehr::conditionals
