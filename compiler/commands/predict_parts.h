// Predictions of items that are read from their files some at a time.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/commands/fitted_model.h"
#include "compiler/fitting/prediction.h"
#include "runtime/files/new_file.h"

namespace lehr::commands {

/// What was predicted, to be told.
struct Predicted {
  std::vector<std::pair<std::string, std::size_t>> variables;  // with how many elements
  bool drawn = false;
  std::vector<std::string> notes;
  ItemSolution items;
};

/// Writes the table of all items to `path`, in the bytes of prediction_csv() of all of them together. ExitCode::model
/// where an item cannot be predicted without the others.
Result<Predicted> predict_in_parts(const FittedModel& f, const std::vector<std::string>& data,
                                   const PredictionOptions& options, const std::string& path, Existing existing);

}  // namespace lehr::commands
