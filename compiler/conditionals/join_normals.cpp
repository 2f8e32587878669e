// Normal variables that share a factor: their numbers are laid end to end in one vector.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/conditionals/join.h"
#include "compiler/model/walk.h"

namespace lehr::conditionals {
namespace {

using density::Atom;
using math::Stat;
using model::Member;
using model::Model;
using model::PlateId;
using model::VariableId;

/// Whether the elements of the plate are numbered by the code and not by the data at hand.
bool is_constant(const Model& m, PlateId set) {
  const bool counted = std::ranges::any_of(
      m.variables, [&](const model::Variable& v) { return v.observed && !v.axes.empty() && m[v.axes[0]].set == set; });
  return !m[set].parent && !m[set].times && !counted;
}

bool is_linear(const Atom& x) { return x.stat == Stat::value || x.stat == Stat::comp; }
bool is_quadratic(const Atom& x) { return x.stat == Stat::square || x.stat == Stat::comp2; }

}  // namespace

bool are_normal(const Model& m, const std::vector<VariableId>& members) {
  return std::ranges::all_of(members, [&](VariableId v) {
    return m[v].support == math::Support::real || m[v].support == math::Support::vector;
  });
}

std::optional<std::string> why_not_one_normal(const Model& m, const std::vector<VariableId>& members) {
  if (!are_normal(m, members)) return "they are not all Normal or MvNormal";
  for (const Member& member : laid_out(m, members)) {
    for (const PlateId p : model::coordinate_plates(m, member)) {
      if (is_constant(m, p)) continue;
      return fmt::format("not all of them lie on plate '{}' of '{}', whose size is that of the data", m[p].name,
                         m[member.variable].name);
    }
  }
  return std::nullopt;
}

VariableId add_one_normal(Model& m, const std::vector<VariableId>& members) {
  const Span span = m[members[0]].span;
  const VariableId joint = add_joint(m, math::Support::vector, laid_out(m, members));
  std::optional<model::ExprId> size;
  for (const Member& member : m[joint].auxiliary->members) {
    model::ExprId part = add_expr(m, model::Number{1}, span);
    for (const PlateId p : model::coordinate_plates(m, member)) {
      const model::ExprId of_plate = add_expr(m, model::SizeOf{p, {}}, span);
      part = add_expr(m, model::Binary{model::BinaryOp::multiply, part, of_plate}, span);
    }
    size = size ? add_expr(m, model::Binary{model::BinaryOp::add, *size, part}, span) : part;
  }
  m.variables[joint.index()].event = {add_plate(m, fmt::format("coordinate({})", named(m, members)), span, *size)};
  return joint;
}

Counterpart in_vector(density::Algebra& a, const Model& m, VariableId joint) {
  return [&a, &m, joint](density::Term&, const Atom& x) -> std::optional<Atom> {
    if (!is_linear(x) && !is_quadratic(x)) return std::nullopt;
    const std::vector<Member>& members = m[joint].auxiliary->members;
    const auto member = std::ranges::find(members, x.variable, &Member::variable);
    density::IndexCoordinate c{joint, static_cast<std::size_t>(member - members.begin()), {}};
    for (const std::size_t axis : member->own)
      c.indices.push_back(x.axes[axis]);
    Atom out{joint, {}, is_linear(x) ? Stat::comp : Stat::comp2, {}, {}};
    for (const std::size_t axis : member->shared)
      out.axes.push_back(x.axes[axis]);
    for (const density::IndexId i : x.event) {
      density::IndexCoordinate entry = c;
      entry.indices.push_back(i);
      out.event.push_back(a.index(std::move(entry)));
    }
    if (x.event.empty()) out.event.assign(is_linear(x) ? 1 : 2, a.index(std::move(c)));
    return out;
  };
}

}  // namespace lehr::conditionals
