// Prints the family table. All text is derived from the rows, so a new row needs nothing here. Formulas are printed by
// print(Expr).
#include "compiler/math/print_families.h"

#include <fmt/format.h>

#include <ranges>

#include "compiler/math/family.h"
#include "compiler/support/printing.h"

namespace lehr::math {

namespace {

/// Returns the parameters of a row as "mean, precision | variance | sd". Optional ones are in brackets.
std::string signature(const FamilyRow& row) {
  std::string text;
  const Spelling* previous = nullptr;
  for (const Spelling& s : row.spellings) {
    if (previous) text += previous->canonical == s.canonical ? " | " : ", ";
    text += s.optional ? fmt::format("[{}]", s.name) : s.name;
    previous = &s;
  }
  return text;
}

// Returns the support of a row; of a joint family both.
std::string support_text(const FamilyRow& row) {
  if (!row.joint_precision) return std::string(name_of(row.support));
  return fmt::format("{} and {}", name_of(row.support), name_of(*row.joint_precision));
}

// Returns the line about the row's factor: exported parameters and statistics.
std::string factor_text(const FamilyRow& row) {
  const auto statistic = [](const StatisticRow& s) { return name_of(s.stat); };
  auto exported = row.factor->parameters | std::views::filter(&FactorParameter::exported);
  return fmt::format("  posterior   {}; from terms in {}\n", listed(exported, &FactorParameter::name),
                     listed(row.factor->statistics, statistic));
}

}  // namespace

std::string print_families() {
  std::string text = "D is the size of the event axis; positional arguments where all of them are unambiguous.\n";
  for (const FamilyRow& row : families()) {
    text += fmt::format("\n{}({}){}\n", row.name, signature(row), row.positional ? "" : "  named arguments only");
    text += fmt::format("  {}\n", row.summary);
    text += fmt::format("  support     {}\n", support_text(row));
    for (const Spelling& s : row.spellings) {
      if (s.convert) text += fmt::format("  {:<11} {} = {}\n", s.name, s.canonical, print(*s.convert));
    }
    text += fmt::format("  log density {}\n", print(row.log_density));
    if (row.factor) text += factor_text(row);
  }
  return text;
}

}  // namespace lehr::math
