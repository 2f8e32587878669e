// The held-out log predictive density: how well a fit predicts data that it has not seen, in nats.
//
// Continuous global parameters are set to their posterior means. Discrete global ones are summed over by their
// posterior probabilities, independently for each observation. The local variables decide between two methods:
//
// 1. All local variables are discrete, or there are none. The score is the log density of all observations, local
// variables summed out: log sum_z p(z) p(x | z) in a mixture. Chains are summed over all paths. The weight of a
// compound distribution (Student's t) is integrated out.
//
// 2. Some local variable is continuous, like the topics of a document. The score is that of document completion
// (Hoffman, Blei, Wang & Paisley 2013, section 4). A fraction of each item's observations is held out. The local
// variables are inferred from the rest, with fixed global factors. The held-out observations are scored at the means of
// the item's continuous variables: log sum_z p(z | E theta) p(x | z, E beta).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/evaluate/marginal.h"
#include "compiler/fit/item_solution.h"
#include "compiler/instance/instance.h"
#include "compiler/pipeline.h"
#include "runtime/inference/sweep.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// How held-out data are scored: the fraction that is held out, random seed, temperatures, and the inference of local
/// variables.
struct HeldOutOptions {
  /// The fraction of each item's observations to hold out; their number is rounded down. The default is 0.5. For
  /// document completion only: with other scores a fraction is an error.
  std::optional<double> fraction;
  std::uint64_t seed = 1;  // seed of the random choice of held-out observations, and of the items' starts
  bool per_item = false;   // true: the score of each item is computed, too (Score::by_item)
  /// The temperatures that a tempered fit has learned, and their probabilities: items are scored by the mixture of
  /// their densities at these. Empty: at temperature 1.
  std::vector<double> temperatures = {}, probabilities = {};
  std::int64_t first = 0;             // the number of the first item, if the data are a part of a larger set
  SweepOptions local = {1000, 1e-6};  // when the inference of the items' local variables stops
  /// Makes the instance (compiled model) that infers the items' local variables.
  MakeInstance instance = compiled_instance;
  std::int64_t starts = kDefaultItemStarts;  // number of starts for each item that the fit has not seen
  /// Solutions of items in the saved fit, at which the inference of the same items begins.
  std::vector<NamedArray> items = {};
  /// Called before each start of the inference but the first, to show progress: `done` starts of `all` have been made.
  /// May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> on_start = {};
};

/// The held-out score of each item. An item is a sequence if the model has chains; else an element of the plate of an
/// item stage, or of the first axis of the observations if they lie on no such plate.
struct ItemScores {
  std::string plate;                // the plate of the items; empty: there is one item
  std::vector<std::string> labels;  // labels of the items in the data; empty: they have none
  std::vector<double> density,      // log density of each item in nats; 0 for an item without observations
      observations;                 // how many observations of it were scored, multiplicities counted
};

/// A held-out score: the log predictive density of data that a fit has not seen.
struct Score {
  double total = 0;         // the log density of all scored observations, in nats
  double observations = 0;  // how many observations were scored, multiplicities counted
  double error = 0;         // Monte Carlo standard error of `total`; 0: it is exact
  ItemSolution items;       // of document completion: how the inference of the local variables went
  /// The contribution of each sequence of a chain, row-major over the axes of the chain other than the ordered one; 0
  /// for a sequence without observations. Empty where there is no chain, or where sequences share what is summed over.
  std::vector<double> sequences;
  std::optional<ItemScores> by_item;  // the score of each item; set with HeldOutOptions::per_item
};

/// Makes the error (ExitCode::usage) that a model or a request has no held-out score: `text` says why, `notes` what to
/// do.
Error score_error(std::string text, std::vector<std::string> notes = {});
/// Returns the error that a sum over values of latent variables has too many terms for a score.
Error sum_too_large(const model::Model& m, const SumTooLarge& sum);
/// Returns the model with a multiplicity (`times`) on each plate of single observations, so that these can be left out
/// one by one (held out from a score, or missing in a prediction), and adds ones for it to the data. Such a plate is
/// nested in the items, and one observed variable alone lies on it, none of whose plates has a multiplicity yet. An
/// observation that is left out then gets multiplicity 0, which also removes the variables that belong to it alone.
model::Model with_counted_elements(const model::Model& m, BoundData& data);

