// The options --set, --sizes, --labels and --no-cache, which several commands share.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/console/console.h"

namespace lehr::commands {

/// Values of the options --set, --sizes and --labels as they were typed, each NAME=VALUE; read_settings() parses them.
struct SettingTexts {
  std::vector<std::string> set, sizes, labels;  // values of the options of these names
};

/// Help text of the option --sizes in commands that fit data.
inline constexpr const char* kSizesOfDataHelp =
    "Sizes of plates (index sets such as `term`), e.g. topic=100,term=5000; default: those of the model or the data";
/// Help text of the option --sizes in commands that simulate data.
inline constexpr const char* kSizesToSimulateHelp =
    "Sizes of plates (index sets such as `term`), e.g. doc=200,term=50; needed for those that neither the model nor "
    "--data gives";
/// Help text of the option --sizes in commands that generate code without data, such as build and emit.
inline constexpr const char* kSizesOfCodeHelp =
    "Sizes of plates (index sets such as `term`) that become constants of the code, e.g. topic=100,term=5000; others "
    "stay variables";

/// Help text of the option --labels in commands where only the number of labels counts.
inline constexpr const char* kLabelsOfCodeHelp =
    "Names of the elements of a plate (an index set such as `term`), one per line of a text file: term=vocab.txt. Only "
    "their number counts here: it is the size of the plate, as with --sizes. Default: none; repeatable";

/// Adds --set, --sizes (with this help text) and --labels to a command; parsing stores their values in `texts`, which
/// must outlive the command.
void add_settings(CLI::App& command, SettingTexts& texts, const std::string& sizes_help);

/// Adds --no-cache, which compiles the model again instead of using cached machine code. It sets LEHR_CACHE=off in the
/// environment of the process.
void add_no_cache(CLI::App& command);

/// Parses the values of --set and --sizes and reads the files of --labels, and returns them as settings for binding.
/// Names are not compared with the model. Fails with ExitCode::usage if a text is malformed or a name is given twice,
/// and with the error of the reader for label files.
Result<Settings> read_settings(const SettingTexts& texts);

}  // namespace lehr::commands
