// Held-out log predictive density of data under a fit.
//
// Global parameters stand at their posterior means (E of the parameter itself, never of its logarithm); discrete ones
// are summed over by their posterior probabilities, for each observation by itself. Then there are two cases:
//
// * Every local latent variable is discrete, or there is none: the score is the log of the density of the data with the
//   local variables summed out by their distributions (log sum_z p(z) p(x | z) in a mixture), those of a chain by all
//   of its paths. Nothing is held out. The variable of an observed compound (the weight of a Student's t) is
//   integrated out by the density of the compound.
// * Some local variable is continuous (the topics of a document): document completion (Hoffman et al. 2013, section 4).
//   Of the observations of each item a fraction is held out; the local variables are inferred from the others with the
//   global factors as they are, and the held-out ones are scored at the means of the item's variables, their own
//   discrete variables summed out by their distributions (log sum_z p(z | E theta) p(x | z, E beta)).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/evaluate/marginal.h"
#include "compiler/fitting/item_solution.h"
#include "compiler/instance/instance.h"
#include "compiler/pipeline.h"
#include "runtime/files/saved_fit.h"
#include "runtime/methods/sweep.h"

namespace lehr {

struct HeldOutOptions {
  std::optional<double> fraction;     // of each item's observations, rounded down; completion only, where 0.5 is meant
  std::uint64_t seed = 1;             // of the split
  std::int64_t first = 0;             // the number of the first item, where the data are a part
  SweepOptions local = {1000, 1e-6};  // inference of the local variables
  MakeInstance instance = compiled_instance;  // what infers them
  std::int64_t starts = kItemStarts;          // of each item that the fit does not know
  std::vector<NamedArray> items = {};         // SavedFit::items
  std::function<void(std::int64_t done, std::int64_t all)> on_start = {};
};

struct Score {
  double total = 0;               // nats
  double observations = 0;        // elements of observed variables and known ones of others, copies counted
  double error = 0;               // standard error of what was averaged over draws; 0: nothing was
  ItemSolution items;             // how the local variables were found, of completion
  std::vector<double> sequences;  // of a chain: what each contributes, 0 where nothing is observed of it; empty where
                                  // there is no chain, or sequences share what is summed over
};

/// A model or a request that has no score.
Error unscored(std::string text, std::vector<std::string> notes = {});
/// The model with the observed compounds as they were typed, so that a density stands where a variable of theirs was.
model::Model with_whole_compounds(model::Model m);
/// Gives the plates of single observations a multiplicity, 1, in the model and its data: an element that is held out
/// counts 0 times, and its own variables with it, which a missing value would leave in the model.
model::Model with_counted_elements(const model::Model& m, BoundData& data);
/// The plate of the variable that has a multiplicity, or null.
const model::Plate* times_plate(const model::Model& m, const model::Variable& v);

/// What a model and a saved fit say of data that it has not seen: constants, and sizes and labels of the plates that
/// the global parameters have.
Settings fitted_settings(const Analysed& analysed, const SavedFit& fit);

/// The same of the data that a model is about to be fitted to.
Settings fitted_settings(const Analysed& analysed, const BoundData& data);

class HeldOut {
 public:
  /// Binds the data, splits them and compiles what infers the local variables. ExitCode::usage for models that have no
  /// score (chains on several plates, potentials, a continuous variable of each observation), and for a fraction where
  /// nothing is held out.
  static Result<std::unique_ptr<HeldOut>> make(const Source& source, const model::Model& resolved,
                                               const Analysed& complete, const Dataset& dataset,
                                               const Settings& settings, const HeldOutOptions& options);

  /// The score under a posterior, arrays named as in posterior.npz (local ones are passed over). May be called again,
  /// with another posterior; the result depends on nothing before.
  Result<Score> score(const std::vector<NamedArray>& posterior);

  bool completes() const { return instance_ != nullptr; }
  /// Nothing is scored: the data have no items.
  bool is_empty() const { return scored_.empty(); }
  double fraction() const { return fraction_; }
  /// Copies of each element that were held out, one array an observed variable, packed like the data.
  std::vector<NamedArray> split() const;

 private:
  HeldOut() = default;
  const model::Model& model() const { return model_; }
  void set(Analysed analysed);
  std::optional<Error> classify();
  Settings without_chain(Settings settings) const;
  std::optional<Error> cannot_hold_out() const;
  /// Known values of latent variables are observations where these are discrete and of the items.
  std::optional<Error> cannot_be_known() const;
  void place_known(Forward& forward) const;
  std::optional<Error> split_items(const HeldOutOptions& options);
  bool is_chain(model::VariableId v) const;
  bool lies_along_chain(const model::Variable& v) const;
  /// `'z' and 'v'`, for messages.
  std::string chain_names() const;
  std::optional<Error> add_chain(model::VariableId v);
  /// Of what is scored, Gaussian chains by their filter and all else summed over.
  Result<Score> log_density(Forward& forward, std::vector<SummedVariable> summed) const;
  std::vector<double> by_row(const Forward& forward, const std::vector<SequenceDensity>& sequences) const;
  Result<Score> sum_up(const std::vector<NamedArray>& posterior);
  bool is_local(model::VariableId v) const;
  /// By VariableId: the density of something observed depends on it.
  std::vector<bool> reaching() const;

  Analysed analysed_;
  model::Model model_;     // of what is scored: the same variables and statements, observed compounds whole
  BoundData data_, kept_;  // all observations; without those that are held out
  std::vector<SummedVariable> summed_;  // by VariableId, beliefs empty
  std::vector<Observation> scored_;
  std::unique_ptr<Instance> instance_;  // completion only
  ItemInference how_;
  SavedFit fit_;  // of which the items alone are there
  std::uint64_t seed_ = 1;
  double fraction_ = 0;
  bool completion_ = false;
  std::vector<model::VariableId> chains_;  // summed over by their paths, or integrated out: on the same axes
};

}  // namespace lehr
