// Covariances between the steps of a chain whose Normal factor is saved step by step. The saved means and covariances
// of single steps, and the precision between neighbours from the model (precision_blocks.h), determine the joint
// distribution.
//
// Step s precedes step t. S = L L' is the covariance of a step, C that of the two steps, and B the block of the
// precision between them. Then C = L_t R L_s', and B = -(S_t - C S_s^-1 C')^-1 C S_s^-1 is solved for R. With the
// singular values L_t' B L_s = U m V', the solution is R = U r V', r = -2 m / (1 + sqrt(1 + 4 m^2)). Of chains that
// reach back further, chain_completion.h finds it.
#pragma once
#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "compiler/posterior/precision_blocks.h"
#include "runtime/rng.h"

namespace lehr {

/// The joint distribution of all steps of a Gaussian chain: each step, given its predecessors. It gives the covariances
/// between steps, which a saved fit lacks, to predictions.
class StepCovariance {
 public:
  /// Makes the joint distribution from the means and the roots of the covariances (math::Spread::root) of single steps,
  /// and from the blocks of the precision between steps (`links`). Returns nullopt if a root is missing, or if the
  /// steps of a sequence are too many for one that reaches back further than one step.
  static std::optional<StepCovariance> make(std::vector<std::vector<double>> mean,
                                            const std::vector<std::vector<double>>& root, const PrecisionBlocks& links);

  /// Returns the covariance of two numbers of the chain; 0 if their steps are in different sequences.
  double between(StepCoordinate a, StepCoordinate b) const;

  /// Returns the variance of a weighted sum of numbers of the chain; `weights` has, by step, the weights of its
  /// coordinates. The time is linear in the steps from the first to the last of them.
  double variance(const std::map<std::size_t, std::vector<double>>& weights) const;

  /// Draws all steps jointly, each given its predecessors. Returns the numbers by step and coordinate. `rng_of` returns
  /// the random numbers of a step.
  std::vector<std::vector<double>> draw(const std::function<Rng&(std::size_t step)>& rng_of) const;

 private:
  /// One step of the chain, with its distribution given its predecessors.
  struct Step {
    Eigen::VectorXd mean;                   // posterior means of the step's numbers
    Eigen::MatrixXd root;                   // L, with L L' the covariance of the step
    std::vector<std::size_t> predecessors;  // the steps that it reaches back to, ascending; none at a beginning
    /// In standardised numbers L^-1 (x - mean): what the predecessors are multiplied by, a root of the covariance of
    /// the rest, and the covariance with the predecessors.
    Eigen::MatrixXd coefficients, innovation_root, lagged;
  };
  /// Fills in the steps of a chain that reaches back one step. Returns false if a step has two predecessors or two
  /// successors.
  bool link_neighbours(const PrecisionBlocks& links);
  /// Fills in the steps of a chain that reaches back further. Returns false if that fails.
  bool link_sequences(const PrecisionBlocks& links);

  std::vector<Step> steps_;  // all steps of the chain, in order; predecessors come before
};

}  // namespace lehr
