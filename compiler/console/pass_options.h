// Options of commands that choose the optimisation passes, and show what they do to a program.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/console/console.h"
#include "compiler/passes/passes.h"

namespace lehr::commands {

/// The values of the options.
struct PassTexts {
  std::vector<std::string> without;        // names of passes that do not run; "all"
  std::vector<std::string> thresholds;     // NAME=VALUE, of thresholds that are moved (runtime/threshold.h)
  std::vector<std::string> before, after;  // names of passes around which the program is printed; "all"
  bool verify_each = false;                // verify the program after each pass
  bool time = false;                       // print the time of each pass
};

/// Adds --no-opt, which leaves out the named passes (compiler/passes/passes.h). Parsing stores the names in `texts`,
/// which must outlive the command.
void add_no_opt(CLI::App& command, PassTexts& texts);

/// Adds --thresholds, --print-before, --print-after, --verify-each and --time-passes. Parsing stores their values in
/// `texts`, which must outlive the command.
void add_pass_options(CLI::App& command, PassTexts& texts);

/// Returns a message about the first entry of a list "name=value,name=value" of thresholds whose value is not a number;
/// empty if there is none.
std::string wrong_threshold(std::string_view list);

/// Returns a check that a name is that of a pass or "all".
CLI::IsMember is_pass();

/// Returns the options for optimise(). Programs are printed to stdout, under a line that names the pass, and times to
/// stderr.
loops::PassOptions pass_options(const PassTexts& texts);

}  // namespace lehr::commands
