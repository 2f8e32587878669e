// Resolves plates: aliases, nesting, sizes, multiplicities, and plates that the compiler adds for values with one
// element more than an argument (stick_breaking, cumulative, ordered_logistic).
//
// An added plate has no name in the model file. It becomes the first declared plate that it is used with: in `theta ~
// Categorical(stick_breaking(v)) over topic`, the plate `topic`.
#include <cmath>
#include <functional>

#include "compiler/model/resolver.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

/// Numbers of elements above this would not be whole in double precision once as many elements follow.
constexpr double kMostFrom = 1e12;
/// The words that a plate cannot have as its name.
const std::set<std::string> kTypeNames = {"real", "count", "vector", "matrix", "simplex"};

/// Returns the declaration of a plate; null for an added one.
const ast::PlateDecl* decl_of(const Resolver& r, PlateId plate) {
  return plate.index() < r.plate_decls.size() ? r.plate_decls[plate.index()] : nullptr;
}

/// Returns the plate that `plate h = g;` is an alias of: g, if and only if g is a plate. Null otherwise.
const ast::Name* alias_target(Resolver& r, const ast::PlateDecl& decl) {
  if (!decl.size) return nullptr;
  const auto* reference = std::get_if<ast::Reference>(&r.ast[*decl.size].node);
  if (!reference || !reference->indices.empty()) return nullptr;
  const auto it = r.names.find(reference->name.text);
  return it != r.names.end() && it->second.kind == SymbolKind::plate ? &reference->name : nullptr;
}

/// Reports constants and sizes that are defined by themselves. Constants and plates are nodes of one graph, constants
/// first; a depth-first search marks nodes as open (1) and done (2).
void check_definition_cycles(Resolver& r) {
  Model& m = r.model;
  const std::size_t constants = m.constants.size();
  std::vector<std::vector<std::size_t>> uses(constants + m.plates.size());
  const auto collect = [&](std::size_t node, const std::optional<ExprId>& expr) {
    if (!expr) return;
    for (const ExprId id : nodes_under(m, {*expr})) {
      if (const auto* c = std::get_if<ConstantRef>(&m[id].node)) uses[node].push_back(c->constant.index());
      if (const auto* s = std::get_if<SizeOf>(&m[id].node)) uses[node].push_back(constants + s->plate.index());
    }
  };
  for (std::size_t i = 0; i < constants; ++i)
    collect(i, m.constants[i].value);
  for (std::size_t i = 0; i < m.plates.size(); ++i)
    collect(constants + i, m.plates[i].size);
  std::vector<int> state(uses.size(), 0);
  const std::function<bool(std::size_t)> cyclic = [&](std::size_t node) {
    state[node] = 1;
    for (const std::size_t next : uses[node]) {
      if (state[next] == 1 || (state[next] == 0 && cyclic(next))) {
        state[node] = 2;
        return true;
      }
    }
    state[node] = 2;
    return false;
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (state[i] != 0 || !cyclic(i)) continue;
    if (i < constants) {
      r.diagnostics.add(DiagnosticKind::cyclic_constant, m.constants[i].span, m.constants[i].name);
    } else {
      r.diagnostics.add(DiagnosticKind::cyclic_plate, m.plates[i - constants].span, m.plates[i - constants].name);
    }
  }
}

}  // namespace

PlateId resolve_alias(const Model& model, PlateId plate) {
  while (plate.valid() && model[plate].set != plate)
    plate = model[plate].set;
  return plate;
}

bool unify(Resolver& r, PlateId a, PlateId b) {
  a = resolve_alias(r.model, a);
  b = resolve_alias(r.model, b);
  if (a == b) return true;
  const auto anonymous = [&](PlateId p) { return r.model[p].stick.has_value(); };
  if (anonymous(a) && anonymous(b) &&
      resolve_alias(r.model, *r.model[a].stick) != resolve_alias(r.model, *r.model[b].stick)) {
    return false;
  }
  if (anonymous(a)) {
    r.model.plates[a.index()].set = b;
    return true;
  }
  if (anonymous(b)) {
    r.model.plates[b.index()].set = a;
    return true;
  }
  return false;
}

PlateId extended_plate(Resolver& r, ast::ExprId call, PlateId plate) {
  const auto it = r.longer.find(call);
  if (it != r.longer.end()) return it->second;
  const PlateId id(r.model.plates.size());
  Plate made;
  made.name = fmt::format("{}({})", std::get<ast::Call>(r.ast[call].node).function.text, r.model[plate].name);
  made.span = r.ast[call].span;
  made.set = id;
  made.stick = plate;
  r.model.plates.push_back(std::move(made));
  r.longer.emplace(call, id);
  return id;
}

