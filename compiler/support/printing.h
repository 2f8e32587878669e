// What the printers of every rung share: lists, and infix text that knows how tightly it binds.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace lehr {

/// `text` of every element (a function or a member) with `between` them.
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

/// `[list]`, or nothing of an empty list.
inline std::string bracketed(const std::string& list) { return list.empty() ? "" : "[" + list + "]"; }

/// How tightly a text binds: a + b; sum(j) a, -a; a * b; what a power or a prefix may stand at; names and calls.
enum Strength { kSum, kTerm, kProduct, kFactor, kAtom };

struct Infix {
  std::string text;
  int strength = kAtom;

  /// In parentheses where it binds less tightly than `needed`.
  std::string at(int needed) const { return strength < needed ? "(" + text + ")" : text; }
};

}  // namespace lehr
