// What one visit of an item by a sweep finds: whether its local factors are a solution afterwards. Inference of new
// items and linear response visit items again where they are not.
#pragma once
#include <algorithm>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace lehr {

/// Returns true if the local factors of items follow uniquely from the global ones: items have one block whose elements
/// do not interact, or a chain, or none.
inline bool has_unique_items(const schedule::Schedule& s) {
  std::vector<const conditionals::Block*> blocks;
  for (std::size_t k = 0; k < s.stage_of.size(); ++k)
    if (s.stage_of[k]) blocks.push_back(&s.conditionals.blocks[k]);
  return blocks.empty() || (blocks.size() == 1 && (blocks[0]->chain || !blocks[0]->coupled()));
}

/// Returns true if one visit of an item leads to a solution: the stage iterates, or the solution is unique.
inline bool converges_in_one_visit(const schedule::Schedule& s) {
  const auto iterates = [](const schedule::Step& step) {
    const auto* stage = std::get_if<schedule::ItemStage>(&step);
    return stage && stage->iterate;
  };
  return std::ranges::any_of(s.steps, iterates) || has_unique_items(s);
}

}  // namespace lehr
