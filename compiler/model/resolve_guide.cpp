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
    if (guide->kind == ast::GuideKind::joint && guide->names.size() < 2) {
      r.diagnostics.add(DiagnosticKind::guide_joint_size, decl.span);
    }
    Guide& out = r.model.guide;
    switch (guide->kind) {
      case ast::GuideKind::joint:
        out.joint.push_back(block);
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
    }
  }
}

}  // namespace lehr::model
