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

constexpr Pass kPasses[] = {
    {"dead", leave_out_unread},            // what nothing reads is not formed
    {"within", keep_within},               // what an item forms and nobody else reads has room for one item
    {"shares", share_loops},               // loops whose turns have nothing to do with each other run in ranges
    {"invariants", hoist_invariants},      // what is the same in every turn of a loop is computed once, before it
    {"settled", skip_settled},             // recurrences of state alone, once they repeat themselves
    {"sorted", sort_turns},                // items with rows of about the same length come together
    {"lanes", run_in_lanes},               // chains of several items are worked on side by side
    {"steps", take_steps_together},        // what sequences side by side add at every step is added for four at a time
    {"short", take_short_items_together},  // items with loops that are shorter than vectors lie in lanes
    {"blocks", run_in_blocks},             // several items read a table together
    {"narrow", narrow},                    // 32 bits, where they were asked for and do
    {"pad", pad_rows},                     // rows of tables begin where vectors do
    {"jam", jam_turns},                    // turns of loops over data go together, several at a time
    {"checks", check_after_loops},         // what fails at an element does so after the loop over them
    {"recompute", recompute},              // arrays that are read from memory are computed where they are read
    {"unread", write_when_asked},          // what no sweep reads of items' factors is written where it is asked for
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

Program optimise(Program program) {
  const char* set = std::getenv("LEHR_NO_OPT");
  const std::string without = std::string(",") + (set ? set : "") + ",";
  if (without.find(",all,") != std::string::npos) return program;
  for (const Pass& p : kPasses) {
    if (without.find("," + std::string(p.name) + ",") == std::string::npos) program = p.run(std::move(program));
  }
  return program;
}

}  // namespace lehr::loops
