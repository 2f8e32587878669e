// The commands and options of `lehr` as plain data, read from their definitions for the parser. The manual page, shell
// completion and suggestions for mistyped words are made from them. Help pages (help_page.h) share full_help().
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lehr::commands {

/// The description of one option or positional argument, for the manual page, shell completion and suggestions.
struct OptionText {
  std::vector<std::string> names;    // "--data", "-o"; for a positional argument its name: "MODEL"
  bool positional = false;           // true for an argument without a dash
  std::string value;                 // placeholder of the option's value: "TEXT ..."; empty for a flag
  std::vector<std::string> choices;  // all values that are allowed; empty if any value is
  std::string help;                  // full help text of the option, see full_help
};

/// The description of one subcommand.
struct CommandText {
  std::string name, description, footer;  // name of the command, one line about it, and examples
  std::vector<OptionText> options;        // options of the command that its help shows, in order of definition
};

/// Returns the help text of an option, followed in brackets by its default, whether it is required, and the options
/// that it needs or excludes.
std::string full_help(const CLI::Option& option);

/// Returns the descriptions of all subcommands of `app`, in the order of their definition.
std::vector<CommandText> commands_of(const CLI::App& app);

/// Returns the names of these commands, in their order.
std::vector<std::string> names_of(const std::vector<CommandText>& commands);

/// Returns a validator that accepts only these values of an option. For others the error suggests the most similar
/// value.
CLI::Validator one_of(std::vector<std::string> values);

/// Returns notes for a command line that failed to parse, one line each, ready to be printed. If it names no command,
/// the first word without a dash gets a note. The note has the most similar command, or else a list of commands.
/// Otherwise each unknown option gets a note with the most similar option of the command, if there is one.
///
/// Call it after parsing failed. The result is empty if there is nothing to suggest.
std::string suggest_corrections(const CLI::App& app);

/// Returns the manual page of the program in the macros of man(7), with all commands and options.
std::string manual_page(const CLI::App& app, const std::string& version);

/// Returns a script that completes commands, options and their values in `shell`, which must be one of
/// completion_shells().
std::string completion_script(const CLI::App& app, const std::string& shell);
/// Returns the names of the shells that completion_script supports.
std::vector<std::string> completion_shells();

}  // namespace lehr::commands
