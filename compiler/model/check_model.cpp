// Checks a resolved model as a whole: no directed cycle, every latent variable reached by data, every declared name
// used, something observed.
#include <algorithm>

#include "compiler/model/resolver.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

/// A use of one variable by the distribution of another. `lagged` marks a use of an earlier element, which makes no
/// cycle.
struct Use {
  VariableId parent;
  Span span;
  bool lagged = false;
};

/// Returns the uses of variables in these expressions.
std::vector<Use> uses_under(const Model& m, const std::vector<ExprId>& roots) {
  std::vector<Use> out;
  for (const ExprId id : nodes_under(m, roots)) {
    if (const auto* ref = std::get_if<VariableRef>(&m[id].node)) {
      out.push_back({ref->variable, m[id].span, is_lagged(*ref)});
    }
  }
  return out;
}

/// Reports cycles of the directed graph by depth-first search with an explicit stack. A grey variable is on the current
/// path.
void check_cycles(Resolver& r, const std::vector<std::vector<Use>>& uses) {
  enum class Mark { white, grey, black };
  std::vector<Mark> marks(uses.size(), Mark::white);
  struct Frame {
    std::size_t variable, next;
  };
  for (std::size_t root = 0; root < uses.size(); ++root) {
    if (marks[root] != Mark::white) continue;
    std::vector<Frame> stack = {{root, 0}};
    marks[root] = Mark::grey;
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == uses[top.variable].size()) {
        marks[top.variable] = Mark::black;
        stack.pop_back();
        continue;
      }
      const Use& use = uses[top.variable][top.next++];
      if (use.lagged) continue;
      const std::size_t parent = use.parent.index();
      if (marks[parent] == Mark::grey) {
        std::string path = r.model.variables[parent].name;
        for (auto it = stack.rbegin(); it != stack.rend() && it->variable != parent; ++it) {
          path = r.model.variables[it->variable].name + " <- " + path;
        }
        path = r.model.variables[parent].name + " <- " + path;
        r.diagnostics.add(DiagnosticKind::cyclic_model, use.span, r.model.variables[parent].name)
            .note(path + "; only the previous element of an ordered plate may be named");
      } else if (marks[parent] == Mark::white) {
        marks[parent] = Mark::grey;
        stack.push_back({parent, 0});
      }
    }
  }
}

/// Warns of latent variables that no data reach. A variable is reached if it is observed or limited, if a potential
/// mentions it, or if the distribution of a reached variable does.
void check_reached(Resolver& r, const std::vector<std::vector<Use>>& uses) {
  const Model& m = r.model;
  std::vector<bool> reached(m.variables.size(), false);
  std::vector<std::size_t> todo;
  const auto reach = [&](std::size_t v) {
    if (!reached[v]) todo.push_back(v);
    reached[v] = true;
  };
  for (const Statement& s : m.statements) {
    if (m[s.variable].observed || s.limits.any()) reach(s.variable.index());
  }
  for (const Potential& p : m.potentials) {
    for (const Use& use : uses_under(m, {p.value}))
      reach(use.parent.index());
  }
  while (!todo.empty()) {
    const std::size_t v = todo.back();
    todo.pop_back();
    for (const Use& use : uses[v])
      reach(use.parent.index());
  }
  for (std::size_t v = 0; v < m.variables.size(); ++v) {
    if (!reached[v]) r.diagnostics.add(DiagnosticKind::unreached_latent, m.variables[v].span, m.variables[v].name);
  }
}

/// Warns of plates, constants, data and `let` names that are not used.
void check_unused(Resolver& r) {
  for (const auto& [name, symbol] : r.names) {
    if (symbol.used) continue;
    switch (symbol.kind) {
      case SymbolKind::plate:
        r.diagnostics.add(DiagnosticKind::unused_name, symbol.span, "plate", name);
        break;
      case SymbolKind::constant:
        r.diagnostics.add(DiagnosticKind::unused_name, symbol.span, "constant", name);
        break;
      case SymbolKind::given:
        r.diagnostics.add(DiagnosticKind::unused_name, symbol.span, "data", name);
        break;
      case SymbolKind::let:
        r.diagnostics.add(DiagnosticKind::unused_name, symbol.span, "`let`", name);
        break;
      case SymbolKind::variable:
        break;
    }
  }
}

}  // namespace

void check_model(Resolver& r) {
  const Model& m = r.model;
  std::vector<std::vector<Use>> uses(m.variables.size());
  for (const Statement& s : m.statements)
    uses[s.variable.index()] = uses_under(m, roots_of(s));
  check_cycles(r, uses);
  const bool observes =
      std::ranges::any_of(m.statements, [&](const Statement& s) { return m[s.variable].observed || s.limits.any(); });
  if (observes || !m.potentials.empty()) {
    check_reached(r, uses);
  } else {
    r.diagnostics.add(DiagnosticKind::no_observations, r.ast.model.span)
        .note("mark what the data give with `observe`: `observe x[n] ~ ...`");
  }
  check_unused(r);
}

}  // namespace lehr::model
