// Help of commands: options in groups, with texts that are wrapped to the width of a page.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lehr::commands {

/// Names of the groups of options, in the order in which a help page shows them.
inline constexpr const char* kDataOptions = "Data";
inline constexpr const char* kMethodOptions = "Method";
inline constexpr const char* kStartOptions = "Starts and search";
inline constexpr const char* kTemperatureOptions = "Temperature";
inline constexpr const char* kStoppingOptions = "Stopping";
inline constexpr const char* kResourceOptions = "Resources";
inline constexpr const char* kOutputOptions = "Output";
inline constexpr const char* kDeveloperOptions = "For developers";

/// Moves options of a command to a group; names that the command lacks are passed over.
void put_in_group(CLI::App& command, const char* group, const std::vector<std::string>& options);

/// Gives a command two help pages: -h shows the options of `common`, --help shows all of them. Call it after all
/// options of the command are defined.
void add_short_help(CLI::App& command, std::vector<std::string> common);

/// Writes the help pages of a command. A page shows its usage, its arguments and options by group, and its footer.
class HelpPage : public CLI::Formatter {
 public:
  /// The short page shows the options with the names of `common` alone; without names it shows all.
  explicit HelpPage(std::vector<std::string> common = {}) : common_(std::move(common)) {}
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  std::vector<std::string> common_;
};

}  // namespace lehr::commands
