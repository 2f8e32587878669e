// Accesses of iterations, and what follows from them.
#include "compiler/analysis/accesses.h"

#include <algorithm>
#include <optional>

#include "compiler/loops/facts.h"

namespace lehr::loops {

Dependence dependence_of(const Program& p, const Varying& varying, ScalarId index, ExprId e) {
  if (is_scalar(p, e, index)) return Dependence::index;
  if (!varying.is_varying(p, e)) return Dependence::none;
  return loads(p, e) ? Dependence::data : Dependence::other;
}

bool IterationAccess::varies() const {
  return std::ranges::any_of(axes, [](Dependence x) { return x != Dependence::none; });
}

Accesses::Accesses(const Program& p, std::span<const Stmt> statements, const Varying& varying, ScalarId index) {
  each_access(p, statements, [&](AccessKind kind, BufferId array, const std::vector<ExprId>& indices) {
    IterationAccess& access = all_[array].emplace_back(IterationAccess{kind, {}});
    for (const ExprId e : indices)
      access.axes.push_back(dependence_of(p, varying, index, e));
  });
}

bool Accesses::is_own(BufferId array, std::size_t axis) const {
  const auto accesses = all_.find(array);
  return accesses == all_.end() || std::ranges::all_of(accesses->second, [&](const IterationAccess& x) {
           return axis < x.axes.size() && x.axes[axis] == Dependence::index;
         });
}

bool Accesses::varies(BufferId array) const {
  const auto accesses = all_.find(array);
  return accesses != all_.end() && std::ranges::any_of(accesses->second, &IterationAccess::varies);
}

std::vector<std::pair<BufferId, Race>> races_of(const Program& p, const Accesses& accesses,
                                                const std::function<bool(BufferId)>& may_be_sum) {
  std::vector<std::pair<BufferId, Race>> out;
  for (const auto& [array, all] : accesses.all()) {
    const bool sum = may_be_sum(array), scratch = is_scratch(p[array]);
    bool stored = false, added = false;
    std::optional<Race> race;
    for (const IterationAccess& x : all) {
      if (x.loads() || (scratch && (!sum || x.kind == AccessKind::fill))) continue;
      if (x.kind == AccessKind::fill) race = Race::filled;
      else if (x.varies()) stored = true;
      else if (x.kind == AccessKind::add && sum) added = true;
      else race = Race::stored_elsewhere;
    }
    for (const IterationAccess& x : all) {
      if (race || !x.loads()) continue;
      if (added) race = Race::sum_loaded;
      else if (stored && !x.varies()) race = Race::loaded_elsewhere;
    }
    if (race) out.emplace_back(array, *race);
  }
  return out;
}

bool runs_over(const Program& p, const For& loop, SizeId axis) {
  return p[axis].constant >= 0 && loop.step == 1 && literal(p, loop.begin) == 0 &&
         literal(p, loop.end) == p[axis].constant;
}

}  // namespace lehr::loops
