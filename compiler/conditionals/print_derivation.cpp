// Lays out a derivation as text and as JSON. In the text, long sums take one line for each summand, and the lines of
// the model stand in a column on the right.
#include "compiler/conditionals/print_derivation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/support/printing.h"

namespace lehr::conditionals {
namespace {

constexpr std::size_t kWidth = 100;   // characters that an equation on one line may have
constexpr std::size_t kColumn = 114;  // the last column at which line numbers may begin

/// Returns the sum of the parts as one formula.
Formula whole(const std::vector<DerivedPart>& parts) {
  FormulaAdd sum;
  for (const DerivedPart& p : parts) {
    if (const auto* inner = std::get_if<FormulaAdd>(&p.formula.form)) {
      sum.parts.insert(sum.parts.end(), inner->parts.begin(), inner->parts.end());
    } else {
      sum.parts.push_back(p.formula);
    }
  }
  if (sum.parts.size() == 1) return sum.parts[0];
  return {std::move(sum)};
}

/// Returns the right side of an equation as one formula.
Formula right_side(const Equation& q) {
  Formula sum = whole(q.parts);
  if (!q.divisor) return sum;
  return product({std::move(sum), {FormulaApply{math::Function::reciprocal, {*q.divisor}}}});
}

/// Returns the left side of an equation.
std::string left_text(const Equation& q) { return (q.inverse ? "inverse " : "") + text(q.left); }

/// A line of output, with the lines of the model that stand beside it.
struct Row {
  std::string left;        // the text
  std::vector<int> lines;  // the lines of the model
};

/// Returns the number of characters of a UTF-8 text (bytes that continue a character do not count).
std::size_t width(const std::string& s) {
  return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Returns the lines of output, with line numbers aligned in one column.
std::string rows_text(const std::vector<Row>& rows) {
  std::size_t column = 0;
  for (const Row& r : rows)
    column = std::max(column, std::min(width(r.left), kColumn));
  std::string out;
  for (const Row& r : rows) {
    if (r.lines.empty()) {
      out += r.left + "\n";
      continue;
    }
    const std::string padding(column > width(r.left) ? column - width(r.left) : 0, ' ');
    out += fmt::format("{}{}    ({} {})\n", r.left, padding, r.lines.size() == 1 ? "line" : "lines",
                       fmt::join(r.lines, ", "));
  }
  return out;
}

/// Returns a line with one summand: `first`, then its sign (a plus only if it is not the leading summand), then the
/// summand.
Row part_row(const DerivedPart& p, const std::string& first, bool leading) {
  Formula f = p.formula;
  const bool minus = take_minus(f);
  return {first +
              (leading ? (minus ? "-" : "")
               : minus ? "- "
                       : "+ ") +
              (leading ? text(f) : summand_text(f)),
          p.lines};
}

/// Appends an equation, in one line if it is short, else with a line for each summand.
void add_rows(const Equation& q, std::vector<Row>& out) {
  const std::string left = "    " + left_text(q) + " = ";
  const std::string one_line = left + text(right_side(q));
  if (width(one_line) <= kWidth || q.parts.size() < 2) {
    out.push_back({one_line, all_lines(q.parts)});
    return;
  }
  const std::string indent(width(left) - 2, ' ');
  for (std::size_t k = 0; k < q.parts.size(); ++k) {
    out.push_back(part_row(q.parts[k], k == 0 ? left + (q.divisor ? "(" : "") : indent, k == 0));
  }
  if (q.divisor) {
    const Formula reciprocal{FormulaApply{math::Function::reciprocal, {*q.divisor}}};
    out.push_back({indent + ")" + text(reciprocal).substr(1), {}});  // "1 / ...", without the 1
  }
}

/// Returns several equations.
std::string equations_text(const std::vector<Equation>& equations) {
  std::vector<Row> rows;
  for (const Equation& q : equations)
    add_rows(q, rows);
  return rows_text(rows);
}

/// Returns the elements as a list.
std::string names(const Formulas& elements) { return listed(elements, text); }

/// Returns the derivation of one block.
std::string block_text(const DerivedBlock& b) {
  const std::string v = names(b.elements);
  std::string out;
  if (!b.conditional.empty()) out = fmt::format("{} | rest ~ {}\n", v, b.family) + equations_text(b.conditional);
  if (b.chain) {
    out += fmt::format("q({}) = {} chain over {}, by {}\n", names(b.chains), b.family, *b.chain, b.algorithm);
    return out + equations_text(b.update);
  }
  out += b.point ? fmt::format("{} := mode of {}\n", v, b.family) : fmt::format("q({}) = {}\n", v, b.family);
  out += equations_text(b.update);
  if (!b.chosen_for.empty()) out += rows_text({{"  " + why_joint(b), b.chosen_for}});
  if (!b.sequential.empty()) {
    out += fmt::format("  updated one {} after another: elements that differ there share a term\n",
                       fmt::join(b.sequential, ", one "));
  }
  return out;
}

/// Returns the summands as JSON.
nlohmann::ordered_json json_of(const std::vector<DerivedPart>& parts) {
  auto out = nlohmann::ordered_json::array();
  for (const DerivedPart& p : parts)
    out.push_back({{"expression", text(p.formula)}, {"lines", p.lines}});
  return out;
}

/// Returns the equations as JSON.
nlohmann::ordered_json json_of(const std::vector<Equation>& equations) {
  auto out = nlohmann::ordered_json::array();
  for (const Equation& q : equations) {
    out.push_back({{"parameter", left_text(q)}, {"expression", text(right_side(q))}, {"lines", all_lines(q.parts)}});
  }
  return out;
}

}  // namespace

std::string print_text(const Derivation& d) {
  std::string out = fmt::format("model {} ({})\n", d.model, d.file);
  out += "\nComplete conditionals and mean-field updates. [a = b] is 1 where it holds, else 0.\n";
  for (const DerivedBlock& b : d.blocks)
    out += "\n" + block_text(b);
  out += "\nELBO\n";
  for (const Diagnostic& note : d.elbo_notes)
    out += "  (" + note.text + ")\n";
  std::vector<Row> rows;
  for (const std::vector<DerivedPart>* parts : {&d.elbo, &d.entropies}) {
    for (const DerivedPart& p : *parts)
      rows.push_back(part_row(p, rows.empty() ? "      " : "    ", rows.empty()));
  }
  out += rows_text(rows);
  if (!d.invariances.empty()) out += "\nInvariances of the likelihood, of which the best is chosen between sweeps\n";
  for (const std::string& x : d.invariances)
    out += "    " + x + "\n";
  return out;
}

std::string print_json(const Derivation& d) {
  nlohmann::ordered_json out{{"model", d.model}, {"file", d.file}, {"blocks", nlohmann::ordered_json::array()}};
  for (const DerivedBlock& b : d.blocks) {
    out["blocks"].push_back({{"variable", names(b.elements)},
                             {"family", b.family},
                             {"point", b.point},
                             {"chain", b.chain ? nlohmann::ordered_json(*b.chain) : nlohmann::ordered_json()},
                             {"algorithm", b.chain ? nlohmann::ordered_json(b.algorithm) : nlohmann::ordered_json()},
                             {"sequential", b.sequential},
                             {"why", why_joint(b)},
                             {"conditional", json_of(b.conditional)},
                             {"update", json_of(b.update)}});
  }
  out["elbo"] = json_of(d.elbo);
  out["entropies"] = json_of(d.entropies);
  out["elbo_notes"] = texts_of(d.elbo_notes);
  out["invariances"] = d.invariances;
  return out.dump(2) + "\n";
}

}  // namespace lehr::conditionals
