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

/// Values of all options of `lehr fit` as they were parsed. Without `out`, the fit writes no files.
struct FitArguments {
  /// Values of MODEL, --out and --resume; `command` is the whole command line, for fit.json.
  std::string model, out, resume, command;
  std::string prior;  // of `lehr update`: directory of a fit whose posterior is the prior, and whose settings are used
  double prior_power = 1;         // --forget: power of that posterior in the prior, in (0, 1]
  DataArguments data;             // --data and --drop-missing
  SettingTexts settings;          // --set, --sizes and --labels, unparsed
  FitOptions fit;                 // options that the library has too (fit_option_table()); `start` may also name a file
  std::string spill;              // --spill: directory for factors of out-of-core items; empty: none
  std::vector<std::string> test;  // --test: bindings of held-out data
  std::int64_t test_every = 0;    // --test-every: sweeps or steps between held-out scores; 0: only at the end
  std::int64_t checkpoint_every = 0;    // --checkpoint-every: sweeps or steps between checkpoints; 0: at an interrupt
  std::int64_t predictive = 1'000'000;  // --predictive: most log likelihoods, and most replicates, in draws.nc; 0: none
  PassTexts passes;        // --no-opt, --thresholds, --print-before, --print-after, --verify-each and --time-passes
  std::string each;        // --each: the column by whose values the data are split into groups; empty: one fit
  bool save_each = false;  // --save-each: write the files of each group's fit
  /// --stream: read items from their files batch by batch. --quiet: print neither progress nor summary. --profile:
  /// report the time of each step. --interpret: run the interpreter instead of native code.
  bool stream = false, quiet = false, profile = false, interpret = false;

  /// Returns the traits of the inference method that --method names: its row in the table of methods. The name was
  /// checked when the command line was parsed.
  const MethodTraits& method() const { return *find_method(fit.method); }
  /// Returns true if a temperature was requested (--anneal or --temper), so that the trace has a column for the
  /// tempered objective.
  bool has_objective() const { return !fit.anneal.empty() || !fit.temper.empty(); }
};

/// Adds all options of `lehr fit` to a command; parsing stores their values in `o`, which must outlive the command.
void add_fit_options(CLI::App& command, FitArguments& o);
/// Adds to a command those options of fit_option_table(), the table that command line and library share, for which
/// `is_wanted` returns true, in its order. Parsing stores their values in `to`, which must outlive the command.
void add_shared_options(CLI::App& command, FitOptions& to, const std::function<bool(const FitOption&)>& is_wanted);
/// Sorts the options of a command that fits a model into the groups of its help page (data, method, stopping, ...).
/// Call it after they are defined; options that the command lacks are skipped.
void group_fit_options(CLI::App& command);
/// Adds --out, --checkpoint-every and --resume to a command. Parsing stores their values in `o`, which must outlive it.
void add_results(CLI::App& command, FitArguments& o);
/// Resolves --out and --resume into `o.out` after the command line is parsed: with --resume alone, that directory is
/// also the output. Throws CLI::Error if neither is given, or they name different directories.
void resolve_output_directory(const CLI::App& command, FitArguments& o);

/// Runs `lehr fit` and `lehr update`: reads the inputs, makes all runs, writes the files and prints the summary. If
/// `group` is not null, its processes share the items. Returns the exit code after all errors have been printed.
ExitCode fit(FitArguments o, Group* group);

}  // namespace lehr::commands
