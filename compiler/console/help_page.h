// Help pages of commands: a short page (-h) and a full page (--help). Options are sorted into named groups and texts
// are wrapped to the width of the page. CLI11 calls HelpPage as its formatter.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lehr::commands {

/// The headings of the groups of options, in the order in which a help page shows them; other groups come before the
/// last.
inline constexpr const char* kDataOptions = "Data";      // heading of the options that name data and sizes, as --data
inline constexpr const char* kMethodOptions = "Method";  // heading of the inference method and its numbers, as --method
inline constexpr const char* kStartOptions = "Starts and search";  // heading of starts and restarts, as --search
inline constexpr const char* kTemperatureOptions = "Temperature";  // heading of annealing and tempering, as --anneal
inline constexpr const char* kStoppingOptions = "Stopping";        // heading of limits and tolerances, as --max-iter
inline constexpr const char* kResourceOptions = "Resources";  // heading of threads, precision and caches, as --threads
inline constexpr const char* kOutputOptions = "Output";       // heading of output files and messages, as --out
inline constexpr const char* kDeveloperOptions = "For developers";  // heading of options to debug Lehr, as --no-opt

/// Moves the named options of a command to a group of its help page, which has `group` as its heading (kDataOptions,
/// ...). Names that the command does not have are ignored.
void put_in_group(CLI::App& command, const char* group, const std::vector<std::string>& options);

/// Gives a command two help pages: -h shows only the options named in `common`, --help shows all. Call it after all
/// options of the command are defined.
void add_short_help(CLI::App& command, std::vector<std::string> common);

/// Formats the help page of a command: its usage, its arguments, its options by group, and its footer.
class HelpPage : public CLI::Formatter {
 public:
  /// Makes a formatter whose short page shows only the options named in `common`. Without names, the short page shows
  /// all options.
  explicit HelpPage(std::vector<std::string> common = {}) : common_(std::move(common)) {}
  /// Returns the text of the help page of `app`; `mode` chooses the short or the full page. The page of an app with
  /// subcommands is that of CLI::Formatter. CLI11 calls this.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  std::vector<std::string> common_;  // names of the options that the short page (-h) shows; empty: all
};

}  // namespace lehr::commands
