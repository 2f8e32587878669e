// Covariances between the steps of a chain whose Normal factor is saved step by step. The saved means and covariances
// of single steps, and the precision between neighbours from the model (precision_blocks.h), determine the joint
// distribution.
//
// Step s precedes step t. S = L L' is the covariance of a step, C that of the two steps, and B the block of the
// precision between them. Then C = L_t R L_s', and B = -(S_t - C S_s^-1 C')^-1 C S_s^-1 is solved for R. With the
// singular values L_t' B L_s = U m V', the solution is R = U r V', r = -2 m / (1 + sqrt(1 + 4 m^2)).
#pragma once
#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "compiler/posterior/precision_blocks.h"
#include "runtime/rng.h"

namespace lehr {

/// The joint distribution of all steps of a Gaussian chain as a Markov chain: each step, given its predecessor. It
/// gives the covariances between steps, which a saved fit lacks, to predictions.
class StepCovariance {
 public:
  /// Makes the joint distribution from the means and the roots of the covariances (math::Spread::root) of single steps,
  /// and from the blocks of the precision between steps (`links`). Returns nullopt if a step has two predecessors or
  /// two successors, or if a root is missing.
  static std::optional<StepCovariance> make(std::vector<std::vector<double>> mean,
                                            const std::vector<std::vector<double>>& root, const PrecisionBlocks& links);

  /// Returns the covariance of two numbers of the chain; 0 if their steps are in different sequences.
  double between(StepCoordinate a, StepCoordinate b) const;

  /// Returns the variance of a weighted sum of numbers of the chain; `weights` has, by step, the weights of its
  /// coordinates. The time is linear in the steps from the first to the last of them.
  double variance(const std::map<std::size_t, std::vector<double>>& weights) const;

  /// Draws all steps jointly, each given its predecessor. Returns the numbers by step and coordinate. `rng_of` returns
  /// the random numbers of a step.
  std::vector<std::vector<double>> draw(const std::function<Rng&(std::size_t step)>& rng_of) const;

 private:
  /// One step of the chain, with its distribution given its predecessor.
  struct Step {
    Eigen::VectorXd mean;                    // posterior means of the step's numbers
    Eigen::MatrixXd root;                    // L, with L L' the covariance of the step
    std::optional<std::size_t> predecessor;  // the predecessor; none at the beginning of a sequence
    /// The matrix R of correlations with the predecessor, and a root of 1 - R R'.
    Eigen::MatrixXd correlation, innovation_root;
  };
  std::vector<Step> steps_;  // all steps of the chain, in order; a predecessor comes before
};

}  // namespace lehr
