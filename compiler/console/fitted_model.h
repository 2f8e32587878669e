// Opening a saved fit together with its model, for commands that apply a fit to new data.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "compiler/console/console.h"
#include "compiler/pipeline.h"
#include "runtime/output/saved_fit.h"

namespace lehr::commands {

/// A saved fit with its analysed model: what commands need that apply a fit to data, as predict, score and diagnose do.
struct FittedModel {
  SavedFit fit;           // the fit, read from its directory
  Source source;          // the text of the model
  model::Model resolved;  // the model without auxiliary variables, with the joint factors of the fit
  Analysed complete;      // the analysis for data without missing values
};

/// Returns the model text of a saved fit, for commands that apply it: of the file `model` (option --model) if that is
/// not empty, else the text saved with the fit, else that of the file that the fit names. In the second case a note on
/// stderr says if the model file has changed since. Returns nothing after printing an error if the file cannot be read.
std::optional<Source> model_of(const SavedFit& fit, const std::string& model);

/// Prints a warning to stderr if the saved fit ended in a numerical failure, as its numbers are then no posterior.
void warn_of_failure(const SavedFit& fit);

/// Corrects an error of binding new data to a saved fit: where it names --sizes or --labels as the source of a size
/// that in truth came from the fit, the result says "the fit in DIR". Plates in `given`, whose sizes the user typed,
/// are left alone.
Error with_settings_source(const SavedFit& fit, Error error, const std::vector<std::string>& given = {});

/// Reads the fit in `directory` and analyses its model, that of the file `model` (option --model) or, if that is empty,
/// the one saved with the fit. Warns if the fit ended in a numerical failure. After an error, prints it and returns its
/// exit code.
std::variant<FittedModel, ExitCode> read_fitted(const std::string& directory, const std::string& model);

}  // namespace lehr::commands
