// The options of `lehr fit`: their values, the definitions that the parser needs, and the fit itself. `lehr update` and
// the commands for shards reuse parts of them.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "compiler/console/data_arguments.h"
#include "compiler/console/pass_options.h"
#include "compiler/console/settings.h"
#include "compiler/options/fit_settings.h"
#include "compiler/options/methods.h"
#include "runtime/parallel/group.h"

namespace lehr::commands {

/// Values of all options of a fit. Without `out`, the fit writes no files.
struct FitArguments {
  /// Values of MODEL, --out and --resume; `command` is the whole command line, for fit.json.
  std::string model, out, resume, command;
  std::string prior;       // directory of a fit whose posterior is the prior, and whose settings are used; empty: none
  double prior_power = 1;  // --forget: power of that posterior in the prior, in (0, 1]
  DataArguments data;      // --data and --drop-missing
  SettingTexts settings;   // --set, --sizes and --labels, unparsed
  FitOptions fit;          // the options of the shared table; `start` is the text of --init, which may name files too
  std::string spill;       // --spill: directory for factors of out-of-core items; empty: none
  std::vector<std::string> test;        // --test: bindings of held-out data
  std::int64_t test_every = 0;          // sweeps or steps between held-out scores; 0: only at the end
  std::int64_t checkpoint_every = 0;    // sweeps or steps between checkpoints; 0: only at an interrupt
  std::int64_t predictive = 1'000'000;  // most log likelihoods, and most replicates, in draws.nc; 0: none
  PassTexts passes;        // --no-opt, --thresholds, --print-before, --print-after, --verify-each and --time-passes
  std::string each;        // --each: the column by whose values the data are split into groups; empty: one fit
  bool save_each = false;  // --save-each: write the files of each group's fit
  bool stream = false, quiet = false, profile = false, interpret = false;  // --stream, --quiet, --profile, --interpret

  /// Returns the row of --method, whose name was checked when the command line was parsed.
  const MethodTraits& method() const { return *find_method(fit.method); }
  /// Returns true if a temperature was requested (--anneal or --temper), so that the trace has a column for the
  /// tempered objective.
  bool has_objective() const { return !fit.anneal.empty() || !fit.temper.empty(); }
};

/// Adds all options of `lehr fit` to a command; parsing stores their values in `o`, which must outlive the command.
void add_fit_options(CLI::App& command, FitArguments& o);
/// Adds the options of the shared table fit_option_table() for which `is_wanted` returns true, in its order. Parsing
/// stores their values in `to`, which must outlive the command.
void add_shared_options(CLI::App& command, FitOptions& to, const std::function<bool(const FitOption&)>& is_wanted);
/// Sorts the options of a command that fits a model into the groups of its help page. Call it after they are defined.
void group_fit_options(CLI::App& command);
/// Adds --out, --checkpoint-every and --resume.
void add_results(CLI::App& command, FitArguments& o);
/// Resolves --out and --resume into `o.out` after the command line is parsed: with --resume alone, that directory is
/// also the output. Throws CLI::Error if neither is given, or they name different directories.
void resolve_output_directory(const CLI::App& command, FitArguments& o);

/// Runs a fit from reading its inputs to writing its files, and prints the summary. If `group` is not null, its
/// processes share the items. Returns the exit code after all errors have been printed.
ExitCode fit(FitArguments o, Group* group);

}  // namespace lehr::commands
