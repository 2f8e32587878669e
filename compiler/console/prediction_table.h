// Predictions as a CSV table (`lehr predict`).
#pragma once
#include <string>

#include "compiler/predict/prediction.h"

namespace lehr {

/// Returns the CSV table that `lehr predict` writes, with one row for each scalar of a predicted element, or for each
/// value of a predicted category.
/// Columns: `variable`; one for each index (labels if the plate has them, else numbers from Plate::from, those of a
/// nested plate within their row); for categories `value`, `probability`, `most_probable` (1 or 0), and `path` (1 or 0:
/// on the most probable path of a chain); for numbers `mean`, `sd`, `q5`, `q50`, `q95`; and `mcse`, the Monte Carlo
/// standard error of the mean or probability, 0 if it is exact. Cells that do not apply are empty.
std::string prediction_csv(const Prediction& prediction);

/// Returns the first line of the CSV table that `lehr predict` writes: the names of its columns.
std::string prediction_columns(const Prediction& prediction);
/// Returns the rows of the predicted variable `of` in the CSV table that `lehr predict` writes, without the header, so
/// that out-of-core data can be written batch by batch. The items of a batch are numbered by their position among all
/// items.
std::string prediction_rows(const Prediction& prediction, const PredictedVariable& of);

}  // namespace lehr
