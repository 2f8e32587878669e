// The options of `lehr fit`.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "runtime/engine/cavi.h"

namespace lehr::commands {

struct FitOptions {
  std::string model, out, init, method = "cavi", command;
  std::vector<std::string> data, set, sizes, labels;
  CaviOptions cavi;
  std::uint64_t seed = 1;
  std::int64_t restarts = 1;
  bool save_locals = false, quiet = false, interpret = false;
};

void add_fit_options(CLI::App& command, FitOptions& o);

/// NAME=VALUE lists and label files; a malformed one is ExitCode::usage.
Result<Settings> read_settings(const FitOptions& o);

}  // namespace lehr::commands
