// Helpers of the printers of all intermediate representations: separated lists, and infix text with only the
// parentheses that it needs. An operand is parenthesised if its operator binds less tightly than its context demands.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace lehr {

/// Joins the texts of all elements of a range, with `between` in between. `text` maps an element to a string; it may be
/// a function or a pointer to a member.
template <class Range, class Text = std::identity>
std::string listed(Range&& all, Text text = {}, std::string_view between = ", ") {
  std::string out;
  bool first = true;
  for (const auto& x : all) {
    if (!first) out += between;
    out += std::invoke(text, x);
    first = false;
  }
  return out;
}

/// Returns `[list]`, or an empty string if the list is empty: the indices behind a printed name, as in `mu[k]`.
inline std::string bracketed(const std::string& list) { return list.empty() ? "" : "[" + list + "]"; }

/// How tightly the outermost operator of a printed expression binds, from loose to tight. kSum: `a + b`; kTerm: what
/// may stand behind a minus; kProduct: `a * b`; kFactor: what may stand behind `*` or `/`; kAtom: a name, number or
/// call.
enum Strength { kSum, kTerm, kProduct, kFactor, kAtom };

/// A printed expression and the binding strength of its outermost operator, so that a printer adds only the parentheses
/// that an operand needs.
struct Infix {
  std::string text;      // the expression without outer parentheses
  int strength = kAtom;  // how tightly its outermost operator binds: a Strength

  /// Returns the text, in parentheses if it binds less tightly than `needed`, a Strength.
  std::string at(int needed) const { return strength < needed ? "(" + text + ")" : text; }
};

}  // namespace lehr
