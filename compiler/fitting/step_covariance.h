// Covariances of steps of a chain of numbers whose Normal factor is kept step by step.
#pragma once
#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "compiler/fitting/step_links.h"
#include "runtime/rng.h"

namespace lehr {

/// A Markov chain is its steps and its neighbours: with S = L L' of each step and the block B of the precision between
/// two, the correlations of L^-1 x are R = U r V' where L_t' B L_s = U m V', r = -2 m / (1 + sqrt(1 + 4 m^2)), from
/// B = -(S_t - C S_s^-1 C')^-1 C S_s^-1 and C = L_t R L_s'.
class StepCovariance {
 public:
  /// `mean` and `root` (math::Spread) of every step. Nothing where a step has two neighbours on one side.
  static std::optional<StepCovariance> make(std::vector<std::vector<double>> mean,
                                            const std::vector<std::vector<double>>& root, const StepLinks& links);

  /// Of two numbers of different steps; 0 between steps that are not linked.
  double between(StepNumber a, StepNumber b) const;

  /// Of a sum of numbers with these weights, by step and coordinate: one pass over the steps from the first of them on.
  double variance(const std::map<std::size_t, std::vector<double>>& weights) const;

  /// One draw of all steps, one after another.
  std::vector<std::vector<double>> draw(const std::function<Rng&(std::size_t step)>& rng_of) const;

 private:
  struct Step {
    Eigen::VectorXd mean;
    Eigen::MatrixXd root;               // L
    std::optional<std::size_t> before;  // the step that it is linked to
    Eigen::MatrixXd correlation, left;  // with it; a root of 1 - R R'
  };
  std::vector<Step> steps_;
};

}  // namespace lehr
