// A category or bit z and the number x that it switches, in one factor: probabilities of z, and a Normal of x for each
// value. A statistic of x alone becomes a sum over the values: x is sum_k [z = k] x.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/conditionals/join.h"

namespace lehr::conditionals {
namespace {

using density::Atom;
using math::Stat;
using math::Support;
using model::Member;
using model::Model;
using model::VariableId;

/// Returns true for a bit or a category.
bool is_switch(const Model& m, VariableId v) {
  return m[v].support == Support::bit || m[v].support == Support::category;
}

}  // namespace

bool are_switched(const Model& m, const std::vector<VariableId>& members) {
  return members.size() == 2 && is_switch(m, members[0]) != is_switch(m, members[1]) &&
         std::ranges::any_of(members, [&](VariableId v) { return m[v].support == Support::real; });
}

std::optional<std::string> why_not_switched(const Model& m, const model::JointGuide& guide) {
  for (const Member& member : member_layouts(m, guide))
    if (!member.own.empty()) return fmt::format("'{}' has a plate that the other has not", m[member.variable].name);
  return std::nullopt;
}

VariableId add_switched(Model& m, model::JointGuide guide) {
  std::vector<VariableId>& members = guide.members;
  if (!is_switch(m, members[0])) std::swap(members[0], members[1]);
  const model::Variable chosen = m[members[0]];  // a copy: the joint variable is added below
  const VariableId joint = add_joint(m, Support::switched, member_layouts(m, guide));
  std::optional<model::PlateId> values = chosen.value_plate;
  if (!values)
    values =
        add_plate(m, fmt::format("value({})", chosen.name), chosen.span, add_expr(m, model::Number{2}, chosen.span));
  m.variables[joint.index()].value_plate = values;
  return joint;
}

AtomTranslation switched_translation(density::Algebra& a, const Model& m, VariableId joint) {
  return [&a, &m, joint](density::Term& t, const Atom& x) -> std::optional<Atom> {
    const std::vector<Member>& members = m[joint].auxiliary->members;
    const auto member = std::ranges::find(members, x.variable, &Member::variable);
    Atom out{joint, {}, Stat::indicator, x.event, {}};
    for (const std::size_t axis : member->shared)
      out.axes.push_back(x.axes[axis]);
    // The category: its indicator stays, and the value of a bit is the indicator of 1.
    if (member == members.begin()) {
      if (x.stat == Stat::value) out.event = {a.index(density::IndexConstant{1})};
      return x.stat == Stat::value || x.stat == Stat::indicator ? std::optional(out) : std::nullopt;
    }
    if (x.stat != Stat::value && x.stat != Stat::square) return std::nullopt;
    out.stat = x.stat == Stat::value ? Stat::switched : Stat::switched_square;
    const model::PlateId values = m[*m[joint].value_plate].set;
    // The sum over the values is a selector, so that [z = j] x [z = k] can be merged.
    t.index_vars.push_back(a.bound({m[values].name, values, std::nullopt, true}));
    out.event = {a.index(t.index_vars.back())};
    return out;
  };
}

}  // namespace lehr::conditionals
