// Predictions from a variational fit: missing observations, and the local variables of new items. The global factors
// are fixed; the local factors of the items are inferred from what is observed of them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/fit/item_solution.h"
#include "compiler/instance/instance.h"
#include "compiler/predict/unseen_groups.h"
#include "compiler/score/held_out.h"

namespace lehr {

/// Describes a part of out-of-core items (`lehr predict --stream`) among all items, so that the part is predicted as it
/// would be together with them.
struct PartOfItems {
  const BoundData& whole;  // the data of all items: sizes, and which variables have missing values
  std::int64_t first;      // the number of the first item of the part
  /// Variables of which some item, in any part, has elements that no data depend on (barren.h).
  std::vector<model::VariableId> with_barren = {};
};

/// How a prediction is made: numbers of draws and starts, accuracy, random seed, part of the items.
struct PredictionOptions {
  std::int64_t draws = 1000;          // number of draws that estimate the numbers without a closed form
  std::uint64_t seed = 1;             // seed of the draws and of the items' starts
  SweepOptions local = {1000, 1e-6};  // when the inference of the items' local variables stops
  /// Makes the instance (compiled model) that infers the items' local variables.
  MakeInstance instance = compiled_instance;
  std::optional<PartOfItems> part = {};      // set if the data are a part of out-of-core items
  std::int64_t starts = kDefaultItemStarts;  // number of starts for each item that the fit has not seen
  /// Called before each start of the inference but the first, to show progress: `done` starts of `all` have been made.
  /// May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> on_start = {};
};

/// The probabilities of the predictive quantiles that each number gets.
inline constexpr std::array<double, 3> kPredictedQuantiles = {0.05, 0.5, 0.95};

/// The prediction of one variable: predictive moments and quantiles of those of its elements that are predicted. Arrays
/// are row-major over `elements` and the `width` numbers of each.
struct PredictedVariable {
  model::VariableId variable;         // the variable, by its id in Prediction::model
  std::vector<std::size_t> elements;  // the predicted elements: row-major positions among all elements of the variable
  std::size_t width = 1;              // how many numbers an element has; of a category, one probability for each value
  /// True for a category: `mean` has the probabilities of its values, `sd` and `quantiles` are empty.
  bool probabilities = false;
  std::vector<double> mean;                      // predictive mean of each number
  std::vector<double> error;                     // Monte Carlo standard error of `mean`; 0: it is exact
  std::vector<double> sd;                        // predictive standard deviation of each number; empty for a category
  std::array<std::vector<double>, 3> quantiles;  // predictive quantiles, one list for each of kPredictedQuantiles
  /// For a chain of categories, the values (from 0) of the elements on the jointly most probable path, with other
  /// variables at their means (most_probable_states). Empty: there is no path, or the variable is no such chain.
  std::vector<std::int64_t> path;

  /// Returns the most probable value (from 0) of the category at position `element` in `elements`.
  std::size_t most_probable(std::size_t element) const;
};

/// A prediction: what was predicted, from what, and how.
struct Prediction {
  Analysed analysed;                         // the model with which local factors were inferred
  std::optional<model::PlateId> items;       // the plate of the items; none if the model has none (plate_of_items)
  std::int64_t first = 0;                    // the number of the first item; 0 unless the data are a part of the items
  model::Model model;                        // the model that is predicted; its `let`s are variables (let_variables.h)
  std::size_t without_lets = 0;              // number of variables in `model` before those that stand for `let`s
  BoundData data;                            // the observations, bound to `model`, with NaN where a value is predicted
  std::vector<PredictedVariable> variables;  // predicted variables in order of declaration; some may have no elements
  std::int64_t draws = 0;         // draws that were made for numbers without a closed form; 0: everything is exact
  ItemSolution items_found;       // how the inference of the items' local variables went
  std::vector<Diagnostic> notes;  // about elements that the fit has not seen, and others

  /// Returns true if the variable stands for a `let` expression.
  bool is_let(model::VariableId v) const { return v.index() >= without_lets; }
};

/// Predicts from a fit. Global factors are those of the fit; the local factors of the items are inferred from the
/// observations. `complete` is the analysis of `resolved`; `sizes` enlarges plates (enlarge_plates).
///
/// Missing observations get their distribution averaged over the factors, local variables that of their factors.
/// Elements that are not d-connected to an observation, or that the fit has not seen, get their distribution given
/// their parents.
///
/// ExitCode::model if a missing observation is in a potential, or needs a parameter that only it would give (the total
/// of a multinomial). ExitCode::data if other variables depend on a missing observation that cannot be inferred, if
/// there is nothing to predict, if an observation depends on unseen elements, and for a sampled fit. Otherwise errors
/// are those of enlarge_plates(), of bind(), of solve_items() and of add_predicted_values().
Result<Prediction> predict(const Source& source, const model::Model& resolved, const Analysed& complete,
                           const Dataset& dataset, const PlateSizes& sizes, const SavedFit& fit,
                           const PredictionOptions& options);

}  // namespace lehr
