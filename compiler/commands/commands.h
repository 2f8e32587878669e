// The subcommands of `lehr`. Each add_* function declares one subcommand with its options. When the user names it, its
// parser callback stores the work to do in an Action. Commands print results to stdout, errors and warnings to stderr,
// and return an exit code.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "compiler/console/console.h"
#include "runtime/parallel/group.h"

namespace lehr::commands {

/// Adds the subcommand `lehr build`, which compiles a model to an object file or shared library, with C and C++
/// headers, for use in other programs.
void add_build(CLI::App& app, Action& action);
/// Adds the subcommand `lehr calibrate`, which tests an inference method on data simulated from the model.
void add_calibrate(CLI::App& app, Action& action);
/// Adds the subcommand `lehr check`, which parses and analyses a model without data, and prints only errors and
/// warnings.
void add_check(CLI::App& app, Action& action);
/// Adds the subcommand `lehr compare`, which compares two saved fits number by number, or lists more than two in a
/// table.
void add_compare(CLI::App& app, Action& action);
/// Adds the subcommand `lehr completion`, which prints a script that completes commands and options in bash, zsh or
/// fish.
void add_completion(CLI::App& app, Action& action);
/// Adds the subcommand `lehr derive`, which prints the complete conditionals, the variational updates and the ELBO that
/// the compiler derives from a model.
void add_derive(CLI::App& app, Action& action);
/// Adds the subcommand `lehr diagnose`, which estimates how far a variational fit is from the true posterior.
void add_diagnose(CLI::App& app, Action& action);
/// Adds the subcommand `lehr draws`, which writes draws from the posterior of a saved fit for other programs.
void add_draws(CLI::App& app, Action& action);
/// Adds the subcommand `lehr emit`, which prints a model in an intermediate representation of the compiler, for
/// developers.
void add_emit(CLI::App& app, Action& action);
/// Adds the subcommand `lehr format`, which rewrites model files in the standard formatting.
void add_format(CLI::App& app, Action& action);
/// Adds the subcommand `lehr families`, which lists the distributions of the language with their parameters and
/// densities.
void add_families(CLI::App& app, Action& action);
/// Adds the subcommand `lehr fit`, which fits a model to data. `command` is the whole command line, which fit.json
/// records. If `group` is not null, the processes of this group share the items of the data.
void add_fit(CLI::App& app, Action& action, const std::string& command, Group* group);
/// Adds the subcommand `lehr new`, which writes a commented example model and toy data to begin with.
void add_new(CLI::App& app, Action& action);
/// Adds the subcommand `lehr opt`, which runs passes of the compiler on a file with a program in Loops, for developers.
void add_opt(CLI::App& app, Action& action);
/// Adds the subcommand `lehr help`, which shows the options of a command, lists all commands or prints the manual page.
/// It must be called after all other add_* functions, since it accepts the names of the commands that exist by then.
void add_help(CLI::App& app, Action& action);
/// Adds the subcommand `lehr plan`, which estimates memory and operations of a fit from the sizes of its data.
void add_plan(CLI::App& app, Action& action);
/// Adds the subcommand `lehr predict`, which predicts new items and missing values from a saved fit.
void add_predict(CLI::App& app, Action& action);
/// Adds the subcommand `lehr report`, which writes a saved fit as one HTML page with plots.
void add_report(CLI::App& app, Action& action);
/// Adds the subcommand `lehr score`, which computes the log predictive density of held-out data under a saved fit.
void add_score(CLI::App& app, Action& action);
/// Adds the subcommand `lehr show`, which prints the posterior of a saved fit as text, CSV or JSON.
void add_show(CLI::App& app, Action& action);
/// Adds the subcommand `lehr simulate`, which draws latent variables and data from a model.
void add_simulate(CLI::App& app, Action& action);
/// Adds the subcommand `lehr stats`, the first half of a distributed sweep. It updates the local factors of one part of
/// the items and writes their expected sufficient statistics to a file, which `lehr update-globals` reads.
void add_stats(CLI::App& app, Action& action);
/// Adds the subcommand `lehr update`, which fits new data with the posterior of a saved fit as the prior. `command` is
/// the whole command line, which fit.json records.
void add_update(CLI::App& app, Action& action, const std::string& command);
/// Adds the subcommand `lehr update-globals`, which adds up the statistics of all parts that `lehr stats` wrote, and
/// updates the global factors from them. `command` is the whole command line, which fit.json records.
void add_update_globals(CLI::App& app, Action& action, const std::string& command);

}  // namespace lehr::commands
