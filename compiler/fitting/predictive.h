// What the draws of a sampler say of the observations: the log density of each observed element given everything else
// as it was drawn, and a replicated observation from the same distribution (Gelman, Meng & Stern, Posterior predictive
// assessment, 1996).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/evaluate/reference.h"
#include "compiler/pipeline.h"
#include "runtime/array.h"
#include "runtime/rng.h"

namespace lehr {

/// How many draws of a chain are looked at.
struct PredictivePlan {
  std::int64_t draws = 0;  // at most; 0: none
  std::string why = {};    // there are none

  /// Of so many draws, one in this many; 0: none.
  std::int64_t every(std::int64_t of) const;
};

/// `numbers`: what a chain may write of each kind. Nothing is written of models where a potential holds an observed
/// variable, whose density then has no known normaliser, where elements have copies, and where the local variables of
/// all items are too many to be kept.
PredictivePlan plan_predictive(const Analysed& analysed, const BoundData& data, std::int64_t numbers);

struct PredictiveDraws {
  std::vector<std::int64_t> draws;  // which of the chain's, from 0
  /// An array for each observed variable, over [draw] and its axes; `replicated` over its event axes too. NaN: the log
  /// density of what is missing, and what could not be drawn.
  std::vector<NamedArray> log_likelihood, replicated;
  std::string problem = {};  // the first one of those that could not be drawn
};

class Predictive {
 public:
  /// Model, data and what they are told from must outlive it.
  Predictive(const model::Model& model, const BoundData& data, const References& references);

  /// `state`: the values of every latent variable, as Instance::add_draw has them, told from the references.
  void add(std::int64_t draw, const std::vector<NamedArray>& state, Rng& rng, PredictiveDraws& to);

 private:
  void add_log_likelihood(PredictiveDraws& to);
  void add_replicated(Rng& rng, PredictiveDraws& to);

  const model::Model& model_;
  const References& references_;
  Forward observed_, replicated_;
  std::vector<model::VariableId> variables_;  // observed ones
};

}  // namespace lehr
