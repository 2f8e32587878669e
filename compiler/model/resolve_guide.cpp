// Resolves the `guide` declarations: which latent variables share a factor, are points, have independent elements, or
// are updated first.
#include <algorithm>

#include "compiler/model/resolver.h"

namespace lehr::model {
namespace {

/// Returns what a kind of guide is called in messages.
const char* name_of_kind(ast::GuideKind kind) {
  switch (kind) {
    case ast::GuideKind::joint:
      return "the joint blocks";
    case ast::GuideKind::point:
      return "guide point";
    case ast::GuideKind::independent:
      return "guide independent";
    case ast::GuideKind::order:
      return "guide order";
    case ast::GuideKind::factorised:
      return "guide factorised";
  }
  return "the guide";
}

/// Returns what a name is, for messages about names that are not latent variables.
const char* kind_of(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::plate:
      return "a plate";
    case SymbolKind::constant:
      return "a constant";
    case SymbolKind::given:
      return "data";
    case SymbolKind::variable:
      return "observed";
    case SymbolKind::let:
      return "a deterministic name";
  }
  return "something else";
}

/// Returns the latent variable with this name, or reports what the name is.
std::optional<VariableId> latent_named(Resolver& r, const ast::Name& name) {
  const Symbol* symbol = find(r, name.text);
  if (!symbol) {
    Diagnostic& d = r.diagnostics.add(DiagnosticKind::unknown_name, name.span, name.text);
    suggest(r, d, name.text, SymbolKind::variable);
    return std::nullopt;
  }
  if (symbol->kind == SymbolKind::variable && !r.model.variables[symbol->index].observed)
    return VariableId(symbol->index);
  r.diagnostics.add(DiagnosticKind::guide_not_latent, name.span, name.text, kind_of(symbol->kind));
  return std::nullopt;
}

/// Returns true if every member has an axis over the plate (a set).
bool on_all(const Model& m, const std::vector<VariableId>& members, PlateId set) {
  return std::ranges::all_of(members, [&](VariableId v) {
    return std::ranges::any_of(m[v].axes, [&](PlateId p) { return m[p].set == set; });
  });
}

/// Adds to the coordinates of one Normal factor each plate that all members have and whose rows differ in length: some
/// members alone lie on a plate nested in it. A factor for each of its elements would have as many numbers as the row
/// is long.
void add_ragged(const Model& m, JointGuide& guide) {
  const auto is_normal = [&](VariableId v) {
    return m[v].support == math::Support::real || m[v].support == math::Support::vector;
  };
  if (!std::ranges::all_of(guide.members, is_normal)) return;
  const auto is_shared = [&](PlateId set) {
    return on_all(m, guide.members, set) && std::ranges::find(guide.coordinates, set) == guide.coordinates.end();
  };
  for (bool again = true; again;) {
    again = false;
    for (const VariableId v : guide.members) {
      for (const PlateId p : m[v].axes) {
        const std::optional<PlateId> parent = m[m[p].set].parent;
        if (!parent || is_shared(m[p].set) || !is_shared(m[*parent].set)) continue;
        guide.coordinates.push_back(m[*parent].set);
        again = true;
      }
    }
  }
}

/// Returns the guide of one factor of these variables. All numbers of a single one are its coordinates.
JointGuide joint_of(const Model& m, std::vector<VariableId> members) {
  JointGuide out{std::move(members)};
  if (out.members.size() > 1) {
    add_ragged(m, out);
    return out;
  }
  for (const PlateId p : m[out.members[0]].axes)
    out.coordinates.push_back(m[p].set);
  return out;
}

}  // namespace

void resolve_guide(Resolver& r) {
  std::map<ast::GuideKind, std::set<VariableId>> seen;
  for (const ast::Decl& decl : r.ast.decls) {
    const auto* guide = std::get_if<ast::Guide>(&decl.node);
    if (!guide) continue;
    std::vector<VariableId> block;
    for (const ast::Name& name : guide->names) {
      const auto variable = latent_named(r, name);
      if (!variable) continue;
      if (!seen[guide->kind].insert(*variable).second) {
        r.diagnostics.add(DiagnosticKind::guide_repeated, name.span, name.text, name_of_kind(guide->kind));
        continue;
      }
      const ast::Tilde& tilde = *r.tildes[variable->index()];
      if (guide->kind == ast::GuideKind::independent && !tilde.start) {
        r.diagnostics.add(DiagnosticKind::guide_not_chain, name.span, name.text);
        continue;
      }
      block.push_back(*variable);
    }
    Guide& out = r.model.guide;
    switch (guide->kind) {
      case ast::GuideKind::joint:
        if (block.size() == 1 && r.model[block[0]].axes.empty())
          r.diagnostics.add(DiagnosticKind::guide_joint_size, decl.span);
        else if (!block.empty()) out.joint.push_back(joint_of(r.model, std::move(block)));
        break;
      case ast::GuideKind::point:
        out.point.insert(out.point.end(), block.begin(), block.end());
        break;
      case ast::GuideKind::independent:
        out.independent.insert(out.independent.end(), block.begin(), block.end());
        break;
      case ast::GuideKind::order:
        out.order.insert(out.order.end(), block.begin(), block.end());
        break;
      case ast::GuideKind::factorised:
        out.factorised = true;
        break;
    }
  }
}

}  // namespace lehr::model
