// Adds up the cost of the functions of each step. A function's outlined parallel regions count for its step. What
// belongs to no step is listed last.
#include "compiler/instance/step_times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <variant>

namespace lehr {

std::vector<StepTime> step_times(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& lowered,
                                 const Functions& functions) {
  std::vector<StepTime> out;
  std::set<std::size_t> seen;  // functions that belong to a step so far
  // Appends a step. The first of its functions is called once each time the step is taken, so its calls are the step's.
  const auto add = [&](std::string step, const std::vector<std::size_t>& parts) {
    StepTime row{std::move(step), functions.account(parts[0]).calls, 0, {}};
    const auto take = [&](std::size_t f) {
      const Functions::FunctionCost account = functions.account(f);
      row.seconds += 1e-9 * static_cast<double>(account.nanoseconds);
      row.work += account.work;
      seen.insert(f);
    };
    for (const std::size_t f : parts) {
      take(f);
      for (const loops::ParallelRegion& phase : lowered.program.functions[f].regions)
        take(phase.function);
    }
    out.push_back(row);
  };
  std::set<std::size_t> sums;  // functions that form cached sums, on behalf of several steps
  for (const loops::Function& f : lowered.program.functions)
    for (const loops::CachedSums& cached : f.cached)
      sums.insert(cached.function);
  const auto named = [&](conditionals::BlockId b) {
    const conditionals::Block& block = s.conditionals[b];
    return (block.mean ? m[*block.mean].name + ", " : "") + m[block.variable].name;
  };
  for (std::size_t k = 0; k < lowered.interface.steps.size(); ++k) {
    const auto& step = lowered.interface.steps[k];
    if (const auto* stage = std::get_if<loops::StageFunctions>(&step)) {
      std::vector<std::string> names;
      for (const conditionals::BlockId b : std::get<schedule::ItemStage>(s.steps[k]).blocks)
        names.push_back(named(b));
      std::vector<std::size_t> parts{stage->tables, stage->update};
      if (stage->refresh) parts.push_back(*stage->refresh);
      if (stage->finalise) parts.push_back(*stage->finalise);
      add(names.empty() ? fmt::format("sums over {}", m[stage->item].name) : fmt::format("{}", fmt::join(names, ", ")),
          parts);
    } else {
      const auto& update = std::get<loops::UpdateFunction>(step);
      add(named(update.block), {update.function});
    }
  }
  if (!sums.empty()) add("sums of factors", {sums.begin(), sums.end()});
  add("ELBO", {lowered.interface.elbo});
  std::vector<std::size_t> rest;
  for (std::size_t f = 0; f < lowered.program.functions.size(); ++f) {
    if (!seen.contains(f)) rest.push_back(f);
  }
  if (!rest.empty()) add("starts and data", rest);
  return out;
}

}  // namespace lehr
