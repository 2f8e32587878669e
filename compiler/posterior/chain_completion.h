// The joint distribution of a Gaussian chain that reaches back several steps, from what a saved fit and the model give:
// the covariance of every single step, and the blocks of the precision between steps (precision_blocks.h). The blocks
// of the precision on its diagonal are unknown. They are those D_t that give every step its covariance: the minimum of
//
//     -log|Q(D)| + sum_t tr(D_t S_t)
//
// which is convex in D. Newton's method finds it, for long chains a stretch of steps at a time.
#pragma once
#include <Eigen/Dense>
#include <optional>
#include <vector>

namespace lehr {

/// One step of a sequence, in numbers that are standardised by the step's own mean and covariance.
struct ChainStep {
  /// The blocks of the precision with the step before, the one before that, ...: rows are this step's numbers. As many
  /// at every step as the chain reaches back; fewer at the beginning.
  std::vector<Eigen::MatrixXd> links;
};

/// The distribution of a step given those before it, in standardised numbers: coefficients * predecessors +
/// innovation_root * noise. The predecessors are the steps that the chain reaches back to, the earliest first.
struct StepRegression {
  Eigen::MatrixXd coefficients, innovation_root;  // see above
  Eigen::MatrixXd lagged;                         // covariance of the step with its predecessors
};

/// Returns the distribution of each step of one sequence given its predecessors. Every step has `width` numbers, and
/// the chain reaches back `reach` steps. Returns nullopt if there is no such chain, or too much work.
std::optional<std::vector<StepRegression>> complete_chain(const std::vector<ChainStep>& steps, Eigen::Index width,
                                                          std::size_t reach);

}  // namespace lehr
