// A prediction as a table.
#pragma once
#include <string>

#include "compiler/fitting/prediction.h"

namespace lehr {

/// CSV, a row for each number of an element, or for each value of a category: `variable`, a column for each index
/// (labels where the plate has them, else positions from 0, those of a nested plate within their row), then `value`,
/// `probability`, `most_probable` (1 or 0) and, of chains, `path` (1 or 0) of categories, `mean`, `sd`, `q5`, `q50`,
/// `q95` of numbers, and `mcse`, the Monte Carlo standard error of the mean or probability, 0 where it is exact. What
/// does not apply is empty.
std::string prediction_csv(const Prediction& prediction);

/// The same by its rows: the columns, and what each variable adds. Items of a part have their numbers among all.
std::string prediction_columns(const Prediction& prediction);
std::string prediction_rows(const Prediction& prediction, const PredictedVariable& of);

}  // namespace lehr
