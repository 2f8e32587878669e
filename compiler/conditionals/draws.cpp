// The conditionals with draws in the place of expectations.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {
namespace {

/// Copies of an element that share a factor are no single draw, unless they are shares of a category that stands alone.
std::string copied(const model::Model& m, const Conditionals& c, const Block& b) {
  const auto owns = [&](const model::Variable& v) {
    return std::ranges::any_of(v.axes, [&](model::PlateId p) { return m[m[p].set].times.has_value(); });
  };
  if (!owns(m[b.variable])) return "";
  const bool alone = std::ranges::none_of(c.blocks, [&](const Block& other) {
    return &other != &b && owns(m[other.variable]) && !m[other.variable].auxiliary;
  });
  if (alone && b.family->factor->softmax && !b.chain) return "";
  return fmt::format("'{}' has copies (`times`), which would each need a draw of their own", m[b.variable].name);
}

}  // namespace

std::variant<Conditionals, std::string> with_draws(const model::Model& m, Conditionals c) {
  for (Block& b : c.blocks) {
    b.factor = math::sample_factor(*b.family);
    if (!b.factor) return fmt::format("there are no draws of '{}', a {}", m[b.variable].name, b.family->name);
    if (std::string why = copied(m, c, b); !why.empty()) return why;
    b.drawn = true;
    b.point = false;
  }
  return c;
}

}  // namespace lehr::conditionals
