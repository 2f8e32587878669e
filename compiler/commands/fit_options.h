// The options of `lehr fit`.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/commands/settings.h"
#include "compiler/instance/start.h"
#include "runtime/methods/svi.h"

namespace lehr::commands {

struct FitOptions {
  std::string model, out, init, method = "cavi", command;
  std::vector<std::string> data;
  SettingTexts settings;
  SviOptions inference;  // coordinate ascent reads what it has of them
  std::string anneal, temper;
  std::vector<std::string> test;  // bindings of held-out data
  std::int64_t test_every = 0;    // sweeps or steps; 0: at the end alone
  std::uint64_t seed = 1;
  std::int64_t restarts = 1;
  bool save_locals = false, quiet = false, interpret = false;
};

void add_fit_options(CLI::App& command, FitOptions& o);

}  // namespace lehr::commands