/// Returns the settings by which new data are bound to match a saved fit. They are its words, its constants that are
/// numbers, and of plates of global parameters the sizes, the labels, and the rows to which data refer.
Settings fitted_settings(const Analysed& analysed, const SavedFit& fit);

/// Returns the settings by which new data are bound to match a model fitted to `data`. They are its words, its
/// constants that are numbers, and of plates of global parameters the sizes, the labels, and the rows to which data
/// refer.
Settings fitted_settings(const Analysed& analysed, const BoundData& data);

/// A model with held-out data, compiled, which computes the held-out score of posteriors: of a saved fit (`lehr
/// score`), or again and again during a fit (`--test`).
class HeldOut {
 public:
  /// Binds the data, chooses the held-out observations, and compiles the inference of the local variables. `complete`
  /// is the analysis of `resolved`. ExitCode::usage for a model without a score, such as one with chains on different
  /// plates, potentials, or a continuous variable for each observation. The same code is returned for a fraction where
  /// nothing is held out, and if no item has enough observations to hold one out. ExitCode::data if nothing is
  /// observed. Data without items are no error: see is_empty().
  static Result<std::unique_ptr<HeldOut>> make(const Source& source, const model::Model& resolved,
                                               const Analysed& complete, const Dataset& dataset,
                                               const Settings& settings, const HeldOutOptions& options);

  /// Scores a posterior, given as arrays named as in posterior.npz; arrays of local variables are ignored. The result
  /// does not depend on earlier calls. It is Score{} if is_empty(). ExitCode::data if the posterior has no mean of a
  /// variable that the score depends on, or one of another size. ExitCode::usage if a sum has too many terms, or if
  /// there are no densities of items although the options ask for them. ExitCode::numerical if the score is NaN.
  Result<Score> score(const std::vector<NamedArray>& posterior);

  /// Returns true if the score is a document completion, in which only a part of each item's observations is scored;
  /// false if is_empty().
  bool is_completion() const { return instance_ != nullptr; }
  /// Returns true if there is nothing to score: the data have no items.
  bool is_empty() const { return scored_.empty(); }
  /// Returns the fraction of each item's observations to hold out. It means nothing unless is_completion().
  double fraction() const { return fraction_; }
  /// Returns how many copies of each element are scored: those that are held out, or all without document completion.
  /// There is one array for each variable with scored elements. It has one number for each element, in packed order; 0
  /// for an element that is not scored.
  std::vector<NamedArray> split() const;

