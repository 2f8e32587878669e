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

/// What `lehr calibrate` tests inference on: a model, and the part of its data that is fixed in all simulations (sizes,
/// covariates, constants). The referenced objects must outlive it.
struct CalibrationProblem {
  const model::Model& resolved;  // the model as read() made it, before analysis
  const Analysed& complete;      // analysis of the model for data without missing values
  Dataset given;                 // the user's arrays of covariates; of observed variables only the sizes are used
  Settings settings;             // sizes, constants and labels from the command line
};

/// How many simulations and posterior draws a calibration makes. The two tests read the numbers differently.
struct CalibrationOptions {
  std::int64_t simulations = 200;  // rank_calibration(): simulated data sets; joint_calibration(): chains
  /// rank_calibration(): posterior draws for each data set, after thinning. joint_calibration(): rounds of sweeps and
  /// new data in each chain.
  std::int64_t draws = 63;
  std::int64_t thin = 1;  // joint_calibration() only: Gibbs sweeps in each round, before the data are drawn anew
};

/// Adds to a numerical error a note with the number and seed of the simulation in which it happened, so that the user
/// can repeat it, and returns it. Other errors are returned unchanged.
Error in_simulation(Error error, std::int64_t simulation, std::uint64_t seed);

/// The result of rank_calibration(): for each number that is compared, the ranks of its true values among posterior
/// draws. They are uniform if the method finds the posterior.
struct Ranks {
  std::vector<std::string> names;                // names of the numbers that are compared, such as "mu.2"
  std::vector<std::vector<std::int64_t>> ranks;  // [name][simulation], each from 0 to `highest`
  std::int64_t highest = 0;                      // the largest possible rank: the number of draws
  std::vector<std::string> skipped;              // one line for each number or variable left out: its name, and why
};

/// Tests the posteriors of a method by simulation-based calibration: simulates `options.simulations` data sets, fits
/// each, and returns the ranks of true values among posterior draws. Ranked are at most kMaxOfVariable elements of each
/// latent variable, or sums of squares where elements are exchangeable (measures_of()). The log densities are ranked
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

/// The result of joint_calibration(), Geweke's test of the Gibbs sampler, for one number: whether its distribution in
/// later rounds of the chains is that at their beginning.
struct JointComparison {
  std::string name;  // name of the number that is compared, such as "mu.2" or "lp__"
  /// Two standard scores (mean divided by standard error) of later rounds against the beginning. With u the rank of the
  /// number among the first draws of all chains, scaled to [0, 1], they compare u and (u - 1/2)^2.
  double z_location = 0, z_spread = 0;
  double p = 1;  // p-value of both scores together: twice the smaller of their two-sided p-values, at most 1
};

/// The result of joint_calibration(), Geweke's test of the Gibbs sampler: a comparison for each number, and a list of
/// the numbers that were left out.
struct JointTest {
  std::vector<JointComparison> comparisons;  // one comparison for each number
  std::vector<std::string> skipped;          // one line for each number or variable left out: its name, and why
};

/// Tests the Gibbs sampler by Geweke's joint distribution test: `options.simulations` chains of `options.draws` rounds,
/// each round `options.thin` sweeps and then new data given the latent variables. A correct sampler keeps the joint
/// distribution. Numbers are compared by their ranks among the first draws, so that heavy tails do no harm: the mean
/// rank over the rounds of a chain, less the rank at its beginning, has mean zero. Returns the error of the first chain
/// that fails; ExitCode::data if the given data have an array for a latent variable, ExitCode::model if some variable
/// cannot be drawn.
Result<JointTest> joint_calibration(const CalibrationProblem& problem, std::uint64_t seed,
                                    const CalibrationOptions& options);

}  // namespace lehr
