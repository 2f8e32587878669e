// Splits Gaussian vectors into entries. Entry j is Normal, with mean[j] and the j-th diagonal element of the precision.
// Parameters that the user typed are matched with those of Normal by name.
#include "compiler/math/entries.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lehr::math {

Entries independent_entries(const FamilyRow& row) {
  const FamilyRow& number = *find_family("Normal");
  const Expr precision = symbol("precision", kFirst), gap = symbol("x", kFirst) - symbol("mean", kFirst);
  Entries out{0.5 * log(precision) - 0.5 * std::log(2 * std::numbers::pi) - 0.5 * precision * gap * gap, {}};
  for (const Spelling& s : row.spellings) {
    const std::string name = s.name == "covariance" ? "variance" : s.name;
    out.spelled[s.name] = &*std::ranges::find(number.spellings, name, &Spelling::name);
  }
  return out;
}

}  // namespace lehr::math