 private:
  /// Makes an empty object, which make() fills in.
  HeldOut() = default;
  /// Returns the model that is scored.
  const model::Model& model() const { return model_; }
  /// Sets the analysed model that infers local variables, and derives from it the model that is scored.
  void set(Analysed analysed);
  /// Decides how each variable is summed over or inferred. Returns an error if the model has no score.
  std::optional<Error> classify();
  /// Returns the settings without sizes and labels of plates that only chains lie on, since held-out sequences may have
  /// other lengths than those of the fit.
  Settings without_chain(Settings settings) const;
  /// Returns an error if observations cannot be held out one by one: other variables depend on them, their multiplicity
  /// counts other things too, or one has a discrete latent variable of its own but no multiplicity.
  std::optional<Error> cannot_hold_out() const;
  /// Returns an error if data have values of a latent variable that is not discrete, or neither a chain nor of the
  /// items, or if the score is a document completion. Otherwise these values are scored as observations.
  std::optional<Error> cannot_clamp() const;
  /// Keeps observed Normal vectors with missing entries observed, if no other variable depends on them: their density
  /// integrates the missing entries out. Does nothing for document completion, and for models with chains.
  void integrate_missing_entries();
  /// Copies the values that the data have of some elements of latent variables (clamped ones) to `forward`.
  void set_clamped_values(ModelEvaluator& forward) const;
  /// Chooses the held-out observations, and fills in `scored_` and `training_data_`. Without document completion it
  /// scores all observations and holds none out.
  std::optional<Error> split_items(const HeldOutOptions& options);
  /// Returns true if the variable is one of the chains that are scored.
  bool is_chain(model::VariableId v) const;
  /// Returns true if the variable lies on the ordered plate of the chains.
  bool lies_along_chain(const model::Variable& v) const;
  /// Returns the names of the chains for messages: "'z' and 'v'".
  std::string chain_names() const;
  /// Adds a chain, or returns an error if it cannot be scored together with the others.
  std::optional<Error> add_chain(model::VariableId v);
  /// Computes the log density of the scored observations given the values in `forward`: Gaussian chains by the Kalman
  /// filter, all else by sums as `summed` says.
  Result<Score> log_density(ModelEvaluator& forward, std::vector<SummedVariable> summed) const;
  /// Returns the index variables of a statement that say which item an element belongs to. If the model has chains,
  /// these are all but the one along the chain (of a nested plate, without that of its parent). Otherwise it is the one
  /// of the item stage, or else the first. Empty if there is none.
  std::vector<model::IndexVarId> item_vars(const model::Statement& s) const;
  /// The scored observations of each item, and the plate of the items; none if there is one item.
  struct Items {
    std::optional<model::PlateId> plate;                 // the plate of the items; none if there is one item
    std::vector<std::vector<Observation>> observations;  // by item: its scored observations
  };
  /// Groups the scored observations by item. Fails if an item has several indices, if items are of different plates, or
  /// if an observed variable does not lie on their plate.
  Result<Items> by_items(const ModelEvaluator& forward) const;
  /// Computes the densities of the items, whose sum is `score.total`. Fails if items share what is summed over.
  Result<ItemScores> score_items(const ModelEvaluator& forward, MarginalDensity& marginal, const Score& score) const;
  /// Computes the densities of the items at the learned temperatures. At temperature T that of an item is the density
  /// of it and its local variables to the power 1/T, summed over these and normalised (TemperedNormaliser).
  Result<ItemScores> score_at_temperatures(const ModelEvaluator& forward, MarginalDensity& marginal) const;
  /// Arranges the densities of sequences by the axes of the chains other than the ordered one, row-major.
  std::vector<double> by_row(const ModelEvaluator& forward, const std::vector<SequenceDensity>& sequences) const;
  /// Sets continuous variables to their means in the posterior, gives discrete ones their probabilities, and computes
  /// the score.
  Result<Score> sum_up(const std::vector<NamedArray>& posterior);
  /// Returns true if the variable is inferred item by item, in an item stage.
  bool is_local(model::VariableId v) const;
  /// Returns, by VariableId, true if the density of some variable with data depends on the variable.
  std::vector<bool> ancestors_of_data() const;

  Analysed analysed_;   // the model that infers local variables
  model::Model model_;  // the model that is scored: `analysed_` with whole compounds
  /// All observations; and those that are not held out.
  BoundData data_, training_data_;
  std::vector<SummedVariable> summed_;  // by VariableId: how the variable is summed over
  std::vector<Observation> scored_;     // the observations that are scored: those held out, or all
  std::unique_ptr<Instance> instance_;  // infers local variables; null without document completion
  ItemInference inference_options_;     // how the local variables of the items are inferred
  SavedFit fit_;                        // has what the fit stored of its items, and nothing else
  std::uint64_t seed_ = 1;              // seed of the start from which the compiled model infers the items
  double fraction_ = 0;                 // fraction of each item's observations to hold out
  bool completion_ = false;             // true if the score is a document completion
  bool per_item_ = false;               // true: items are scored one by one, too
  /// Learned temperatures and their probabilities; empty: temperature 1.
  std::vector<double> temperatures_, probabilities_;
  /// Latent chains, all on the same axes. Those of categories are summed over paths, Gaussian ones integrated out.
  std::vector<model::VariableId> chains_;
};

}  // namespace lehr
