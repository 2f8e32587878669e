// The table of passes, and the loop that runs them.
// The order matters: passes that need the original loops (`shares`, `invariants`, `sorted`) come before those that
// vectorise them. `narrow`, `pad` and the rest work on the loops that are then there.
#include "compiler/passes/passes.h"

#include <cstdlib>
#include <string>

#include "compiler/passes/block_registers.h"
#include "compiler/passes/bucket_by_length.h"
#include "compiler/passes/contract_arrays.h"
#include "compiler/passes/guard_on_demand.h"
#include "compiler/passes/hoist_invariants.h"
#include "compiler/passes/jam_data_loops.h"
#include "compiler/passes/jam_steps.h"
#include "compiler/passes/liveness.h"
#include "compiler/passes/narrow.h"
#include "compiler/passes/outline_parallel_loops.h"
#include "compiler/passes/pad_rows.h"
#include "compiler/passes/rematerialise.h"
#include "compiler/passes/sink_error_checks.h"
#include "compiler/passes/skip_at_fixed_point.h"
#include "compiler/passes/vectorise_recurrences.h"
#include "compiler/passes/vectorise_short_items.h"

namespace lehr::loops {
namespace {

/// All passes in the order in which they run. docs/passes.md has the standard name of each.
constexpr Pass kPasses[] = {
    {"eliminate-dead-code", eliminate_dead_code},  // dead code elimination
    {"contract-arrays", contract_arrays},  // array contraction: an array with a row for each item becomes one row
    {"outline-parallel-loops",
     outline_parallel_loops},                // outlining of independent loops outside the items as parallel regions
    {"hoist-invariants", hoist_invariants},  // loop-invariant code motion of loop nests
    {"skip-at-fixed-point", skip_at_fixed_point},  // skipping of the steps of a recurrence at its fixed point
    {"bucket-by-length",
     bucket_by_length},  // length bucketing: items with sequences of similar length become neighbours
    {"vectorise-recurrences", vectorise_recurrences},  // outer-loop vectorisation of items with a recurrence inside
    {"jam-steps", jam_steps},                          // unroll-and-jam of loops over steps, in functions with lanes
    {"vectorise-short-items", vectorise_short_items},  // outer-loop vectorisation of items with short inner loops
    {"block-registers", block_registers},              // register blocking: several items share the loads of a table
    {"narrow", narrow},                                // narrowing to 32 bits where single precision is asked for
    {"pad-rows", pad_rows},                            // padding of rows of tables to whole cache lines
    {"jam-data-loops", jam_data_loops},                // unroll-and-jam of loops over data
    {"sink-error-checks", sink_error_checks},          // sinking of error checks out of innermost loops
    {"rematerialise", rematerialise},                  // rematerialisation of cheap arrays
    {"guard-on-demand", guard_on_demand},  // demand-driven outputs: guards around what only some sweeps read
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
