// Prediction for out-of-core data (`lehr predict --stream`). Items are read from their files batch by batch, and the
// predictions of each batch are written before the next one is read.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/console/fitted_model.h"
#include "compiler/predict/prediction.h"
#include "runtime/files/new_file.h"

namespace lehr::commands {

/// What `lehr predict` prints about predictions that it has written.
struct PredictionOutcome {
  std::vector<std::pair<std::string, std::size_t>> variables;  // name and number of predicted elements of each variable
  bool drawn = false;             // true if some predictions are averages over random draws
  std::vector<Diagnostic> notes;  // notes for the user about elements that the fit has not seen
  ItemSolution items;             // how local variables of the predicted items were inferred
};

/// Runs `lehr predict --stream`: predicts all items of the files in `data` batch by batch, without loading all of them,
/// and writes the table of predictions to `path`. The bytes are those of prediction_csv() for all items in memory.
/// `existing` says if a link or pipe at `path` is followed or replaced. Fails with ExitCode::model if an item cannot be
/// predicted without the others.
Result<PredictionOutcome> predict_in_batches(const FittedModel& f, const std::vector<std::string>& data,
                                             const PredictionOptions& options, const std::string& path,
                                             ExistingTarget existing);

}  // namespace lehr::commands
