// The table of passes, and the loop that runs them.
// The order matters: passes that need the original loops (`outline-parallel-loops`, `hoist-invariants`,
// `bucket-by-length`) come before those that vectorise them. `narrow` and the rest work on the loops that are then
// there.
#include "compiler/passes/passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "compiler/loops/verify.h"
#include "compiler/loops/verify_regions.h"
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

/// Throws std::logic_error with the problems of a malformed program, and when it was so.
void require_well_formed(const Program& program, std::string_view when) {
  for (const auto& problems : {verify(program), verify_regions(program)})
    if (!problems.empty()) throw std::logic_error(fmt::format("{}: {}", when, fmt::join(problems, "; ")));
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

std::vector<Pass> passes_without(std::string_view names) {
  // Commas at both ends make every name in the list stand between two commas.
  const std::string without = fmt::format(",{},", names);
  const auto runs = [&](const Pass& p) {
    return without.find(fmt::format(",{},", p.name)) == std::string::npos && without.find(",all,") == std::string::npos;
  };
  std::vector<Pass> out;
  std::ranges::copy_if(kPasses, std::back_inserter(out), runs);
  return out;
}

std::vector<Pass> default_passes() {
  const char* const names = std::getenv("LEHR_NO_OPT");
  return passes_without(names ? names : "");
}

Program optimise(Program program, const PassOptions& options) {
  if (options.verify_each) require_well_formed(program, "before the first pass");
  for (const Pass& p : options.passes) {
    if (!options.on_pass && !options.verify_each) {
      program = p.run(std::move(program));
      continue;
    }
    const auto begin = std::chrono::steady_clock::now();
    Program after = p.run(program);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (options.on_pass) options.on_pass({p, program, after, elapsed.count()});
    if (options.verify_each) require_well_formed(after, fmt::format("after {}", p.name));
    program = std::move(after);
  }
  return program;
}

}  // namespace lehr::loops
