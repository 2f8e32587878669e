// The subcommands: each adds its options to the command line and says what to do when it is the one that was
// given. A command prints its result to stdout and its complaints to stderr, and returns an exit code.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/support/diagnostic.h"
#include "runtime/methods/group.h"
#include "runtime/result.h"

namespace lehr::commands {

/// Set by a subcommand's callback; run after the whole command line is parsed.
using Action = std::function<ExitCode()>;

void add_build(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_derive(CLI::App& app, Action& action);
void add_diagnose(CLI::App& app, Action& action);
void add_draws(CLI::App& app, Action& action);
void add_emit(CLI::App& app, Action& action);
void add_format(CLI::App& app, Action& action);
void add_families(CLI::App& app, Action& action);
/// `command`: the whole command line, for fit.json. With a group, the fit is shared out among its processes.
void add_fit(CLI::App& app, Action& action, const std::string& command, Group* group);
void add_new(CLI::App& app, Action& action);
/// After all others, which it knows by name.
void add_help(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_score(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_stats(CLI::App& app, Action& action);
void add_update(CLI::App& app, Action& action, const std::string& command);
void add_update_globals(CLI::App& app, Action& action, const std::string& command);

/// The words of a command line, quoted for a POSIX shell where they need it.
std::string command_line(int argc, char const* const* argv);

/// The model file, or nothing and a complaint on stderr.
std::optional<Source> read_model(const std::string& path);

/// write_file() to a path whose folder is made where it is missing.
Result<bool> write_output(const std::string& path, std::string_view bytes);

/// An error without a place is about `where`; to stderr.
ExitCode complain_of(Error error, const std::string& where);

/// Prints warnings and errors to stderr; ExitCode::model when there are errors, else ExitCode::done.
ExitCode report(const Diagnostics& diagnostics, const Source& source);

}  // namespace lehr::commands
