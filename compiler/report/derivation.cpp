// A derivation in MathML. Short equations stand on one line; longer ones have one summand a line, each with its line
// numbers of the model.
#include "compiler/report/derivation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/report/page.h"
#include "compiler/support/printing.h"

namespace lehr::report {
namespace {

using namespace conditionals;

constexpr std::size_t kRow = 60;  // characters of text on a line, a rough measure of the printed width

/// Returns the name as a MathML identifier.
std::string identifier(std::string_view name) { return fmt::format("<mi>{}</mi>", name); }
/// Returns the sign as a MathML operator.
std::string operation(std::string_view sign) { return fmt::format("<mo>{}</mo>", sign); }

/// Wraps MathML for use inside a sentence.
Markup math(const std::string& inside) { return element("math", Markup::from_html(inside)); }
/// Wraps MathML in the larger style of displayed formulas.
Markup display(const std::string& inside) {
  return element("math", {{"display", "inline"}, {"displaystyle", "true"}}, Markup::from_html(inside));
}

/// Returns "line 4" or "lines 4, 7"; an empty element without lines, to keep the columns.
Markup lines_of(const std::vector<int>& lines) {
  if (lines.empty()) return text_element("small", "");
  return text_element("small", fmt::format("{} {}", lines.size() == 1 ? "line" : "lines", fmt::join(lines, ", ")));
}

/// Returns one line of an equation with the model lines it comes from. `more`: it continues the line before.
Markup line(const std::string& inside, const std::vector<int>& lines, bool more) {
  return element("div", {{"class", more ? "more" : ""}}, display(inside)) + lines_of(lines);
}

/// Returns the summands one a line, the first of them after `left`. A leading minus of a summand becomes its sign.
Markup summands(const std::string& left, const std::vector<DerivedPart>& parts) {
  Markup out;
  for (const DerivedPart& p : parts) {
    Formula f = p.formula;
    const bool minus = take_minus(f), first = out.empty();
    const std::string sign = minus ? operation("−") : first ? "" : operation("+");
    out += line((first ? left : "") + sign + summand_mathml(f), p.lines, !first);
  }
  return out;
}

/// Returns the number of characters of all summands as plain text.
std::size_t length(const std::vector<DerivedPart>& parts) {
  std::size_t out = 0;
  for (const DerivedPart& p : parts)
    out += conditionals::text(p.formula).size();
  return out;
}

/// Returns an equation on one line, or on several if it is long.
Markup equation(const Equation& q) {
  std::string left = mathml(q.left) + operation("=");
  if (q.inverse) left = "<mtext>inverse </mtext>" + left;
  if (q.divisor) left = mathml(*q.divisor) + operation("·") + left;
  Markup body;
  if (q.parts.empty()) {
    body = line(left + "<mn>0</mn>", {}, false);
  } else if (q.parts.size() > 1 && length(q.parts) > kRow) {
    body = summands(left, q.parts);
  } else {
    FormulaAdd sum;
    for (const DerivedPart& p : q.parts)
      sum.parts.push_back(p.formula);
    body = line(left + mathml({std::move(sum)}), all_lines(q.parts), false);
  }
  return element("div", {{"class", "eq"}}, body);
}

/// Returns all equations.
Markup equations(const std::vector<Equation>& all) {
  Markup out;
  for (const Equation& q : all)
    out += equation(q);
  return out;
}

/// Returns the elements separated by commas.
std::string named(const Formulas& elements) { return listed(elements, mathml, "<mo>,</mo>"); }

/// Returns the formula name(of), as q(mu).
std::string density(std::string_view name, const std::string& of) {
  return identifier(name) + operation("(") + of + operation(")");
}

/// Returns the derivation of one block: its complete conditional, how it is updated, and its variational update.
Markup block(const DerivedBlock& b) {
  const std::string v = named(b.elements);
  Markup out = element("h3", math(v));
  if (!b.conditional.empty()) {
    const std::string given = v + operation("|") + "<mtext>rest</mtext>" + operation("∼") + identifier(b.family);
    out += element("p", text("Complete conditional: ") + math(given)) + equations(b.conditional);
  }
  if (b.chain) {
    out += element("p", text("Update: ") + math(density("q", named(b.chains))) +
                            text(fmt::format(", a {} chain over {}, by {}", b.family, *b.chain, b.algorithm)));
  } else if (b.point) {
    out += element("p", text(fmt::format("Update: the mode of {} with", b.family)));
  } else {
    out += element("p", text("Update: ") + math(density("q", v) + operation("=") + identifier(b.family)));
  }
  out += equations(b.update);
  if (!b.chosen_for.empty())
    out += text_element("p", fmt::format("It is {}.", conditionals::why_joint(b)), {{"class", "quiet"}});
  if (!b.sequential.empty()) {
    out += text_element("p",
                        fmt::format("Updated one {} after another: elements that differ there share a term.",
                                    fmt::join(b.sequential, ", one ")),
                        {{"class", "quiet"}});
  }
  return out;
}

}  // namespace

Markup derivation(const Derivation& d) {
  Markup out =
      element("p", {{"class", "quiet"}},
              text("Line numbers are those of the model. ") +
                  math("<mo>[</mo><mi>a</mi><mo>=</mo><mi>b</mi><mo>]</mo>") + text(" is 1 where it holds, else 0."));
  for (const DerivedBlock& b : d.blocks)
    out += block(b);
  out += text_element("h3", "Evidence lower bound");
  for (const Diagnostic& note : d.elbo_notes)
    out += text_element("p", note.text, {{"class", "quiet"}});
  std::vector<DerivedPart> all = d.elbo;
  all.insert(all.end(), d.entropies.begin(), d.entropies.end());
  return out + element("div", {{"class", "eq"}}, summands(identifier("ELBO") + operation("="), all));
}

Markup listing(std::string_view text) {
  Markup out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += text_element("li", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return element("ol", {{"class", "model"}}, out);
}

std::string derivation_page(const Derivation& d, std::string_view text) {
  const std::string title = "Derivation of " + d.model;
  return page(title, text_element("h1", title) + text_element("p", d.file, {{"class", "quiet"}}),
              {{"model", "Model", listing(text)}, {"derivation", "Derivation", derivation(d)}});
}

}  // namespace lehr::report
