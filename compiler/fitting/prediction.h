// Prediction from a variational fit: what data leave out, and the local variables of their items.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/fitting/growth.h"
#include "compiler/fitting/held_out.h"
#include "compiler/fitting/item_solution.h"
#include "compiler/instance/instance.h"

namespace lehr {

/// Data of some items, which are predicted as they would be among all of them (items_apart.h).
struct PartOfItems {
  const BoundData& whole;                           // of all of them: sizes, and of which variables values are missing
  std::int64_t first;                               // the number of the first one
  std::vector<model::VariableId> with_barren = {};  // variables with elements, of any item, on which no data depend
};

struct PredictionOptions {
  std::int64_t draws = 1000;
  std::uint64_t seed = 1;                     // of the draws
  SweepOptions local = {1000, 1e-6};          // inference of the local variables
  MakeInstance instance = compiled_instance;  // what infers them
  std::optional<PartOfItems> part = {};
  std::int64_t starts = kItemStarts;  // of each item that the fit does not know
  std::function<void(std::int64_t done, std::int64_t all)> on_start = {};
};

inline constexpr std::array<double, 3> kPredictedQuantiles = {0.05, 0.5, 0.95};

/// What is said of the elements of one variable: row-major over `elements` and `width` numbers of each.
struct PredictedVariable {
  model::VariableId variable;
  std::vector<std::size_t> elements;  // positions, packed as a BoundArray
  std::size_t width = 1;              // numbers of an element; of categories, values
  bool probabilities = false;         // a category: `mean` has probabilities of the values, and there is nothing else
  std::vector<double> mean;
  std::vector<double> error;  // Monte Carlo standard error of `mean`; 0: it is exact
  std::vector<double> sd;
  std::array<std::vector<double>, 3> quantiles;
  /// Of a chain of categories: the values of all elements that are jointly most probable, other variables at their
  /// means. Empty: there is no path.
  std::vector<std::int64_t> path;

  /// The most probable value of the `element`-th one of the list.
  std::size_t most_probable(std::size_t element) const;
};

struct Prediction {
  Analysed analysed;                         // what the factors of the items were inferred with
  std::optional<model::PlateId> items;       // plate_of_items
  std::int64_t first = 0;                    // the number of the first one
  model::Model model;                        // of what is predicted: its `let`s are variables (let_variables.h)
  std::size_t without_lets = 0;              // how many variables it has that are none, which come first
  BoundData data;                            // of `model`
  std::vector<PredictedVariable> variables;  // in order of declaration; of a part also those without elements in it
  std::int64_t draws = 0;                    // that were made; 0: none was needed
  ItemSolution items_found;                  // how the local variables were
  std::vector<std::string> notes;            // of elements that the fit has not seen

  bool is_let(model::VariableId v) const { return v.index() >= without_lets; }
};

/// Global factors stay as the fit has them; the factors of the items are inferred from the observations that are there.
/// Predicted are the elements of observed variables that are missing or not bound, by the distribution of the model
/// averaged over the factors, and local variables, by their factors; what no observation depends on, by its
/// distribution given its parents; so are elements of global variables that the fit has not seen (growth.h).
/// ExitCode::model where the density of what is missing has no normaliser, or is improper; ExitCode::data where others
/// depend on it, where nothing is to be predicted, where an observation depends on what the fit has not seen, and for
/// fits by sampling.
Result<Prediction> predict(const Source& source, const model::Model& resolved, const Analysed& complete,
                           const Dataset& dataset, const PlateSizes& sizes, const SavedFit& fit,
                           const PredictionOptions& options);

}  // namespace lehr
