// Runs the resolve pass: names first, then plates, data and headers of variables, then every expression. Checks and
// expansions of the whole model come last, and only if there were no errors.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "compiler/model/resolver.h"

namespace lehr::model {
namespace {

/// Declares every name and adds an empty entity for each declaration, so that later steps may refer to any of them, in
/// any order.
void declare_names(Resolver& r) {
  Model& m = r.model;
  for (const ast::Decl& decl : r.ast.decls) {
    std::visit(
        [&](const auto& d) {
          using T = std::decay_t<decltype(d)>;
          if constexpr (std::is_same_v<T, ast::PlateDecl>) {
            const PlateId id(m.plates.size());
            if (!declare(r, d.name, SymbolKind::plate, id.index())) return;
            m.plates.push_back({});
            m.plates.back().name = d.name.text;
            m.plates.back().span = d.name.span;
            m.plates.back().set = id;
            m.plates.back().ordered = d.ordered;
            r.plate_decls.push_back(&d);
          } else if constexpr (std::is_same_v<T, ast::ConstDecl>) {
            if (!d.axes.empty()) {
              if (!declare(r, d.name, SymbolKind::given, m.givens.size())) return;
              m.givens.push_back({d.name.text, d.name.span, {}, {}, GivenType::real, std::nullopt, true});
              if (d.value) r.diagnostics.add(DiagnosticKind::array_constant, d.name.span, d.name.text);
            } else {
              if (!declare(r, d.name, SymbolKind::constant, m.constants.size())) return;
              m.constants.push_back({d.name.text, d.name.span, std::nullopt});
              r.constant_decls.push_back(&d);
            }
          } else if constexpr (std::is_same_v<T, ast::DataDecl>) {
            if (!declare(r, d.name, SymbolKind::given, m.givens.size())) return;
            m.givens.push_back({d.name.text, d.name.span, {}, {}, GivenType::real, std::nullopt, false});
          } else if constexpr (std::is_same_v<T, ast::LetDecl>) {
            if (!declare(r, d.name, SymbolKind::let, r.lets.size())) return;
            r.lets.push_back({&d, {}, false, false});
          } else if constexpr (std::is_same_v<T, ast::Tilde>) {
            if (!declare(r, d.name, SymbolKind::variable, m.variables.size())) return;
            Variable v;
            v.name = d.name.text;
            v.span = d.name.span;
            v.observed = d.observed;
            m.variables.push_back(std::move(v));
            r.tildes.push_back(&d);
          } else {
            static_assert(std::is_same_v<T, ast::Potential> || std::is_same_v<T, ast::Guide>);
          }
        },
        decl.node);
  }
}

/// Resolves the type of a given: `real`, `vector over P`, ..., or a plate whose elements are the values. Returns false
/// after an error.
bool resolve_type(Resolver& r, Given& given, const ast::TypeSpec& type) {
  const std::map<std::string, std::pair<GivenType, std::size_t>> types = {
      {"real", {GivenType::real, 0}},     {"count", {GivenType::count, 0}},     {"vector", {GivenType::vector, 1}},
      {"matrix", {GivenType::matrix, 2}}, {"simplex", {GivenType::simplex, 1}},
  };
  const auto it = types.find(type.name.text);
  if (it == types.end()) {
    const auto symbol = r.names.find(type.name.text);
    if (symbol == r.names.end() || symbol->second.kind != SymbolKind::plate) {
      Diagnostic& d = r.diagnostics.add(DiagnosticKind::unknown_type, type.name.span, type.name.text);
      std::vector<std::string> candidates = names_of(r, SymbolKind::plate);
      for (const auto& [name, unused] : types)
        candidates.push_back(name);
      suggest(d, type.name.text, candidates);
      return false;
    }
    symbol->second.used = true;
    if (!type.over.empty()) {
      r.diagnostics.add(DiagnosticKind::type_axes, type.span, type.name.text, "no `over`");
      return false;
    }
    const PlateId set = resolve_alias(r.model, PlateId(symbol->second.index));
    const std::optional<PlateId> outer = r.model[set].parent;
    if (outer && r.model[resolve_alias(r.model, *outer)].parent) {
      const std::string &nested = r.model[set].name, &parent = r.model[resolve_alias(r.model, *outer)].name;
      r.diagnostics.add(DiagnosticKind::nested_value, type.span, nested, parent)
          .note(fmt::format("'{1}' is nested, too: number them all in a plate of its own: `plate {0}` and, where it "
                            "matters, `data of[{0}] : ...`",
                            nested, parent));
      return false;
    }
    given.type = GivenType::category;
    given.value_plate = set;
    return true;
  }
  const auto [kind, rank] = it->second;
  if (type.over.size() != rank) {
    r.diagnostics.add(DiagnosticKind::type_axes, type.span, type.name.text,
                      rank == 0   ? "no `over`"
                      : rank == 1 ? "`over` and one plate"
                                  : "`over` and two plates");
    return false;
  }
  given.type = kind;
  bool ok = true;
  for (const ast::Name& name : type.over) {
    const auto plate = plate_named(r, name);
    if (!plate) {
      ok = false;
      continue;
    }
    const PlateId set = resolve_alias(r.model, *plate);
    if (r.model[set].parent) {
      r.diagnostics
          .add(DiagnosticKind::nested_value, name.span, r.model[set].name,
               r.model[resolve_alias(r.model, *r.model[set].parent)].name)
          .note("an event axis has one size for all elements");
      ok = false;
    }
    given.event.push_back(set);
  }
  return ok;
}

/// Returns the symbol of a declaration, or null if the name was refused because another declaration has it.
Symbol* owner(Resolver& r, const ast::Name& name) {
  const auto it = r.names.find(name.text);
  return it != r.names.end() && it->second.span == name.span ? &it->second : nullptr;
}

/// Resolves the index plates of all declarations and the types of data.
void resolve_declared_axes(Resolver& r) {
  Model& m = r.model;
  r.given_ok.assign(m.givens.size(), false);
  r.variable_ok.assign(m.variables.size(), false);
  r.headers.assign(m.variables.size(), HeaderState::untouched);
  for (const ast::Decl& decl : r.ast.decls) {
    std::visit(
        [&](const auto& d) {
          using T = std::decay_t<decltype(d)>;
          if constexpr (std::is_same_v<T, ast::DataDecl> || std::is_same_v<T, ast::ConstDecl> ||
                        std::is_same_v<T, ast::LetDecl> || std::is_same_v<T, ast::Tilde>) {
            const Symbol* symbol = owner(r, d.name);
            if (!symbol || symbol->kind == SymbolKind::constant) return;
            const std::size_t index = symbol->index;
            const auto axes = resolve_axes(r, d.axes, d.name.text);
            if constexpr (std::is_same_v<T, ast::LetDecl>) {
              r.lets[index].ok = axes.has_value();
              if (axes) r.lets[index].axes = *axes;
            } else if constexpr (std::is_same_v<T, ast::Tilde>) {
              r.variable_ok[index] = axes.has_value();
              if (axes) m.variables[index].axes = *axes;
            } else {
              bool ok = axes.has_value();
              if (axes) m.givens[index].axes = *axes;
              if constexpr (std::is_same_v<T, ast::DataDecl>) ok = resolve_type(r, m.givens[index], d.type) && ok;
              r.given_ok[index] = ok;
            }
          }
        },
        decl.node);
  }
}

/// Replaces every plate by the one that it stands for: the target of an alias, or what an added plate was unified with.
void use_sets(Model& m) {
  const auto fix = [&](PlateId& p) { p = resolve_alias(m, p); };
  const auto fix_all = [&](std::vector<PlateId>& v) { std::for_each(v.begin(), v.end(), fix); };
  const auto fix_maybe = [&](std::optional<PlateId>& p) {
    if (p) fix(*p);
  };
  for (Plate& p : m.plates) {
    fix_maybe(p.parent);
    fix_maybe(p.stick);
  }
  for (Given& g : m.givens)
    fix_all(g.axes), fix_all(g.event), fix_maybe(g.value_plate);
  for (Variable& v : m.variables)
    fix_all(v.axes), fix_all(v.event), fix_maybe(v.value_plate);
  for (IndexVar& b : m.index_vars)
    fix(b.plate);
  for (Expr& e : m.exprs) {
    fix_all(e.shape);
    fix_maybe(e.value_plate);
    if (auto* ref = std::get_if<GivenRef>(&e.node)) {
      for (Index& i : ref->indices)
        fix(i.set);
    } else if (auto* var = std::get_if<VariableRef>(&e.node)) {
      for (Index& i : var->indices)
        fix(i.set);
    } else if (auto* size = std::get_if<SizeOf>(&e.node)) {
      fix(size->plate);
    }
  }
  for (Plate& p : m.plates)
    fix(p.set);
}

}  // namespace
}  // namespace lehr::model

