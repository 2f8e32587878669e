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

/// Returns the words of a command line separated by blanks. Words that a POSIX shell would interpret are quoted, so
/// that the result can be pasted into a shell.
std::string command_line(int argc, char const* const* argv);

/// Reads a model file. If it cannot be read, prints an error with suggestions to stderr and returns nothing.
std::optional<Source> read_model(const std::string& path);

/// Writes a file whose path the user gave, and makes its directory if it is missing. Returns an Error if the file
/// cannot be written; the value is always true.
Result<bool> write_output(const std::string& path, std::string_view bytes);

/// Prints an error to stderr, located at `where` (a file name) if the error has no location of its own. Returns the
/// exit code of the error.
ExitCode complain_of(Error error, const std::string& where);

/// Prints warnings and errors about a model to stderr, with lines of `source`, without notes whose proposals do not
/// work (render_tested). Returns ExitCode::model if there are errors, else ExitCode::done.
ExitCode report(const Diagnostics& diagnostics, const Source& source);

/// Prints warnings or notes to stderr, as `where: warning: text` with the notes of each below it. Without `where`, a
/// line begins with the severity.
void print_diagnostics(const std::vector<Diagnostic>& diagnostics, const std::string& where = {});

/// Prints an error with its notes to stderr and returns its exit code.
ExitCode complain(const Error& error);

}  // namespace lehr::commands
