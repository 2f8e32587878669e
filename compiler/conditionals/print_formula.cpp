// Formulas as text in the language's notation, as LaTeX math (amsmath, amssymb) and as presentation MathML.
//
// One walk over the tree serves the three notations; each node has its three spellings side by side. Brackets are set
// by precedence: sum < product < atom.
#include <fmt/format.h>

#include <cstdlib>

#include "compiler/conditionals/formula.h"
#include "compiler/support/printing.h"

namespace lehr::conditionals {
namespace {

/// Returns true if the formula is 1 / x.
bool is_reciprocal(const Formula& f) {
  const auto* apply = std::get_if<FormulaApply>(&f.form);
  return apply && apply->function == math::Function::reciprocal;
}

/// The notation that is printed.
enum class Notation { text, latex, mathml };

/// Prints formulas in one notation.
class Printer {
 public:
  /// Sets the notation.
  constexpr explicit Printer(Notation notation) : notation_(notation) {}

  /// Returns the formula without outer brackets.
  std::string print(const Formula& f) const {
    return std::visit([&](const auto& form) { return spell(form); }, f.form);
  }
  /// Returns the formula, in brackets if it binds less strongly than `needed`.
  std::string at_level(const Formula& f, Strength needed) const {
    return level_of(f) < needed ? in_brackets(print(f)) : print(f);
  }

 private:
  /// Returns true for plain text.
  bool is_text() const { return notation_ == Notation::text; }
  /// Returns the argument of the current notation.
  template <class T>
  T either(T text, T latex, T mathml) const {
    return is_text() ? text : notation_ == Notation::latex ? latex : mathml;
  }
  /// Returns the format string of the current notation with the parts in its place holders.
  template <class... Part>
  std::string format(fmt::string_view text, fmt::string_view latex, fmt::string_view mathml,
                     const Part&... parts) const {
    return fmt::vformat(either(text, latex, mathml), fmt::make_format_args(parts...));
  }
  /// Returns the text in parentheses.
  std::string in_brackets(const std::string& s) const {
    return format("({})", "\\left({}\\right)", "<mrow><mo>(</mo>{}<mo>)</mo></mrow>", s);
  }
  /// Returns the separator of a list.
  std::string_view comma() const { return either<std::string_view>(", ", ",", "<mo>,</mo>"); }
  /// Returns a name in the current notation.
  std::string name(const std::string& s) const {
    return is_text() ? s : notation_ == Notation::latex ? latex_name(s) : mathml_name(s);
  }

  /// Returns how strongly the outermost operation of the formula binds.
  Strength level_of(const Formula& f) const {
    if (std::holds_alternative<FormulaAdd>(f.form)) return kSum;
    if (std::holds_alternative<FormulaMultiply>(f.form) || std::holds_alternative<FormulaSum>(f.form)) return kProduct;
    if (is_text() && is_reciprocal(f)) return kProduct;
    const auto* number = std::get_if<FormulaNumber>(&f.form);
    return number && number->value < 0 ? kProduct : kAtom;
  }

  /// Returns the formulas as a list.
  std::string list(const Formulas& all) const {
    return listed(
        all, [&](const Formula& f) { return print(f); }, comma());
  }
  /// Returns the formulas as a list, each without brackets of its own.
  std::string list_bare(const Formulas& all, std::string_view between) const {
    return listed(
        all, [&](const Formula& f) { return bare(f); }, between);
  }

  /// Returns `base[indices]`, or the base alone without indices. In LaTeX braces around a base that has a subscript
  /// keep it legal.
  std::string indexed(const std::string& base, const Formulas& indices) const {
    return indices.empty()
               ? base
               : format("{}[{}]", "{{{}}}_{{{}}}", "<msub><mrow>{}</mrow><mrow>{}</mrow></msub>", base, list(indices));
  }

