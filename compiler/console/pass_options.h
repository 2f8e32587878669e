// Options of commands that choose the optimisation passes, and show what they do to a program.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/console/console.h"
#include "compiler/passes/passes.h"

namespace lehr::commands {

/// Values of the options that choose, print and verify the optimisation passes, as they were typed.
struct PassTexts {
  std::vector<std::string> without;        // --no-opt: names of passes that do not run, or "all"
  std::vector<std::string> thresholds;     // --thresholds: NAME=VALUE, of thresholds that get other values
  std::vector<std::string> before, after;  // --print-before and --print-after: names of passes, or "all"
  bool verify_each = false;                // --verify-each: verify the program before the first pass and after each
  bool time = false;                       // --time-passes: print the time of each pass
};

/// Adds --no-opt, which leaves out the named passes (compiler/passes/passes.h). Parsing stores the names in `texts`,
/// which must outlive the command.
void add_no_opt(CLI::App& command, PassTexts& texts);

/// Adds --thresholds, --print-before, --print-after, --verify-each and --time-passes. Parsing stores their values in
/// `texts`, which must outlive the command.
void add_pass_options(CLI::App& command, PassTexts& texts);

/// Checks a list "name=value,name=value" of thresholds, from --thresholds or the environment: returns a message about
/// the first entry that has no number as its value, or an empty text if there is none. Names are not checked.
std::string wrong_threshold(std::string_view list);

/// Returns a check for the parser that accepts the names of optimisation passes and "all", for options such as
/// --no-opt.
CLI::IsMember is_pass();

/// Converts the typed options to those of optimise(), which runs the passes. Programs are printed to stdout, under a
/// line that names the pass, and times to stderr. Names must have been checked.
loops::PassOptions pass_options(const PassTexts& texts);

}  // namespace lehr::commands
