// Tests of whether a method finds the right posterior, with data simulated from the model.
//
// Ranks: draw latent variables and data from the model. The rank of the true value of a number among independent draws
// from its posterior is then uniform. Cook, Gelman & Rubin (2006), Validation of software for Bayesian models using
// posterior quantiles; Talts, Betancourt, Simpson, Vehtari & Gelman (2018), Validating Bayesian inference algorithms
// with simulation-based calibration. Chains must have mixed.
//
// Joint: alternate sweeps of Gibbs sampling with new data given the latent variables. This keeps the joint distribution
// of both. Geweke (2004), Getting it right: joint distribution tests of posterior simulators. Every chain begins with a
// draw from the model, so that nothing has to mix, and chains are independent: Gandy & Scott (2020), Unit testing for
// MCMC and other Monte Carlo methods.
#pragma once
#include <string>
#include <vector>

#include "compiler/calibrate/quantities.h"
#include "compiler/fit/fitting.h"

namespace lehr {

/// A model, and the part of its data that is fixed in all simulations: sizes, covariates, constants. The referenced
/// objects must outlive it.
struct CalibrationProblem {
  const model::Model& resolved;  // the model as read() made it
  const Analysed& complete;      // analysis of the model for data without missing values
  Dataset given;                 // arrays that are not simulated
  Settings settings;             // sizes and constants of the data
};

/// How many simulations and draws a calibration makes.
struct CalibrationOptions {
  std::int64_t simulations = 200;  // data sets (ranks) or chains (joint)
  /// Ranks: posterior draws for each data set, after thinning. Joint: rounds of new data in each chain.
  std::int64_t draws = 63;
  std::int64_t thin = 1;  // joint: sweeps between two data sets
};

/// Returns the error; to a numerical one it adds a note with the number and seed of the simulation.
Error in_simulation(Error error, std::int64_t simulation, std::uint64_t seed);

/// The ranks of true values among posterior draws.
struct Ranks {
  std::vector<std::string> names;                // names of the numbers that are compared
  std::vector<std::vector<std::int64_t>> ranks;  // [name][simulation], each from 0 to `highest`
  std::int64_t highest = 0;                      // the largest possible rank: the number of draws
  std::vector<std::string> skipped;              // one line for each thing that is not compared: what, and why
};

/// Runs simulation-based calibration: simulates `options.simulations` data sets, fits each, and returns the ranks of
/// true values among posterior draws. Ranked are the measures that measures_of() chooses: at most kMaxOfVariable
/// elements of each latent variable, or sums of squares where elements are exchangeable. The log densities are ranked
/// too if every latent variable has draws. Equal values get a random one of their possible ranks.
///
/// If the method of `fit` is a sampler, it must make at least `options.draws` draws. The posterior of any other method
/// is tested by `options.draws` draws from its factors. Code is generated once, for the first simulation.
///
/// Simulation k = 1, 2, ... has the seed `fit.seed + k` of simulate(), and is fitted as restart k - 1, so that each can
/// be repeated alone. Returns the error of the first simulation or fit that fails; ExitCode::data if the given data
/// have an array for a latent variable.
Result<Ranks> rank_calibration(const CalibrationProblem& problem, const FitSettings& fit,
                               const CalibrationOptions& options);

/// The result of the joint test for one number.
struct JointComparison {
  std::string name;  // name of the number that is compared
  /// Two standard scores (mean divided by standard error) of later rounds against the beginning. With u the rank of the
  /// number among the first draws of all chains, scaled to [0, 1], they compare u and (u - 1/2)^2.
  double z_location = 0, z_spread = 0;
  double p = 1;  // two-sided p-value of both together: twice the smaller one
};

/// The result of the joint test.
struct JointTest {
  std::vector<JointComparison> comparisons;  // one comparison for each number
  std::vector<std::string> skipped;          // one line for each thing that is not compared: what, and why
};

/// Runs Geweke's test: `options.simulations` chains of `options.draws` rounds, each round `options.thin` sweeps and
/// then new data. Numbers are compared by their ranks among the first draws, so that heavy tails do no harm. The mean
/// rank over the rounds of a chain, less the rank at its beginning, has mean zero. Fails as rank_calibration does, and
/// with ExitCode::model if some variable cannot be drawn.
Result<JointTest> joint_calibration(const CalibrationProblem& problem, std::uint64_t seed,
                                    const CalibrationOptions& options);

}  // namespace lehr
