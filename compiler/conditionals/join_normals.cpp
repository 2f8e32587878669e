// Normal variables that share a factor: their numbers are laid end to end as the coordinates of one vector.
//
// Example: `guide joint(a, b)` with a[k] and b[k, j] on the plate k of 5 elements, j of 3. The joint variable has an
// element for each k, and 4 coordinates: a[k], then b[k, 0 .. 2].
#include <fmt/format.h>

#include <algorithm>

#include "compiler/conditionals/join.h"
#include "compiler/math/sparse_pattern.h"
#include "compiler/model/walk.h"

namespace lehr::conditionals {
namespace {

using density::Atom;
using math::Stat;
using model::Member;
using model::Model;
using model::PlateId;
using model::VariableId;

/// Returns true if elements of the plate, or of a plate that it is nested in, stand for several copies (`times`).
bool has_copies(const Model& m, PlateId set) {
  for (std::optional<PlateId> p = set; p; p = m[m[*p].set].parent)
    if (m[m[*p].set].times) return true;
  return false;
}

/// Returns true for x and x_j.
bool is_linear(const Atom& x) { return x.stat == Stat::value || x.stat == Stat::comp; }
/// Returns true for x^2 and x_j x_l.
bool is_quadratic(const Atom& x) { return x.stat == Stat::square || x.stat == Stat::comp2; }

}  // namespace

bool is_normal(const Model& m, VariableId v) {
  return m[v].support == math::Support::real || m[v].support == math::Support::vector;
}

bool are_normal(const Model& m, const std::vector<VariableId>& members) {
  return std::ranges::all_of(members, [&](VariableId v) { return is_normal(m, v); });
}

std::optional<std::string> why_not_coordinates(const Model& m, const model::JointGuide& guide) {
  for (const Member& member : member_layouts(m, guide)) {
    const model::Variable& v = m[member.variable];
    for (const std::size_t axis : member.own) {
      const PlateId p = m[v.axes[axis]].set;
      if (has_copies(m, p))
        return fmt::format("not all of them lie on plate '{}' of '{}', whose elements have copies", m[p].name, v.name);
      if (m[p].parent && std::ranges::find(member.shared, axis - 1) != member.shared.end())
        return fmt::format(
            "not all of them lie on plate '{}' of '{}', which has as many elements in each '{}' as the data say",
            m[p].name, v.name, m[m[*m[p].parent].set].name);
    }
  }
  return std::nullopt;
}

std::optional<std::string> why_not_one_normal(const Model& m, const model::JointGuide& guide) {
  if (!are_normal(m, guide.members)) return "they are not all Normal or MvNormal";
  return why_not_coordinates(m, guide);
}

PlateId add_coordinates(Model& m, VariableId joint) {
  const Span span = m[joint].span;
  std::vector<VariableId> members;
  std::optional<model::ExprId> size;
  for (const Member& member : m[joint].auxiliary->members) {
    if (!is_normal(m, member.variable)) continue;
    members.push_back(member.variable);
    // The numbers of this member: the product of the extents of its own axes and event axes.
    model::ExprId part = add_expr(m, model::Number{1}, span);
    for (const PlateId p : model::coordinate_plates(m, member)) {
      const model::ExprId of_plate = add_expr(m, model::SizeOf{p, {}}, span);
      part = add_expr(m, model::Binary{model::BinaryOp::multiply, part, of_plate}, span);
    }
    size = size ? add_expr(m, model::Binary{model::BinaryOp::add, *size, part}, span) : part;
  }
  return add_plate(m, fmt::format("coordinate({})", list_of_names(m, members)), span, *size);
}

VariableId add_one_normal(Model& m, model::JointGuide guide) {
  const math::Support support = guide.pattern ? math::Support::sparse : math::Support::vector;
  const VariableId joint = add_joint(m, support, member_layouts(m, guide));
  m.variables[joint.index()].event = {add_coordinates(m, joint)};
  if (!guide.pattern) return joint;
  const Span span = m[joint].span;
  const model::ExprId entries = add_expr(m, model::Number{static_cast<double>(guide.pattern->count())}, span);
  model::Auxiliary& sparse = *m.variables[joint.index()].auxiliary;
  sparse.pattern = guide.pattern;
  sparse.entries = add_plate(m, fmt::format("entry of {}", m[joint].name), span, entries);
  return joint;
}

AtomTranslation vector_translation(density::Algebra& a, const Model& m, VariableId joint) {
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
    // A number has one coordinate; its square has the same one twice.
    if (x.event.empty()) out.event.assign(is_linear(x) ? 1 : 2, a.index(std::move(c)));
    return out;
  };
}

}  // namespace lehr::conditionals
