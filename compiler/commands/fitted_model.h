// A fit and its model, for the commands that take the directory of a fit and new data.
#pragma once
#include <variant>

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

/// `model`: the file, where it is no longer the one that the fit names; empty: that one. Or the exit code after a
/// complaint.
std::variant<FittedModel, ExitCode> read_fitted(const std::string& directory, const std::string& model);

}  // namespace lehr::commands
