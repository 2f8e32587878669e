// The result of a sampler: the draws of one chain.
#pragma once
#include <optional>
#include <vector>

#include "compiler/posterior/predictive.h"
#include "runtime/inference/samplers/evidence.h"
#include "runtime/inference/samplers/exact.h"

namespace lehr {

/// What one chain of a sampling method (Gibbs, parallel tempering or exact sampling) has drawn. One restart of a fit is
/// one chain.
struct GibbsReport {
  /// One array for each variable that was drawn, as Instance::append_draw() makes them: over [draw], the axes and the
  /// event axes of the variable. The value of a category is its position, from 0.
  std::vector<NamedArray> draws;
  /// The log joint density of the model in nats, one number for each draw.
  std::vector<double> log_joint;
  /// The estimate of the log evidence, from parallel tempering only; else nullopt.
  std::optional<Evidence> evidence = {};
  /// From exact sampling only, else nullopt: the couplings between the spins or bits of the model, which decide how
  /// runs are coupled.
  std::optional<Couplings> coupling = {};
  /// Log likelihoods and replicated data of the draws that the PredictivePlan selects.
  PredictiveDraws predictive;
};

}  // namespace lehr
