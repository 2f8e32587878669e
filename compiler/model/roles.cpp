// Classifies variables by walks over the expressions of the model. Masks are recognised by the suffix of their names,
// ".informed", which no name in a model file can have.
#include "compiler/model/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "compiler/model/walk.h"

namespace lehr::model {

bool is_tangent_point(const Variable& v) { return v.auxiliary && v.auxiliary->kind == Auxiliary::Kind::bound; }
bool is_source(const Variable& v) { return v.auxiliary && v.auxiliary->kind == Auxiliary::Kind::source; }

bool has_children(const Model& m, VariableId variable) {
  std::vector<ExprId> roots;
  for (const Statement& s : m.statements) {
    const auto own = roots_of(s);
    roots.insert(roots.end(), own.begin(), own.end());
  }
  for (const Potential& p : m.potentials)
    roots.push_back(p.value);
  return std::ranges::any_of(references_under(m, roots),
                             [&](const VariableRef* ref) { return ref->variable == variable; });
}

std::string why_not_clamped(const Model& m, VariableId variable) {
  const Variable& v = m[variable];
  for (const JointGuide& joint : m.guide.joint) {
    const bool normal = std::ranges::all_of(joint.members, [&](VariableId x) {
      return m[x].support == math::Support::real || m[x].support == math::Support::vector;
      // A joint factor must have a conditional at a value, which Normal ones have.
    });
    if (!normal && joint.has(variable))
      return fmt::format(
          "'{}' shares a factor with a variable that is not Normal (`guide joint`), which has no form at "
          "a value",
          v.name);
  }
  switch (v.support) {
    case math::Support::real:
    case math::Support::vector:
    case math::Support::category:
    case math::Support::bit:
    case math::Support::spin:
      return {};
    case math::Support::positive:
    case math::Support::unit:
    case math::Support::count:
    case math::Support::simplex:
    case math::Support::counts:
    case math::Support::spd_matrix:
    case math::Support::switched:
    case math::Support::scaled:
    case math::Support::sparse:
      break;
  }
  return fmt::format(
      "'{}' is a {}: single values are kept of Normal and MvNormal variables, categories, bits and spins", v.name,
      name_of(v.support));
}

bool has_independent_entries(const Model& m, const Variable& v) {
  if (v.support != math::Support::vector || v.auxiliary) return false;
  const Statement& s = m[v.statement];
  if (!s.main.family->gaussian || s.start || !s.others.empty()) return false;
  return std::ranges::all_of(s.main.parameters, [&](const Parameter& p) {
    const Expr& e = m[p.value];
    const bool diagonal = std::holds_alternative<Diag>(e.node) && !p.spelling->convert;
    return p.spelling->domain != math::Support::spd_matrix || e.shape.empty() || diagonal;
  });
}

namespace {
/// The suffix of a mask's name. A name in a model file cannot have a dot.
constexpr std::string_view kMask = ".informed";
}  // namespace

std::optional<GivenId> mask_of(const Model& m, const Variable& v) {
  const auto is_it = [&](const Given& g) {
    return g.name.size() == v.name.size() + kMask.size() && g.name.starts_with(v.name) && g.name.ends_with(kMask);
  };
  const auto found = std::ranges::find_if(m.givens, is_it);
  if (found == m.givens.end()) return std::nullopt;
  return GivenId(static_cast<std::size_t>(found - m.givens.begin()));
}

Given mask(const Model& m, const Variable& v) {
  const std::vector<PlateId> event = has_independent_entries(m, v) ? v.event : std::vector<PlateId>();
  return {v.name + std::string(kMask), v.span, v.axes, event, GivenType::count, {}};
}

Model without_masks(Model m) {
  while (!m.givens.empty() && m.givens.back().name.ends_with(kMask))
    m.givens.pop_back();
  return m;
}

bool is_item_plate(const Model& model, PlateId set) {
  return std::any_of(model.variables.begin(), model.variables.end(), [&](const Variable& v) {
    const bool limited = !v.auxiliary && model[v.statement].limits.any();
    return (v.observed || ((v.clamped || limited) && !model[set].size)) && !v.axes.empty() &&
           model[v.axes[0]].set == set;
  });
}

std::int64_t lag_of(const Model& model, const Statement& statement) {
  std::int64_t out = 1;
  for (const VariableRef* ref : references_under(model, roots_of(statement))) {
    for (const Index& index : ref->indices) {
      if (const auto* shifted = std::get_if<Index::Shifted>(&index.form)) out = std::max(out, -shifted->offset);
    }
  }
  return out;
}

const Plate* times_plate(const Model& model, const Variable& variable) {
  for (const PlateId p : variable.axes) {
    if (model[p].times) return &model[p];
  }
  return nullptr;
}

}  // namespace lehr::model
