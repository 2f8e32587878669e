// Normal variables and the precision that scales them, in one factor (a multivariate NormalGamma).
//
// The numbers of the Normal variables are laid end to end in one vector. Every term with one of them must be a multiple
// of the precision tau. Example: b[j] ~ Normal(0, precision = c * tau), y[n] ~ Normal(sum(j) b[j] * x[n, j], precision
// = tau).
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

/// Returns true for a number and a precision on the same plates. They are a NormalGamma without a joint variable.
bool are_a_pair(const Model& m, const std::vector<VariableId>& members) {
  if (members.size() != 2 ||
      std::ranges::any_of(members, [&](VariableId v) { return m[v].support == Support::vector; }))
    return false;
  return std::ranges::all_of(member_layouts(m, {members}), [](const Member& x) { return x.own.empty(); });
}

}  // namespace

bool are_scaled(const Model& m, const std::vector<VariableId>& members) {
  const auto is_scale = [&](VariableId v) { return m[v].support == Support::positive; };
  const auto fits = [&](VariableId v) { return is_scale(v) || is_normal(m, v); };
  return members.size() > 1 && std::ranges::all_of(members, fits) && std::ranges::count_if(members, is_scale) == 1 &&
         !are_a_pair(m, members);
}

std::optional<std::string> why_not_scaled(const Model& m, const model::JointGuide& guide) {
  for (const Member& member : member_layouts(m, guide)) {
    const model::Variable& v = m[member.variable];
    if (v.support == Support::positive && !member.own.empty())
      return fmt::format("not all of them lie on plate '{}' of '{}', so that they have several precisions",
                         m[m[v.axes[member.own[0]]].set].name, v.name);
  }
  return why_not_coordinates(m, guide);
}

VariableId add_scaled(Model& m, model::JointGuide guide) {
  std::ranges::stable_partition(guide.members, [&](VariableId v) { return is_normal(m, v); });
  const VariableId joint = add_joint(m, Support::scaled, member_layouts(m, guide));
  m.variables[joint.index()].event = {add_coordinates(m, joint)};
  return joint;
}

AtomTranslation scaled_translation(density::Algebra& a, const Model& m, VariableId joint) {
  return
      [&m, joint, of_vector = vector_translation(a, m, joint)](density::Term& t, const Atom& x) -> std::optional<Atom> {
        if (is_normal(m, x.variable)) return of_vector(t, x);
        if (x.stat != Stat::value && x.stat != Stat::log) return std::nullopt;
        Atom out{joint, {}, x.stat, {}, {}};
        for (const std::size_t axis : m[joint].auxiliary->members.back().shared)
          out.axes.push_back(x.axes[axis]);
        return out;
      };
}

}  // namespace lehr::conditionals
