// What the command line takes, read from the definition of its options: for help, manual page and completion.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lehr::commands {

struct OptionText {
  std::vector<std::string> names;  // "--data", "-o"; of an argument without: "MODEL"
  bool positional = false;
  std::string value;                 // what follows the name: "TEXT ..."; empty of a flag
  std::vector<std::string> choices;  // all values there are; empty where they cannot be listed
  std::string help;
};

struct CommandText {
  std::string name, description, footer;
  std::vector<OptionText> options;
};

/// Every command, in the order of their definition.
std::vector<CommandText> commands_of(const CLI::App& app);

std::vector<std::string> names_of(const std::vector<CommandText>& commands);

/// One of these values; another is refused with the nearest of them.
CLI::Validator one_of(std::vector<std::string> values);

/// About the words that the command line does not know, a note a line: the nearest command or option.
std::string notes_on_unknown_words(const CLI::App& app);

/// The manual page, for man(1).
std::string manual_page(const CLI::App& app, const std::string& version);

/// A script for `shell`, one of completion_shells().
std::string completion_script(const CLI::App& app, const std::string& shell);
std::vector<std::string> completion_shells();

}  // namespace lehr::commands
