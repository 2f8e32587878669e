// A topological order of statements. Two statements that depend on each other through previous elements form a group.
// resolve() has checked that uses of the same elements have no cycle.
#include "compiler/evaluate/forward_order.h"

#include <algorithm>

#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;

/// Which statements use which variables: [statement][statement that defines the variable].
struct Uses {
  std::vector<std::vector<bool>> direct;  // uses at the same position, without a lag
  std::vector<std::vector<bool>> any;     // the transitive closure of all uses
};

/// Collects the uses, and closes them transitively (Warshall).
Uses uses_of(const Model& m) {
  const std::size_t n = m.statements.size();
  Uses out{std::vector(n, std::vector<bool>(n)), std::vector(n, std::vector<bool>(n))};
  for (std::size_t s = 0; s < n; ++s) {
    for (const VariableRef* ref : references_under(m, roots_of(m.statements[s]))) {
      const std::size_t parent = m[ref->variable].statement.index();
      out.any[s][parent] = true;
      if (!is_lagged(*ref)) out.direct[s][parent] = true;
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        if (out.any[i][k] && out.any[k][j]) out.any[i][j] = true;
    }
  }
  return out;
}

/// Returns, for each statement of a group, its index variable of the ordered plate along which the lags run.
std::vector<IndexVarId> ordered_bounds(const Model& m, const std::vector<StatementId>& group) {
  std::optional<PlateId> plate;
  for (const StatementId s : group) {
    if (m[s].lagged) plate = m[*m[s].lagged].plate;
  }
  std::vector<IndexVarId> out;
  if (!plate) return out;
  for (const StatementId s : group) {
    const Statement& statement = m[s];
    const auto own = std::find_if(statement.index_vars.begin(), statement.index_vars.end(),
                                  [&](IndexVarId b) { return m[b].plate == *plate; });
    if (statement.lagged) out.push_back(*statement.lagged);
    else if (own != statement.index_vars.end()) out.push_back(*own);
  }
  return out;
}

}  // namespace

std::vector<DrawGroup> draw_order(const Model& m) {
  const std::size_t n = m.statements.size();
  const Uses uses = uses_of(m);
  const auto together = [&](std::size_t a, std::size_t b) { return a == b || (uses.any[a][b] && uses.any[b][a]); };
  std::vector<bool> done(n, false);
  std::vector<DrawGroup> out;
  while (std::find(done.begin(), done.end(), false) != done.end()) {
    std::size_t first = 0;
    const auto ready = [&](std::size_t s) {
      for (std::size_t p = 0; p < n; ++p) {
        if (uses.any[s][p] && !done[p] && !together(s, p)) return false;
      }
      return !done[s];
    };
    while (!ready(first))
      ++first;
    std::vector<std::size_t> members;
    for (std::size_t s = 0; s < n; ++s) {
      if (together(first, s)) members.push_back(s);
    }
    DrawGroup group;
    while (group.statements.size() < members.size()) {
      for (const std::size_t s : members) {
        const bool waits = done[s] || std::any_of(members.begin(), members.end(),
                                                  [&](std::size_t p) { return uses.direct[s][p] && !done[p]; });
        if (waits) continue;
        done[s] = true;
        group.statements.emplace_back(s);
      }
    }
    group.ordered = ordered_bounds(m, group.statements);
    out.push_back(std::move(group));
  }
  return out;
}

}  // namespace lehr
