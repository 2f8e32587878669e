// A fit and its model, for the commands that take the directory of a fit and new data.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "compiler/commands/commands.h"
#include "compiler/pipeline.h"
#include "runtime/files/saved_fit.h"

namespace lehr::commands {

struct FittedModel {
  SavedFit fit;
  Source source;
  model::Model resolved;
  Analysed complete;  // as if nothing were missing
};

/// The model of a fit as it was fitted, with a note to the user if its file has another by now; or that of the file
/// `model`, if it is not empty. Nothing after a complaint.
std::optional<Source> model_of(const SavedFit& fit, const std::string& model);

/// A warning to stderr, of a fit that ended in a numerical failure: commands go on with what it wrote.
void warn_of_failure(const SavedFit& fit);

/// Sizes and labels that came from the fit are called so, not options; `given`: plates whose sizes the user gave.
Error told_by(const SavedFit& fit, Error error, const std::vector<std::string>& given = {});

/// With the model of model_of, and that warning. Or the exit code after a complaint.
std::variant<FittedModel, ExitCode> read_fitted(const std::string& directory, const std::string& model);

}  // namespace lehr::commands
