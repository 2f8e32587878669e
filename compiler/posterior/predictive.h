// Posterior predictive quantities of a sampler's draws. For each observation they are its log density under the
// distribution that the model names, given the variables of the model as drawn, and a replicated observation. Gelman,
// Meng & Stern (1996), Posterior predictive assessment of model fitness via realized discrepancies.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/evaluate/marginal.h"
#include "compiler/evaluate/reference.h"
#include "compiler/pipeline.h"
#include "runtime/array.h"
#include "runtime/rng.h"

namespace lehr {

/// How many draws of a chain get predictive quantities: log likelihoods of the observations, and replicated data. A fit
/// by sampling stores them for model comparison and checks.
struct PredictivePlan {
  std::int64_t draws = 0;  // how many draws of a chain get them at most; 0: none
  std::string why = {};    // if there are none although some were wanted: the reason

  /// Returns k such that every k-th of `of` draws gets predictive quantities; 0: none does.
  std::int64_t every(std::int64_t of) const;
};

/// Plans for how many draws a chain stores predictive quantities: at most `max_scalars` numbers of each kind, log
/// likelihoods and replicated data; with 0 none are wanted. There are none if an observed variable is in a potential,
/// whose normaliser cannot be computed, or if elements have multiplicities other than 1. Nor are there any if nothing
/// is observed, if one draw has more than `max_scalars` numbers, or if the local variables have more than 20 million.
PredictivePlan plan_predictive(const Analysed& analysed, const BoundData& data, std::int64_t max_scalars);

/// The predictive quantities of the selected draws of a chain: log likelihoods of the observations, and replicated
/// data.
struct PredictiveDraws {
  std::vector<std::int64_t> draws;  // the numbers of these draws in the chain, from 0
  /// One array for each observed variable, over [draw] and its axes; `replicated` has the event axes, too. NaN for
  /// missing observations in `log_likelihood`, and for what could not be drawn in `replicated`.
  std::vector<NamedArray> log_likelihood, replicated;
  std::string problem = {};  // the first reason why something could not be drawn; empty: none
};

/// Computes predictive quantities of a sampler's draws, one draw at a time: the log density of each observation at the
/// draw, and a replicated data set. Variables that the compiler has added to observations (the weight of a Student's t)
/// are integrated out of densities, and drawn anew for replicated data.
class Predictive {
 public:
  /// Makes an object for a model and its data, which are centred at `references`. All arguments must outlive it.
  Predictive(const model::Model& model, const BoundData& data, const CentringOffsets& references);
  /// Copies are not allowed, because the density and the evaluators refer to this object.
  Predictive(const Predictive&) = delete;
  Predictive& operator=(const Predictive&) = delete;

  /// Appends the quantities of draw number `draw` to `to`. `state` has the values of all latent variables, centred at
  /// the references, as Instance::append_draw makes them.
  void add(std::int64_t draw, const std::vector<NamedArray>& state, Rng& rng, PredictiveDraws& to);

 private:
  /// Appends the log density of each observation, in nats.
  void add_log_likelihood(PredictiveDraws& to);
  /// Appends a replicated data set, with the references added back.
  void add_replicated(Rng& rng, PredictiveDraws& to);

  const model::Model& model_;          // the model that was sampled
  const model::Model whole_;           // the same with whole compounds
  const CentringOffsets& references_;  // the offsets that were subtracted from far data, added back to replicated data
  /// The models at the draw: the one with whole compounds and the observations, the other with replicated ones.
  ModelEvaluator observed_, replicated_;
  std::vector<bool> added_;   // by VariableId: true if the compiler has added the variable to observations
  MarginalDensity marginal_;  // density of an observation, summed over the added part of a mixture
  std::vector<model::VariableId> variables_;  // the observed variables, without auxiliary ones
};

}  // namespace lehr
