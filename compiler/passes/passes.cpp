// The table of passes, and the loop that runs them.
// The order matters: passes that need the original loops (`shares`, `invariants`, `sorted`) come before those that
// vectorise them. `narrow`, `pad` and the rest work on the loops that are then there.
#include "compiler/passes/passes.h"

#include <cstdlib>
#include <string>

#include "compiler/passes/blocks.h"
#include "compiler/passes/checks.h"
#include "compiler/passes/invariants.h"
#include "compiler/passes/jam.h"
#include "compiler/passes/lanes.h"
#include "compiler/passes/liveness.h"
#include "compiler/passes/narrow.h"
#include "compiler/passes/pad.h"
#include "compiler/passes/recompute.h"
#include "compiler/passes/settled.h"
#include "compiler/passes/shares.h"
#include "compiler/passes/short_loops.h"
#include "compiler/passes/sorted.h"
#include "compiler/passes/steps.h"
#include "compiler/passes/unread.h"
#include "compiler/passes/within.h"

namespace lehr::loops {
namespace {

/// All passes in the order in which they run. docs/passes.md has the standard name of each.
constexpr Pass kPasses[] = {
    {"dead", leave_out_unread},            // dead code elimination
    {"within", keep_within},               // array contraction: an array with a row for each item becomes one row
    {"shares", share_loops},               // outlining of independent loops outside the items as parallel regions
    {"invariants", hoist_invariants},      // loop-invariant code motion of loop nests
    {"settled", skip_settled},             // skipping of the steps of a recurrence at its fixed point
    {"sorted", sort_turns},                // length bucketing: items with sequences of similar length become neighbours
    {"lanes", run_in_lanes},               // outer-loop vectorisation of items with a recurrence inside
    {"steps", take_steps_together},        // unroll-and-jam of loops over steps, in functions with lanes
    {"short", take_short_items_together},  // outer-loop vectorisation of items with short inner loops
    {"blocks", run_in_blocks},             // register blocking: several items share the loads of a table
    {"narrow", narrow},                    // narrowing to 32 bits where single precision is asked for
    {"pad", pad_rows},                     // padding of rows of tables to whole cache lines
    {"jam", jam_turns},                    // unroll-and-jam of loops over data
    {"checks", check_after_loops},         // sinking of error checks out of innermost loops
    {"recompute", recompute},              // rematerialisation of cheap arrays
    {"unread", write_when_asked},          // demand-driven outputs: guards around what only some sweeps read
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

Program optimise(Program program) {
  const char* set = std::getenv("LEHR_NO_OPT");
  // Commas at both ends make every name in the list stand between two commas.
  const std::string without = std::string(",") + (set ? set : "") + ",";
  if (without.find(",all,") != std::string::npos) return program;
  for (const Pass& p : kPasses) {
    if (without.find("," + std::string(p.name) + ",") == std::string::npos) program = p.run(std::move(program));
  }
  return program;
}

}  // namespace lehr::loops
