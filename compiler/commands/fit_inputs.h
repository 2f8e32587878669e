// Reading the inputs of `lehr fit` and commands like it. The model is analysed, the data are read and bound to it, and
// all warnings about either are printed once.
#pragma once
#include <variant>

#include "compiler/commands/fit_options.h"
#include "compiler/fit/fitting.h"

namespace lehr::commands {

/// What `lehr fit` and commands like it read before they compile: the model, and the model bound to its data.
struct Inputs {
  model::Model resolved;  // the model without auxiliary variables, with the guide that was chosen for the data
  Analysed complete;      // the analysis of `resolved` for data without missing values
  BoundModel bound;       // the model with its data, analysed for the values that are missing
};

/// Makes the output directory if needed and tests that results can be written to it, so that a long fit does not fail
/// at its end. Existing files are not touched. Fails with ExitCode::usage if not, or if a directory in it has the name
/// of a file of the results. The value is always true.
Result<bool> prepare_directory(const std::string& path);

/// Parses and resolves a model file, and changes its guide as the options --guide and --links of a fit ask for. Returns
/// nothing if there were errors; they and the warnings are added to `diagnostics`.
std::optional<model::Model> read_model_for(const Source& source, const FitOptions& options, Diagnostics& diagnostics);

/// Reads the model `source` and the data named in `o`, and binds them. After an error, prints it and returns its exit
/// code. Warnings are printed once. If `o.out` is set, the output directory is made and tested before data are read. If
/// `prior` is not null, its posterior becomes the prior of the model, and its settings are used (`lehr update`).
/// Out-of-core data are read once by the processes of `group` together.
std::variant<Inputs, ExitCode> read_inputs(const FitArguments& o, const Source& source, const SavedFit* prior = nullptr,
                                           Group* group = nullptr);

}  // namespace lehr::commands
