// Formulas in the language's own notation and as LaTeX math (amsmath, amssymb): one walk, two spellings side by side.
#include <fmt/format.h>

#include "compiler/conditionals/formula.h"
#include "compiler/support/printing.h"

namespace lehr::conditionals {
namespace {

bool is_reciprocal(const Formula& f) {
  const auto* apply = std::get_if<FormulaApply>(&f.form);
  return apply && apply->function == math::Function::reciprocal;
}

class Printer {
 public:
  constexpr explicit Printer(bool latex) : latex_(latex) {}

  std::string print(const Formula& f) const {
    return std::visit([&](const auto& form) { return spell(form); }, f.form);
  }
  std::string at_level(const Formula& f, Strength needed) const {
    return level_of(f) < needed ? in_brackets(print(f)) : print(f);
  }

 private:
  /// The parts in the place holders of either format string.
  template <class... Part>
  std::string format(fmt::string_view text, fmt::string_view latex, const Part&... parts) const {
    return fmt::vformat(latex_ ? latex : text, fmt::make_format_args(parts...));
  }
  std::string in_brackets(const std::string& s) const { return format("({})", "\\left({}\\right)", s); }
  std::string_view comma() const { return latex_ ? "," : ", "; }
  std::string name(const std::string& s) const { return latex_ ? latex_name(s) : s; }

  Strength level_of(const Formula& f) const {
    if (std::holds_alternative<FormulaAdd>(f.form)) return kSum;
    if (std::holds_alternative<FormulaMultiply>(f.form) || std::holds_alternative<FormulaSum>(f.form)) return kProduct;
    if (!latex_ && is_reciprocal(f)) return kProduct;
    const auto* number = std::get_if<FormulaNumber>(&f.form);
    return number && number->value < 0 ? kProduct : kAtom;
  }

  std::string list(const Formulas& all) const {
    return listed(
        all, [&](const Formula& f) { return print(f); }, comma());
  }
  std::string list_bare(const Formulas& all, std::string_view between = ", ") const {
    return listed(
        all, [&](const Formula& f) { return bare(f); }, between);
  }

  /// `base[indices]`; the braces keep a base that has a subscript of its own legal.
  std::string indexed(const std::string& base, const Formulas& indices) const {
    return indices.empty() ? base : format("{}[{}]", "{{{}}}_{{{}}}", base, list(indices));
  }

  /// Inside other brackets a relation needs none of its own.
  std::string bare(const Formula& f) const {
    const auto* r = std::get_if<FormulaRelation>(&f.form);
    const auto* q = std::get_if<FormulaQuadratic>(&f.form);
    if (q && q->event.empty() && !latex_) return product_of(*q);
    return r ? relation(*r) : print(f);
  }
  std::string relation(const FormulaRelation& r) const {
    const std::string& s = r.sign;
    const std::string sign = !latex_ ? s : s == "!=" ? "\\neq" : s == ">=" ? "\\geq" : s;
    return fmt::format("{} {} {}", print(r.sides[0]), sign, print(r.sides[1]));
  }
  std::string product_of(const FormulaQuadratic& q) const {
    const std::string p = print(q.precision[0]), mean = print(q.mean[0]);
    return q.square ? format("{0}' * {1} * {0}", "{{{0}}}^{{\\top}} {1} \\, {0}", mean, p)
                    : format("{} * {}", "{} \\, {}", p, mean);
  }

