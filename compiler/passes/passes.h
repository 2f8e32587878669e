// The optimisation passes over Loops and the order in which they run.
// A pass is a function from a program to a program that computes the same with less work. Results may differ by
// rounding alone: sums are added in another order, and a factor that all terms share is taken out (factors.h). `narrow`
// also rounds to 32 bits where single precision is requested. Each pass tests conditions on loops and arrays; it does
// not see the model. docs/passes.md lists the passes with their standard names and measured gains.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

// The passes: a function each, from a program to a program. Its source file says what it does.
#define LEHR_PASS(function, name, text) Program function(Program program);
#include "compiler/passes/passes.def"
#undef LEHR_PASS

/// An optimisation pass over Loops, as an entry of the list of passes: its name for options, its description and its
/// function.
struct Pass {
  std::string_view name;            // what --no-opt calls the pass
  std::string_view text;            // what it does, in one line for help: "dead code elimination"
  Program (*run)(Program program);  // returns the program after the pass
};

/// Returns all passes, in the order in which optimise() runs them.
std::span<const Pass> passes();

/// Returns all passes but those whose names are in the list, in their order, for --no-opt. "all" stands for every pass,
/// and names of no pass are ignored.
std::vector<Pass> passes_without(const std::vector<std::string>& names);
/// Returns all passes but those that the environment variable LEHR_NO_OPT names, with commas between, so that all tests
/// can run without passes. Nothing else reads the variable.
std::vector<Pass> default_passes();

/// The argument of PassOptions::on_pass, which optimise() calls after each pass. It has the pass, the whole program
/// before and after it, and the time that it took, in seconds of wall time. The references are valid only during the
/// call. The options --print-before, --print-after and --time-passes print from it.
struct PassReport {
  const Pass& pass;       // the pass that has run
  const Program& before;  // the program that it was given
  const Program& after;   // the program that it returned
  double seconds;         // wall time that the pass took
};

/// Which passes optimise() runs, and what else it does. Nothing else changes what the passes do: environment variables
/// change the defaults of these fields alone.
struct PassOptions {
  std::vector<Pass> passes = default_passes();          // the passes to run, in this order
  bool verify_each = false;                             // verify the program before the first pass and after each
  std::function<void(const PassReport&)> on_pass = {};  // called after each pass
  Thresholds thresholds = thresholds_of_environment();  // become Program::thresholds; lowering uses them, too

  /// Returns the same options without `on_pass`, for further programs that a command compiles.
  PassOptions without_reports() const { return {passes, verify_each, {}, thresholds}; }
};

/// Returns the program after all passes of the options, in their order. With `verify_each`, a malformed program throws
/// std::logic_error with the problems and the pass after which they were found.
Program optimise(Program program, const PassOptions& options = {});

}  // namespace lehr::loops
