// The data of a command that takes them whole.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/model/model.h"
#include "runtime/files/dataset.h"

namespace lehr::commands {

struct DataArguments {
  std::vector<std::string> bindings;
  bool drop_missing = false;
};

/// Help of --data for the data of a fit.
inline constexpr const char* kDataHelp =
    "Data file with the names of variables, or VARIABLE=FILE:COLUMNS, as x=file.csv:a,b; repeat for more files. "
    "docs/data.md has all forms";

/// Adds --data and --drop-missing; the first is returned.
CLI::Option* add_data(CLI::App& command, DataArguments& to, const std::string& help);

/// All bindings; where it is asked for, without the items of which values are missing, of which stderr is told.
Result<Dataset> read_data(const DataArguments& from, const model::Model& model);

}  // namespace lehr::commands
