// Formulas as LaTeX math (amsmath, amssymb).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "compiler/conditionals/formula.h"
#include "compiler/support/overloaded.h"

namespace lehr::conditionals {
namespace {

constexpr std::array<std::string_view, 33> kGreek{
    "alpha", "beta",  "gamma", "delta",  "epsilon", "zeta",  "eta",   "theta", "iota", "kappa",   "lambda",
    "mu",    "nu",    "xi",    "pi",     "rho",     "sigma", "tau",   "phi",   "chi",  "psi",     "omega",
    "Gamma", "Delta", "Theta", "Lambda", "Xi",      "Pi",    "Sigma", "Phi",   "Psi",  "Upsilon", "Omega"};

enum Level { kSum, kProduct, kAtom };

Level level_of(const Formula& f) {
  if (std::holds_alternative<FormulaAdd>(f.form)) return kSum;
  if (std::holds_alternative<FormulaMultiply>(f.form) || std::holds_alternative<FormulaSum>(f.form)) return kProduct;
  const auto* number = std::get_if<FormulaNumber>(&f.form);
  return number && number->value < 0 ? kProduct : kAtom;
}

std::string at_level(const Formula& f, Level needed) {
  return level_of(f) < needed ? "\\left(" + latex(f) + "\\right)" : latex(f);
}

std::string list(const Formulas& all) {
  std::vector<std::string> out;
  for (const Formula& f : all)
    out.push_back(latex(f));
  return fmt::format("{}", fmt::join(out, ","));
}

/// `{base}_{indices}`; the braces keep a base that has a subscript of its own legal.
std::string subscripted(const std::string& base, const std::string& indices) {
  return indices.empty() ? base : fmt::format("{{{}}}_{{{}}}", base, indices);
}

std::string symbol(const FormulaSymbol& s) {
  Formulas all = s.axes;
  all.insert(all.end(), s.event.begin(), s.event.end());
  return subscripted(latex_name(s.name), list(all));
}

std::string number(double value) {
  const std::string s = fmt::format("{:.6g}", value);
  const std::size_t e = s.find('e');
  if (e == std::string::npos) return s;
  return fmt::format("{} \\cdot 10^{{{}}}", s.substr(0, e), std::stoi(s.substr(e + 1)));
}

std::string sign(const std::string& s) {
  if (s == "!=") return "\\neq";
  if (s == ">=") return "\\geq";
  return s;
}

std::string bare(const Formula& f) {
  const auto* r = std::get_if<FormulaRelation>(&f.form);
  return r ? fmt::format("{} {} {}", latex(r->sides[0]), sign(r->sign), latex(r->sides[1])) : latex(f);
}

std::string apply(const FormulaApply& a) {
  const Formula& x = a.argument[0];
  const std::string in_brackets = "\\left(" + latex(x) + "\\right)";
  switch (a.function) {
    case FormulaFunction::log:
      return std::holds_alternative<FormulaSymbol>(x.form) ? "\\log " + latex(x) : "\\log " + in_brackets;
    case FormulaFunction::log1m:
      return "\\log\\left(1 - " + at_level(x, kProduct) + "\\right)";
    case FormulaFunction::exp:
      return "\\exp " + in_brackets;
    case FormulaFunction::sqrt:
      return "\\sqrt{" + latex(x) + "}";
    case FormulaFunction::reciprocal:
      return "\\frac{1}{" + latex(x) + "}";
    case FormulaFunction::lgamma:
      return "\\log\\Gamma " + in_brackets;
    case FormulaFunction::digamma:
      return "\\psi " + in_brackets;
    case FormulaFunction::trigamma:
      return "\\psi_1 " + in_brackets;
    case FormulaFunction::tanh:
      return "\\tanh " + in_brackets;
    case FormulaFunction::log_cosh:
      return "\\log\\cosh " + in_brackets;
    case FormulaFunction::curvature:
      return "\\lambda " + in_brackets;
    case FormulaFunction::offset:
      return "c" + in_brackets;
    case FormulaFunction::step:
      return "\\mathbb{1}_{>0}" + in_brackets;
    case FormulaFunction::xlogx:
      return in_brackets + "\\log " + in_brackets;
    case FormulaFunction::logdet:
      return "\\log\\left|" + latex(x) + "\\right|";
  }
  return "";
}

std::string product_latex(const FormulaMultiply& p) {
  std::string numerator, denominator;
  for (std::size_t k = 0; k < p.factors.size(); ++k) {
    const Formula& f = p.factors[k];
    const auto* a = std::get_if<FormulaApply>(&f.form);
    const auto* n = std::get_if<FormulaNumber>(&f.form);
    if (a && a->function == FormulaFunction::reciprocal) {
      denominator += (denominator.empty() ? "" : " \\, ") + at_level(a->argument[0], kAtom);
    } else if (n && n->value == -1 && numerator.empty()) {
      numerator = "-";
    } else {
      const bool open = k + 1 == p.factors.size() && std::holds_alternative<FormulaSum>(f.form);
      numerator += (numerator.empty() || numerator == "-" ? "" : " \\, ") + (open ? latex(f) : at_level(f, kAtom));
    }
  }
  if (numerator.empty() || numerator == "-") numerator += "1";
  return denominator.empty() ? numerator : fmt::format("\\frac{{{}}}{{{}}}", numerator, denominator);
}

std::string sum_latex(const FormulaSum& s) {
  std::vector<std::string> bounds;
  for (const std::string& b : s.bounds)
    bounds.push_back(latex_name(b));
  std::string below = fmt::format("{}", fmt::join(bounds, ","));
  for (const Formula& c : s.conditions)
    below += " \\\\ " + bare(c);
  if (!s.conditions.empty()) below = "\\substack{" + below + "}";
  return fmt::format("\\sum_{{{}}} {}", below, at_level(s.body[0], kProduct));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Code points that pdflatex has no glyph for are named.
std::string beyond_ascii(const std::string& s) {
  std::string out;
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const std::size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    std::uint32_t code = length == 1 ? c : c & (0xFFU >> (length + 1));
    for (std::size_t k = 1; k < length && i + k < s.size(); ++k) {
      code = code << 6 | (static_cast<unsigned char>(s[i + k]) & 0x3FU);
    }
    if (length == 1) out += s[i] == '_' ? std::string("\\_") : std::string(1, s[i]);
    else if (code >= 0xC0 && code < 0x180) out += s.substr(i, length);
    else if (code >= 0x3B1 && code <= 0x3C9 && code != 0x3BF && code != 0x3C2) {
      constexpr std::array<std::string_view, 25> kLetters{
          "alpha", "beta",   "gamma",   "delta", "epsilon", "zeta", "eta",  "theta", "iota",
          "kappa", "lambda", "mu",      "nu",    "xi",      "o",    "pi",   "rho",   "varsigma",
          "sigma", "tau",    "upsilon", "phi",   "chi",     "psi",  "omega"};
      out += fmt::format("$\\{}$", kLetters[code - 0x3B1]);
    } else {
      out += fmt::format("U+{:04X}", code);
    }
    i += length;
  }
  return out;
}

}  // namespace

std::string latex_name(const std::string& name) {
  std::string base = name, primes;
  while (!base.empty() && base.back() == '\'') {
    base.pop_back();
    primes += '\'';
  }
  std::size_t digits = base.size();
  while (digits > 0 && base[digits - 1] >= '0' && base[digits - 1] <= '9')
    --digits;
  const std::string stem = base.substr(0, digits), number = base.substr(digits);
  const bool ascii = std::all_of(stem.begin(), stem.end(), is_letter);
  std::string out;
  if (std::find(kGreek.begin(), kGreek.end(), stem) != kGreek.end()) out = "\\" + stem;
  else if (ascii) out = stem.size() == 1 ? stem : "\\mathit{" + stem + "}";
  else out = "\\text{\\itshape " + beyond_ascii(stem) + "}";
  return (number.empty() ? out : fmt::format("{}_{{{}}}", out, number)) + primes;
}

std::string summand_latex(const Formula& f) { return at_level(f, kProduct); }

std::string latex(const Formula& f) {
  return std::visit(
      Overloaded{
          [](const FormulaNumber& n) { return number(n.value); }, [](const FormulaSymbol& s) { return symbol(s); },
          [](const FormulaIndex& i) {
            return i.offset == 0 ? latex_name(i.bound) : fmt::format("{}{:+}", latex_name(i.bound), i.offset);
          },
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
          [](const FormulaMultiply& p) { return product_latex(p); }, [](const FormulaApply& a) { return apply(a); },
          [](const FormulaSquare& s) {
            const std::string base = latex(s.base[0]);
            const bool simple = base.find('_') == std::string::npos && level_of(s.base[0]) == kAtom;
            return simple ? base + "^{2}" : fmt::format("\\left({}\\right)^{{2}}", base);
          },
          [](const FormulaSum& s) { return sum_latex(s); },
          [&](const FormulaRelation&) { return "\\left[" + bare(f) + "\\right]"; },
          [](const FormulaPresent& p) { return fmt::format("{} \\text{{ present}}", latex(p.element[0])); },
          [](const FormulaExpectation& e) {
            std::vector<std::string> all;
            for (const Formula& x : e.body)
              all.push_back(bare(x));
            return fmt::format("\\mathbb{{E}}\\left[{}\\right]", fmt::join(all, ", "));
          },
          [](const FormulaEntropy& e) { return fmt::format("\\mathbb{{H}}\\left[q({})\\right]", list(e.elements)); },
          [](const FormulaSize& s) { return subscripted("\\left|" + latex_name(s.plate) + "\\right|", list(s.row)); },
          [](const FormulaInverse& i) {
            return subscripted("\\left(" + latex(i.matrix[0]) + "\\right)^{-1}", list(i.indices));
          },
          [](const FormulaQuadratic& q) {
            const std::string p = latex(q.precision[0]), mean = latex(q.mean[0]);
            return q.square ? fmt::format("{{{}}}^{{\\top}} {} \\, {}", mean, p, mean)
                            : subscripted(fmt::format("\\left({} \\, {}\\right)", p, mean), list(q.event));
          }},
      f.form);
}

}  // namespace lehr::conditionals