  /// Returns a formula for use inside other brackets, where a relation or quadratic form needs none of its own.
  std::string bare(const Formula& f) const {
    const auto* r = std::get_if<FormulaRelation>(&f.form);
    const auto* q = std::get_if<FormulaQuadratic>(&f.form);
    if (q && q->event.empty() && is_text()) return product_of(*q);
    return r ? relation(*r) : print(f);
  }
  /// Returns a relation without brackets.
  std::string relation(const FormulaRelation& r) const {
    return fmt::format("{} {} {}", print(r.sides[0]), sign(r.sign), print(r.sides[1]));
  }
  /// Returns the sign of a relation.
  std::string sign(const std::string& s) const {
    if (is_text()) return s;
    const bool latex = notation_ == Notation::latex;
    if (s == "!=") return latex ? "\\neq" : "<mo>≠</mo>";
    if (s == ">=") return latex ? "\\geq" : "<mo>≥</mo>";
    return latex ? s : s == "<" ? "<mo>&lt;</mo>" : "<mo>" + s + "</mo>";
  }
  /// Returns precision * mean or mean' * precision * mean without brackets.
  std::string product_of(const FormulaQuadratic& q) const {
    const std::string p = print(q.precision[0]), mean = print(q.mean[0]);
    return q.square ? format("{0}' * {1} * {0}", "{{{0}}}^{{\\top}} {1} \\, {0}",
                             "<msup><mrow>{0}</mrow><mo>⊤</mo></msup>{1}<mspace width='0.17em'></mspace>{0}", mean, p)
                    : format("{} * {}", "{} \\, {}", "{}<mspace width='0.17em'></mspace>{}", p, mean);
  }

