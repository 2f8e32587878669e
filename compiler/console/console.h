// What all commands share: the work that a command leaves behind, reading a model, writing output, printing errors.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostic.h"
#include "runtime/result.h"

namespace lehr::commands {

/// The work of the subcommand that the user named. Its callback sets it while the command line is parsed; main calls it
/// once afterwards. It returns the exit code of the program.
using Action = std::function<ExitCode()>;

/// Returns a command line as one text, for messages and fit.json: its words separated by blanks. Words that a POSIX
/// shell would interpret are quoted, so that the result can be pasted into a shell.
std::string command_line(int argc, char const* const* argv);

/// Reads the text of a model file; it is not parsed. If it cannot be read, prints an error with suggestions (a similar
/// name, a model of `lehr new`) to stderr and returns nothing.
std::optional<Source> read_model(const std::string& path);

/// Writes an output file to a path that the user gave, and makes its directory if it is missing. An existing file is
/// replaced. Returns an Error if the file cannot be written; the value is always true.
Result<bool> write_output(const std::string& path, std::string_view bytes);

/// Prints an error to stderr, located at `where` (a file name) if the error has no location of its own. Returns the
/// exit code of the error.
ExitCode complain_of(Error error, const std::string& where);

/// Prints warnings and errors about a model to stderr, with the lines of `source` that they concern. Notes whose
/// proposals would not work are left out (render_tested). Returns ExitCode::model if there are errors, else
/// ExitCode::done.
ExitCode report(const Diagnostics& diagnostics, const Source& source);

/// Prints warnings or notes of a command, such as those about data or a fit, to stderr: `where: warning: text`, with
/// the notes of each below it. `where` is a file or directory name; without it a line begins with the severity.
void print_diagnostics(const std::vector<Diagnostic>& diagnostics, const std::string& where = {});

/// Prints an error with its notes to stderr and returns its exit code.
ExitCode complain(const Error& error);

}  // namespace lehr::commands
