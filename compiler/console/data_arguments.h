// The options --data and --drop-missing, for commands that read all of their data into memory.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/model/model.h"
#include "runtime/files/dataset.h"

namespace lehr::commands {

/// Values of the options --data and --drop-missing as they were typed.
struct DataArguments {
  std::vector<std::string> bindings;  // values of --data, each FILE or VARIABLE=FILE:COLUMNS
  bool drop_missing = false;          // --drop-missing: leave out items with missing values
};

/// Help text of the option --data in commands that fit a model.
inline constexpr const char* kDataHelp =
    "File (.csv, .json, .npz, ...) whose columns or arrays are named like variables of the model, or "
    "VARIABLE=FILE:COLUMNS, e.g. x=f.csv:a,b; repeatable. Required for observed variables (docs/data.md)";

/// Adds --data (with this help text) and --drop-missing to a command; parsing stores their values in `to`, which must
/// outlive the command. Returns the option --data.
CLI::Option* add_data(CLI::App& command, DataArguments& to, const std::string& help);

/// Reads all files that --data names into one dataset. With --drop-missing, leaves out the items of `model` that have
/// missing values, and prints how many to stderr. Fails if a file cannot be read, or such items cannot be left out.
Result<Dataset> read_data(const DataArguments& from, const model::Model& model);

}  // namespace lehr::commands
