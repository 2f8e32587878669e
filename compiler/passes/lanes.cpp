#include "compiler/passes/lanes.h"

#include <algorithm>
#include <utility>

#include "compiler/passes/independent_loops.h"
#include "compiler/passes/recurrence.h"

namespace lehr::loops {
namespace {

constexpr std::int64_t kWidest = 1024;  // numbers of an array beside axes of unknown size

std::optional<Arrangement> in_lanes(const Program& p, const For&, const Varying& varying) {
  if (std::ranges::any_of(varying.arrays, [&](BufferId b) { return constant_extents(p, b) > kWidest; })) return {};
  return Arrangement{.turns = 8, .written_out = false, .fewest = 3};
}

}  // namespace

Program run_in_lanes(Program program) { return put_side_by_side(std::move(program), {has_recurrence, in_lanes}); }

}  // namespace lehr::loops
