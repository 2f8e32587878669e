// Layout of a derivation as text and as JSON.
#include "compiler/conditionals/print_derivation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

namespace lehr::conditionals {
namespace {

constexpr std::size_t kWidth = 100;

std::string lines_text(const std::vector<int>& lines) {
  if (lines.empty()) return "";
  return fmt::format("    ({} {})", lines.size() == 1 ? "line" : "lines", fmt::join(lines, ", "));
}

std::vector<int> all_lines(const std::vector<DerivedPart>& parts) {
  std::set<int> out;
  for (const DerivedPart& p : parts) out.insert(p.lines.begin(), p.lines.end());
  return {out.begin(), out.end()};
}

Formula whole(const std::vector<DerivedPart>& parts) {
  FormulaAdd sum;
  for (const DerivedPart& p : parts) sum.parts.push_back(p.formula);
  if (sum.parts.size() == 1) return sum.parts[0];
  return {std::move(sum)};
}

/// The right hand side on one line.
Formula right_side(const Equation& q) {
  Formula sum = whole(q.parts);
  if (!q.divisor) return sum;
  return product({std::move(sum), {FormulaApply{FormulaFunction::reciprocal, {*q.divisor}}}});
}

std::string left_text(const Equation& q) { return q.before + text({q.left}); }

/// `  + part    (line 3)`, the first with `first` in place of the sign.
std::string part_line(const DerivedPart& p, const std::string& indent, const std::string& first, bool leading) {
  Formula f = p.formula;
  const bool minus = take_minus(f);
  const std::string sign = leading ? first + (minus ? "-" : "") : minus ? "- " : "+ ";
  return fmt::format("{}{}{}{}\n", indent, sign, text(f), lines_text(p.lines));
}

std::string equation_text(const Equation& q) {
  const std::string left = "    " + left_text(q) + " = ";
  const std::string one_line = left + text(right_side(q));
  if (one_line.size() <= kWidth || q.parts.size() < 2) return one_line + lines_text(all_lines(q.parts)) + "\n";
  std::string out;
  const std::string indent(left.size() - 2, ' ');
  for (std::size_t k = 0; k < q.parts.size(); ++k) {
    out += part_line(q.parts[k], k == 0 ? "" : indent, left + (q.divisor ? "(" : ""), k == 0);
  }
  if (q.divisor) out += indent + ") / " + text(*q.divisor) + "\n";
  return out;
}

std::string names(const Formulas& elements) {
  std::vector<std::string> out;
  for (const Formula& f : elements) out.push_back(text(f));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string block_text(const DerivedBlock& b) {
  const std::string v = names(b.elements);
  std::string out = fmt::format("{} | rest ~ {}\n", v, b.family);
  for (const Equation& q : b.conditional) out += equation_text(q);
  out += b.point ? fmt::format("{} := mode of {}\n", v, b.family) : fmt::format("q({}) = {}\n", v, b.family);
  for (const Equation& q : b.update) out += equation_text(q);
  if (!b.sequential.empty()) {
    out += fmt::format("  updated one {} after another: elements that differ there share a term\n",
                       fmt::join(b.sequential, ", one "));
  }
  return out;
}

nlohmann::ordered_json json_of(const std::vector<DerivedPart>& parts) {
  auto out = nlohmann::ordered_json::array();
  for (const DerivedPart& p : parts) out.push_back({{"expression", text(p.formula)}, {"lines", p.lines}});
  return out;
}

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
  for (const DerivedBlock& b : d.blocks) out += "\n" + block_text(b);
  out += "\nELBO\n";
  bool leading = true;
  for (const std::vector<DerivedPart>* parts : {&d.elbo, &d.entropies}) {
    for (const DerivedPart& p : *parts) {
      out += part_line(p, "    ", "  ", leading);
      leading = false;
    }
  }
  return out;
}

std::string print_json(const Derivation& d) {
  nlohmann::ordered_json out{{"model", d.model}, {"file", d.file}, {"blocks", nlohmann::ordered_json::array()}};
  for (const DerivedBlock& b : d.blocks) {
    out["blocks"].push_back({{"variable", names(b.elements)},
                             {"family", b.family},
                             {"point", b.point},
                             {"sequential", b.sequential},
                             {"conditional", json_of(b.conditional)},
                             {"update", json_of(b.update)}});
  }
  out["elbo"] = json_of(d.elbo);
  out["entropies"] = json_of(d.entropies);
  return out.dump(2) + "\n";
}

}  // namespace lehr::conditionals
