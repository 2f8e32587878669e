// --set, --sizes, --labels: what several commands take besides data.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/commands/commands.h"
#include "compiler/model/bind.h"

namespace lehr::commands {

struct SettingTexts {
  std::vector<std::string> set, sizes, labels;
};

void add_settings(CLI::App& command, SettingTexts& texts);

/// Compiles anew, whatever was compiled before (compiler/native/object_cache.h).
void add_no_cache(CLI::App& command);
/// Leaves out passes over the code (compiler/passes/passes.h).
void add_no_opt(CLI::App& command);

/// NAME=VALUE lists and label files; a malformed one is ExitCode::usage.
Result<Settings> read_settings(const SettingTexts& texts);

/// Prints the error to stderr and returns its exit code.
ExitCode complain(const Error& error);

}  // namespace lehr::commands