void declare_plates(Resolver& r) {
  Model& m = r.model;
  const std::size_t count = m.plates.size();
  std::vector<std::optional<PlateId>> alias(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ast::PlateDecl* decl = decl_of(r, PlateId(i));
    if (!decl) continue;
    if (kTypeNames.contains(decl->name.text)) {
      r.diagnostics.add(DiagnosticKind::reserved_name, decl->name.span, decl->name.text);
    }
    if (const ast::Name* target = alias_target(r, *decl)) {
      alias[i] = plate_named(r, *target);
      if (decl->parent || decl->ordered || decl->times || decl->from) {
        r.diagnostics.add(DiagnosticKind::alias_modifiers, decl->name.span, decl->name.text, target->text);
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ast::PlateDecl* decl = decl_of(r, PlateId(i));
    if (!decl || !decl->from) continue;
    const double from = std::get<ast::Number>(r.ast[*decl->from].node).value;
    if (from == std::floor(from) && from < kMostFrom) m.plates[i].from = static_cast<std::int64_t>(from);
    else r.diagnostics.add(DiagnosticKind::bad_from, r.ast[*decl->from].span, decl->name.text);
  }
  // Follow each chain of aliases to its end. A chain longer than the number of plates is a cycle.
  for (std::size_t i = 0; i < count; ++i) {
    PlateId end(i);
    for (std::size_t steps = 0; alias[end.index()]; ++steps) {
      if (steps > count) {
        alias[i].reset();  // one report a cycle
        r.diagnostics.add(DiagnosticKind::cyclic_plate, m.plates[i].span, m.plates[i].name);
        end = PlateId(i);
        break;
      }
      end = *alias[end.index()];
    }
    m.plates[i].set = end;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ast::PlateDecl* decl = decl_of(r, PlateId(i));
    if (!decl || alias[i] || !decl->parent) continue;
    if (const auto parent = plate_named(r, *decl->parent)) m.plates[i].parent = resolve_alias(m, *parent);
  }
  // Do the same with the plates that a plate is nested in.
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t steps = 0;
    for (auto p = m.plates[i].parent; p; p = m[*p].parent) {
      if (++steps <= count) continue;
      r.diagnostics.add(DiagnosticKind::cyclic_plate, m.plates[i].span, m.plates[i].name);
      m.plates[i].parent.reset();
      break;
    }
  }
}

void resolve_sizes(Resolver& r) {
  Context c;
  c.constants_only = true;
  for (std::size_t i = 0; i < r.constant_decls.size(); ++i) {
    const ast::ConstDecl& decl = *r.constant_decls[i];
    if (!decl.value) continue;
    r.model.constants[i].value = resolve_scalar(r, c, *decl.value, fmt::format("constant '{}'", decl.name.text));
  }
  for (std::size_t i = 0; i < r.model.plates.size(); ++i) {
    if (r.model.plates[i].stick || r.model.plates[i].set != PlateId(i)) continue;
    const ast::PlateDecl* decl = decl_of(r, PlateId(i));
    if (!decl || !decl->size || alias_target(r, *decl)) continue;
    r.model.plates[i].size = resolve_scalar(r, c, *decl->size, fmt::format("the size of plate '{}'", decl->name.text));
  }
  check_definition_cycles(r);
}

void resolve_times(Resolver& r) {
  Model& m = r.model;
  for (std::size_t i = 0; i < m.plates.size(); ++i) {
    const ast::PlateDecl* decl = m.plates[i].stick ? nullptr : decl_of(r, PlateId(i));
    if (!decl || !decl->times || m.plates[i].set != PlateId(i)) continue;
    std::vector<PlateId> axes = {PlateId(i)};
    for (auto p = m.plates[i].parent; p; p = m[*p].parent)
      axes.insert(axes.begin(), resolve_alias(m, *p));
    const Symbol* symbol = find(r, decl->times->text);
    if (!symbol) {
      Given given;
      given.name = decl->times->text;
      given.span = decl->times->span;
      given.axes = axes;
      given.type = GivenType::count;
      m.plates[i].times = GivenId(m.givens.size());
      declare(r, *decl->times, SymbolKind::given, m.givens.size());
      find(r, given.name);
      m.givens.push_back(std::move(given));
      r.given_ok.push_back(true);
      continue;
    }
    const bool is_given = symbol->kind == SymbolKind::given;
    if (is_given && !r.given_ok[symbol->index]) continue;
    const auto is_weight = [](GivenType t) { return t == GivenType::count || t == GivenType::real; };
    if (is_given && is_weight(m.givens[symbol->index].type) && m.givens[symbol->index].axes == axes) {
      m.plates[i].times = GivenId(symbol->index);
      continue;
    }
    std::string wanted;
    for (const PlateId p : axes)
      wanted += (wanted.empty() ? "" : ", ") + m[p].name;
    r.diagnostics.add(DiagnosticKind::bad_times, decl->times->span, decl->times->text, decl->name.text)
        .note(fmt::format("it must be `data {}[{}] : count;`, or `: real` for weights", decl->times->text, wanted))
        .note(fmt::format("'{}' is declared here", decl->times->text), symbol->span);
  }
}

}  // namespace lehr::model