  std::string spell(const FormulaNumber& n) const {
    const std::string s = fmt::format("{:.6g}", n.value);
    const std::size_t e = s.find('e');
    if (!latex_ || e == std::string::npos) return s;
    return fmt::format("{} \\cdot 10^{{{}}}", s.substr(0, e), std::stoi(s.substr(e + 1)));
  }
  std::string spell(const FormulaSymbol& s) const {
    if (!latex_) return indexed(indexed(s.name, s.axes), s.event);
    Formulas all = s.axes;
    all.insert(all.end(), s.event.begin(), s.event.end());
    return indexed(name(s.name), all);
  }
  std::string spell(const FormulaIndex& i) const {
    return i.offset == 0 ? name(i.bound) : fmt::format("{}{:+}", name(i.bound), i.offset);
  }
  std::string spell(const FormulaAdd& a) const {
    std::string out;
    for (Formula part : a.parts) {
      const bool minus = take_minus(part);
      if (!out.empty()) out += minus ? " - " : " + ";
      else if (minus) out += "-";
      out += at_level(part, kProduct);
    }
    return out.empty() ? std::string("0") : out;
  }
  std::string spell(const FormulaMultiply& p) const {
    const std::string_view times = latex_ ? " \\, " : " * ";
    std::string numerator;
    std::vector<std::string> denominator;
    for (std::size_t k = 0; k < p.factors.size(); ++k) {
      const Formula& f = p.factors[k];
      const auto* number = std::get_if<FormulaNumber>(&f.form);
      if (is_reciprocal(f)) {
        denominator.push_back(at_level(std::get<FormulaApply>(f.form).argument[0], kAtom));
      } else if (number && number->value == -1 && numerator.empty()) {
        numerator = "-";
      } else {
        const bool open = k + 1 == p.factors.size() && std::holds_alternative<FormulaSum>(f.form);
        if (!numerator.empty() && numerator != "-") numerator += times;
        numerator += open ? print(f) : at_level(f, kAtom);
      }
    }
    if (numerator.empty() || numerator == "-") numerator += "1";
    if (denominator.empty()) return numerator;
    return format("{} / {}", "\\frac{{{}}}{{{}}}", numerator, listed(denominator, {}, latex_ ? times : " / "));
  }
  std::string spell(const FormulaApply& a) const {
    const Formula& x = a.argument[0];
    const math::FunctionRow& row = row_of(a.function);
    const std::string plain = print(x), closed = in_brackets(plain);
    const std::string juxtaposed = std::holds_alternative<FormulaSymbol>(x.form) ? " " + plain
                                   : latex_                                      ? " " + closed
                                                                                 : closed;
    return format(row.text, row.latex, plain, closed, level_of(x) < kProduct ? closed : plain,
                  level_of(x) < kAtom ? closed : plain, juxtaposed);
  }
  std::string spell(const FormulaSquare& s) const {
    if (!latex_) return at_level(s.base[0], kAtom) + "^2";
    const std::string base = print(s.base[0]);
    const bool simple = base.find('_') == std::string::npos && level_of(s.base[0]) == kAtom;
    return (simple ? base : in_brackets(base)) + "^{2}";
  }
  std::string spell(const FormulaSum& s) const {
    std::string under = listed(
        s.bounds, [&](const std::string& b) { return name(b); }, comma());
    if (!s.conditions.empty())
      under = format("{} | {}", "\\substack{{{} \\\\ {}}}", under, list_bare(s.conditions, latex_ ? " \\\\ " : ", "));
    return format("sum({}) {}", "\\sum_{{{}}} {}", under, at_level(s.body[0], kProduct));
  }
  std::string spell(const FormulaRelation& r) const { return format("[{}]", "\\left[{}\\right]", relation(r)); }
  std::string spell(const FormulaPresent& p) const {
    return format("present({})", "{} \\text{{ present}}", print(p.element[0]));
  }
  std::string spell(const FormulaExpectation& e) const {
    return format("E[{}]", "\\mathbb{{E}}\\left[{}\\right]", list_bare(e.body));
  }
  std::string spell(const FormulaEntropy& e) const {
    return format("H[q({})]", "\\mathbb{{H}}\\left[q({})\\right]", list(e.elements));
  }
  std::string spell(const FormulaSize& s) const {
    return latex_ ? indexed("\\left|" + latex_name(s.plate) + "\\right|", s.row)
                  : fmt::format("size({})", indexed(s.plate, s.row));
  }
  std::string spell(const FormulaInverse& i) const {
    return indexed(format("inverse({})", "\\left({}\\right)^{{-1}}", print(i.matrix[0])), i.indices);
  }
  std::string spell(const FormulaQuadratic& q) const {
    if (q.square) return latex_ ? product_of(q) : in_brackets(product_of(q));
    return indexed(in_brackets(product_of(q)), q.event);
  }

  bool latex_;
};

constexpr Printer kText(false), kLatex(true);

}  // namespace

std::string text(const Formula& f) { return kText.print(f); }
std::string latex(const Formula& f) { return kLatex.print(f); }
std::string summand_text(const Formula& f) { return kText.at_level(f, kProduct); }
std::string summand_latex(const Formula& f) { return kLatex.at_level(f, kProduct); }

}  // namespace lehr::conditionals
