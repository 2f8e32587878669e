// The optimisation passes over Loops and the order in which they run.
// A pass is a function from a program to a program that computes the same with less work. Only the order in which sums
// are added may change; `narrow` also rounds to 32 bits where single precision is asked for. Each pass tests conditions
// on loops and arrays; it does not know the model.
// docs/passes.md lists the passes with their standard names and measured gains.
#pragma once
#include <span>
#include <string_view>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// A pass of the pipeline: its name and the function that runs it.
struct Pass {
  std::string_view name;            // what --no-opt and LEHR_NO_OPT call the pass
  Program (*run)(Program program);  // returns the program after the pass
};

/// Returns all passes, in the order in which optimise() runs them.
std::span<const Pass> passes();

/// Returns the program after all passes have run on it, in order. The environment variable LEHR_NO_OPT leaves passes
/// out: it holds their names with commas between, or "all" for every pass.
Program optimise(Program program);

}  // namespace lehr::loops
