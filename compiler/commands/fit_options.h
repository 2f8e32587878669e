// The arguments of `lehr fit`.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/commands/data_arguments.h"
#include "compiler/commands/settings.h"
#include "compiler/options/fit_options.h"

namespace lehr::commands {

/// Without `out` nothing is written.
struct FitArguments {
  std::string model, out, resume, init, method = "cavi", command;
  std::string prior;  // a fit whose posterior is the prior,
  double keep = 1;    // to this power, and whose settings count
  DataArguments data;
  SettingTexts settings;
  FitOptions fit;                       // without `start` and `init`, which are in `init` here
  std::string spill;                    // directory for factors of items that are read in pieces
  std::vector<std::string> test;        // bindings of held-out data
  std::int64_t test_every = 0;          // sweeps or steps; 0: at the end alone
  std::int64_t checkpoint_every = 0;    // sweeps or steps; 0: at an interrupt alone
  std::int64_t predictive = 1'000'000;  // numbers of each kind in draws.nc; 0: neither kind
  bool stream = false, quiet = false, profile = false, interpret = false;

  bool has_objective() const { return !fit.anneal.empty() || !fit.temper.empty(); }
};

void add_fit_options(CLI::App& command, FitArguments& o);
/// Those of them that are numbers.
void add_fit_numbers(CLI::App& command, FitArguments& o);
/// Sorts the options of a fit into the groups of its help page.
void group_fit_options(CLI::App& command);
/// Where the results go, and what a fit that was interrupted goes on from.
void add_results(CLI::App& command, FitArguments& o);
/// When all is parsed: --resume names the directory, or --out does, or both the same. Throws CLI::Error.
void settle_results(const CLI::App& command, FitArguments& o);

/// The fit, shared out among the processes of the group if there is one.
ExitCode fit(FitArguments o, Group* group);

}  // namespace lehr::commands
