// Lays out a derivation as a LaTeX document: one align* for each equation, with one summand a row if a sum is long.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "compiler/conditionals/print_derivation.h"
#include "compiler/support/printing.h"

namespace lehr::conditionals {
namespace {

constexpr std::size_t kRow = 110;  // characters of LaTeX in one row at most, a rough measure of its printed width

/// Returns a text with LaTeX's special characters escaped.
std::string escape(const std::string& s) {
  std::string out;
  for (char c : s) {
    if (std::string_view("_%&#${}").find(c) != std::string_view::npos) out += '\\';
    if (c == '\\' || c == '~' || c == '^') out += "\\char`\\";
    out += c;
  }
  return out;
}

/// Returns the line numbers beside an equation.
std::string lines_latex(const std::vector<int>& lines) {
  if (lines.empty()) return "";
  return fmt::format(" && \\text{{\\footnotesize {} {}}}", lines.size() == 1 ? "line" : "lines",
                     fmt::join(lines, ", "));
}

/// Returns a row for each summand. `leading`: the first one has no plus sign.
std::string summand_rows(const std::vector<DerivedPart>& parts, bool leading) {
  std::string out;
  for (const DerivedPart& p : parts) {
    Formula f = p.formula;
    const bool minus = take_minus(f);
    const std::string sign = leading ? (minus ? "-" : "") : minus ? "{} - " : "{} + ";
    out += fmt::format("{}{}{}{}", leading ? "" : " \\\\\n  &\\quad ", sign, summand_latex(f), lines_latex(p.lines));
    leading = false;
  }
  return out;
}

/// Returns an align* environment.
std::string align(const std::string& body) { return "\\begin{align*}\n  " + body + "\n\\end{align*}\n"; }

/// Returns the left side of an equation.
std::string left_latex(const Equation& q) { return (q.inverse ? "\\text{inverse } " : "") + latex(q.left); }

/// Returns an equation. A divisor is multiplied to the left side.
std::string equation_latex(const Equation& q) {
  std::string left = left_latex(q);
  if (q.divisor) left = latex(*q.divisor) + " \\cdot " + left;
  if (q.parts.empty()) return align(left + " &= 0");
  std::size_t length = 0;
  FormulaAdd sum;
  for (const DerivedPart& p : q.parts) {
    length += latex(p.formula).size();
    sum.parts.push_back(p.formula);
  }
  if (length > kRow && q.parts.size() > 1) return align(left + " &= " + summand_rows(q.parts, true));
  return align(left + " &= " + latex({std::move(sum)}) + lines_latex(all_lines(q.parts)));
}

/// Returns the derivation of one block.
std::string block_latex(const DerivedBlock& b) {
  const std::string v = listed(b.elements, latex);
  std::string out = fmt::format("\\subsection*{{$ {} $}}\n", v);
  if (!b.conditional.empty()) {
    out += fmt::format("Complete conditional: $ {} \\mid \\text{{rest}} \\sim \\mathrm{{{}}} $ with\n", v, b.family);
  }
  for (const Equation& q : b.conditional)
    out += equation_latex(q);
  if (b.chain) {
    out += fmt::format("Update: $ q({}) $, a $ \\mathrm{{{}}} $ chain over $ {} $, by {}, with\n", latex(b.chains[0]),
                       b.family, latex_name(*b.chain), b.algorithm);
  } else if (b.point) {
    out += fmt::format("Update: the mode of $ \\mathrm{{{}}} $ with\n", b.family);
  } else {
    out += fmt::format("Update: $ q({}) = \\mathrm{{{}}} $ with\n", v, b.family);
  }
  for (const Equation& q : b.update)
    out += equation_latex(q);
  return out + "\n";
}

}  // namespace

std::string print_latex(const Derivation& d) {
  std::string out =
      "\\documentclass{article}\n"
      "\\usepackage[utf8]{inputenc}\n"
      "\\usepackage[margin=2cm]{geometry}\n"
      "\\usepackage{amsmath,amssymb}\n"
      "\\allowdisplaybreaks\n"
      "\\begin{document}\n";
  out += fmt::format("\\section*{{The model \\texttt{{{}}}}}\n", escape(d.model));
  out += fmt::format("Line numbers are those of \\texttt{{{}}}. $[a = b]$ is 1 where it holds, else 0.\n\n",
                     escape(d.file));
  for (const DerivedBlock& b : d.blocks)
    out += block_latex(b);
  out += "\\subsection*{Evidence lower bound}\n";
  for (const Diagnostic& note : d.elbo_notes)
    out += escape(note.text) + "\n\n";
  std::vector<DerivedPart> all = d.elbo;
  all.insert(all.end(), d.entropies.begin(), d.entropies.end());
  out += align("\\mathrm{ELBO} &= " + summand_rows(all, true));
  return out + "\\end{document}\n";
}

}  // namespace lehr::conditionals