  std::string spell(const FormulaNumber& n) const {
    const std::string s = fmt::format("{:.6g}", n.value);
    // A number with an exponent, 1e-05, is set as a power of 10.
    const std::size_t e = s.find('e');
    if (e == std::string::npos) return format("{}", "{}", "<mn>{}</mn>", s);
    return format("{0}", "{1} \\cdot 10^{{{2}}}", "<mn>{1}</mn><mo>·</mo><msup><mn>10</mn><mn>{2}</mn></msup>", s,
                  s.substr(0, e), std::stoi(s.substr(e + 1)));
  }
  std::string spell(const FormulaSymbol& s) const {
    if (is_text()) return indexed(indexed(s.name, s.axes), s.event);
    Formulas all = s.axes;
    all.insert(all.end(), s.event.begin(), s.event.end());
    return indexed(name(s.name), all);
  }
  std::string spell(const FormulaIndex& i) const {
    if (i.offset == 0) return name(i.bound);
    return format("{0}{1:+}", "{0}{1:+}", "{0}<mo>{2}</mo><mn>{3}</mn>", name(i.bound), i.offset,
                  i.offset < 0 ? "−" : "+", std::abs(i.offset));
  }
  std::string spell(const FormulaAdd& a) const {
    std::string out;
    for (Formula part : a.parts) {
      const bool minus = take_minus(part);
      if (!out.empty()) out += minus ? either(" - ", " - ", "<mo>−</mo>") : either(" + ", " + ", "<mo>+</mo>");
      else if (minus) out += prefix_minus();
      out += at_level(part, kProduct);
    }
    return out.empty() ? spell(FormulaNumber{0}) : out;
  }
  /// Returns a minus sign in front of a sum or product.
  std::string prefix_minus() const { return either("-", "-", "<mo form='prefix'>−</mo>"); }
  std::string spell(const FormulaMultiply& p) const {
    const std::string_view times = either<std::string_view>(" * ", " \\, ", "<mspace width='0.17em'></mspace>");
    bool minus = false;
    std::string numerator;
    std::vector<std::string> denominator;
    for (std::size_t k = 0; k < p.factors.size(); ++k) {
      const Formula& f = p.factors[k];
      const auto* number = std::get_if<FormulaNumber>(&f.form);
      if (is_reciprocal(f)) {
        denominator.push_back(at_level(std::get<FormulaApply>(f.form).argument[0], kAtom));
      } else if (number && number->value == -1 && numerator.empty()) {
        minus = true;
      } else {
        // A sum at the end of a product needs no brackets, since it extends to the end.
        const bool open = k + 1 == p.factors.size() && std::holds_alternative<FormulaSum>(f.form);
        if (!numerator.empty()) numerator += times;
        numerator += open ? print(f) : at_level(f, kAtom);
      }
    }
    if (numerator.empty()) numerator = spell(FormulaNumber{1});
    if (minus) numerator = prefix_minus() + numerator;
    if (denominator.empty()) return numerator;
    return format("{} / {}", "\\frac{{{}}}{{{}}}", "<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>", numerator,
                  listed(denominator, {}, is_text() ? " / " : times));
  }
  std::string spell(const FormulaApply& a) const {
    const Formula& x = a.argument[0];
    const math::FunctionRow& row = row_of(a.function);
    const std::string plain = print(x), closed = in_brackets(plain);
    // The place holders of FunctionRow: the argument plain, in brackets, in brackets if it is a sum, in brackets unless
    // it is an atom, and as it follows a function's name.
    const std::string juxtaposed = std::holds_alternative<FormulaSymbol>(x.form) ? " " + plain
                                   : notation_ == Notation::latex                ? " " + closed
                                                                                 : closed;
    return format(row.text, row.latex, mathml_of(a.function), plain, closed, level_of(x) < kProduct ? closed : plain,
                  level_of(x) < kAtom ? closed : plain, juxtaposed);
  }
  std::string spell(const FormulaSquare& s) const {
    if (is_text()) return at_level(s.base[0], kAtom) + "^2";
    const std::string base = print(s.base[0]);
    // A base with a subscript gets brackets, so that the exponent is not read as the subscript's.
    const bool subscript = base.find('_') != std::string::npos || base.find("<msub>") != std::string::npos;
    const bool simple = !subscript && level_of(s.base[0]) == kAtom;
    return format("", "{}^{{2}}", "<msup><mrow>{}</mrow><mn>2</mn></msup>", simple ? base : in_brackets(base));
  }
  std::string spell(const FormulaSum& s) const {
    std::string under = listed(
        s.index_vars, [&](const std::string& b) { return name(b); }, comma());
    if (!s.conditions.empty())
      under = format("{} | {}", "\\substack{{{} \\\\ {}}}", kUnder, under,
                     list_bare(s.conditions, either<std::string_view>(", ", " \\\\ ", kNextUnder)));
    return format("sum({}) {}", "\\sum_{{{}}} {}", "<munder><mo>∑</mo><mrow>{}</mrow></munder>{}", under,
                  at_level(s.body[0], kProduct));
  }
  std::string spell(const FormulaRelation& r) const {
    return format("[{}]", "\\left[{}\\right]", "<mrow><mo>[</mo>{}<mo>]</mo></mrow>", relation(r));
  }
  std::string spell(const FormulaPresent& p) const {
    return format("present({})", "{} \\text{{ present}}", "{}<mtext> present</mtext>", print(p.element[0]));
  }
  std::string spell(const FormulaExpectation& e) const {
    return format("E[{}]", "\\mathbb{{E}}\\left[{}\\right]", "<mi>𝔼</mi><mrow><mo>[</mo>{}<mo>]</mo></mrow>",
                  list_bare(e.body, either<std::string_view>(", ", ", ", "<mo>,</mo>")));
  }
  std::string spell(const FormulaEntropy& e) const {
    return format("H[q({})]", "\\mathbb{{H}}\\left[q({})\\right]",
                  "<mi>ℍ</mi><mrow><mo>[</mo><mi>q</mi><mo>(</mo>{}<mo>)</mo><mo>]</mo></mrow>", list(e.elements));
  }
  std::string spell(const FormulaSize& s) const {
    if (is_text()) return fmt::format("size({})", indexed(s.plate, s.row));
    return indexed(format("", "\\left|{}\\right|", "<mrow><mo>|</mo>{}<mo>|</mo></mrow>", name(s.plate)), s.row);
  }
  std::string spell(const FormulaInverse& i) const {
    return indexed(
        format("inverse({})", "\\left({}\\right)^{{-1}}",
               "<msup><mrow><mo>(</mo>{}<mo>)</mo></mrow><mrow><mo>−</mo><mn>1</mn></mrow></msup>", print(i.matrix[0])),
        i.indices);
  }
  std::string spell(const FormulaQuadratic& q) const {
    if (q.square) return is_text() ? in_brackets(product_of(q)) : product_of(q);
    return indexed(in_brackets(product_of(q)), q.event);
  }

  /// What stands under a sum in MathML: its index variables, then a row for each condition.
  static constexpr const char *kUnder =
                                  "<mtable rowspacing='0'><mtr><mtd>{}</mtd></mtr><mtr><mtd>{}</mtd></mtr></mtable>",
                              *kNextUnder = "</mtd></mtr><mtr><mtd>";

  /// The notation.
  Notation notation_;
};

/// A printer for each notation.
constexpr Printer kText(Notation::text), kLatex(Notation::latex), kMathml(Notation::mathml);

}  // namespace

std::string text(const Formula& f) { return kText.print(f); }
std::string latex(const Formula& f) { return kLatex.print(f); }
std::string mathml(const Formula& f) { return kMathml.print(f); }
std::string summand_text(const Formula& f) { return kText.at_level(f, kProduct); }
std::string summand_latex(const Formula& f) { return kLatex.at_level(f, kProduct); }
std::string summand_mathml(const Formula& f) { return kMathml.at_level(f, kProduct); }

}  // namespace lehr::conditionals