namespace lehr {

std::optional<model::Model> resolve(const ast::Ast& ast, Diagnostics& diagnostics) {
  // Only errors stop the pass, warnings do not.
  const auto count_errors = [&] {
    return std::ranges::count(diagnostics.all(), Severity::error, &Diagnostic::severity);
  };
  const auto before = count_errors();
  model::Resolver r{ast, diagnostics, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  r.model.name = ast.model.text;
  model::declare_names(r);
  model::declare_plates(r);
  model::resolve_declared_axes(r);
  model::resolve_times(r);
  model::infer_headers(r);
  model::resolve_sizes(r);
  model::resolve_statements(r);
  model::resolve_guide(r);
  // Without errors, all headers have been inferred. One that is still open depends on itself.
  for (std::size_t i = 0; i < r.headers.size() && count_errors() == before; ++i) {
    if (r.headers[i] == model::HeaderState::done) continue;
    diagnostics.add(DiagnosticKind::missing_over, r.model.variables[i].span, r.model.variables[i].name);
  }
  if (count_errors() == before) {
    model::use_sets(r.model);
    model::expand_mixtures(r);
    model::check_model(r);
  }
  if (count_errors() == before) model::expand_compounds(r);
  if (count_errors() != before) return std::nullopt;
  return std::move(r.model);
}

}  // namespace lehr
