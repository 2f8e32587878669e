// The commands and options of `lehr` as plain data, read from their definitions for the parser. The manual page, shell
// completion and suggestions for mistyped words are made from them. Help pages (help_page.h) share full_help().
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lehr::commands {

/// The description of one option or positional argument, for the manual page, shell completion and suggestions.
struct OptionText {
  std::vector<std::string> names;    // all spellings: "-o", "--out"; of a positional argument its name: "MODEL"
  bool positional = false;           // true for an argument without a dash
  std::string value;                 // placeholder of the option's value: "TEXT ..."; empty for a flag
  std::vector<std::string> choices;  // all values that are allowed; empty if any value is
  std::string help;                  // help text with default and requirements in brackets, from full_help()
};

/// The description of one subcommand, for the manual page, shell completion and suggestions.
struct CommandText {
  std::string name, description, footer;  // name of the command, one line about it, and examples
  std::vector<OptionText> options;        // options of the command that its help shows, in order of definition
};

/// Returns the help text of an option, followed in brackets by its default, whether it is required, and the options
/// that it needs or excludes.
std::string full_help(const CLI::Option& option);

/// Returns the descriptions of all subcommands of `app`, read from the definitions for the parser, in their order.
/// Options that help pages do not show are left out.
std::vector<CommandText> commands_of(const CLI::App& app);

/// Returns the names of these commands, in their order; used to check and suggest names that a user types.
std::vector<std::string> names_of(const std::vector<CommandText>& commands);

/// Returns a check for the parser that accepts only these values of an option or argument. For others the error
/// suggests the most similar value.
CLI::Validator one_of(std::vector<std::string> values);

/// Returns what the user may have wanted by a command line that failed to parse, as notes of one line each, ready to be
/// printed. If it names no command, the first word without a dash gets a note with the most similar command, or else a
/// list of commands. Otherwise each unknown option gets a note with the most similar option of the command, if there is
/// one. Call it after parsing failed. The result is empty if there is nothing to suggest.
std::string suggest_corrections(const CLI::App& app);

/// Returns the manual page of the program, which `lehr help --man` prints: all commands and options in the macros of
/// man(7).
std::string manual_page(const CLI::App& app, const std::string& version);

/// Returns the script that `lehr completion` prints: loaded into `shell`, it completes commands, options and their
/// values. `shell` must be one of completion_shells().
std::string completion_script(const CLI::App& app, const std::string& shell);
/// Returns the names of the shells for which completion_script() can write a script: bash, zsh, fish.
std::vector<std::string> completion_shells();

}  // namespace lehr::commands
