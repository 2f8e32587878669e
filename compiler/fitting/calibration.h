// Whether a method finds the posterior, by data that the model made itself. Two tests:
//
// Ranks. Of latent variables and data drawn from the model, the rank of the true value of a number among independent
// draws from its posterior is uniform. Cook, Gelman & Rubin, Validation of software for Bayesian models using posterior
// quantiles (2006); Talts, Betancourt, Simpson, Vehtari & Gelman, Validating Bayesian inference algorithms with
// simulation-based calibration (2018). Chains must have mixed.
//
// Joint. Sweeps of Gibbs sampling in turns with new data given the latent variables leave the joint distribution of
// both as it is. Geweke, Getting it right: joint distribution tests of posterior simulators (2004). Every chain begins
// with a draw of the model, so that nothing needs to mix, and chains are independent: Gandy & Scott, Unit testing for
// MCMC and other Monte Carlo methods (2020).
#pragma once
#include <string>
#include <vector>

#include "compiler/fitting/fitting.h"
#include "compiler/fitting/quantities.h"

namespace lehr {

/// A model and what is given of its data: sizes, covariates, constants.
struct CalibrationProblem {
  const model::Model& resolved;  // as read() made it
  const Analysed& complete;      // of which nothing is missing
  Dataset given;
  Settings settings;
};

struct CalibrationOptions {
  std::int64_t simulations = 200;
  std::int64_t draws = 63;  // ranks: of each posterior, after the method's thinning; joint: rounds of new data
  std::int64_t thin = 1;    // joint: sweeps of a round
};

/// The error, and where it is numerical the simulation that it came from.
Error in_simulation(Error error, std::int64_t simulation, std::uint64_t seed);

struct Ranks {
  std::vector<std::string> names;                // of what is asked about
  std::vector<std::vector<std::int64_t>> ranks;  // [name][simulation], from 0 to `highest`
  std::int64_t highest = 0;
  std::vector<std::string> skipped;  // what is not asked about, and why
};

/// Simulation k, counted from 1, is that of simulate() with the seed `fit.seed + k`; it is fitted as restart k - 1 of
/// `fit`, so that either can be had again by itself. Code is generated once. Draws of a method without any are those of
/// its factors. The log densities of everything and of the data are asked about where all variables are drawn.
/// Equal values are put in random order. An Error: what cannot be simulated or fitted; ExitCode::data for given latent
/// variables, which no fit would know.
Result<Ranks> rank_calibration(const CalibrationProblem& problem, const FitSettings& fit,
                               const CalibrationOptions& options);

struct JointComparison {
  std::string name;
  double z_location = 0, z_spread = 0;  // of the place among forward draws, and of its squared distance from the middle
  double p = 1;                         // of both: twice the smaller one
};

struct JointTest {
  std::vector<JointComparison> rows;
  std::vector<std::string> skipped;
};

/// `options.simulations` chains of `options.draws` rounds: `thin` sweeps, then new data. A number is measured by its
/// place among the numbers that the chains began with, so that heavy tails do no harm; its mean over the rounds of a
/// chain less that at its beginning has mean zero. Errors as above.
Result<JointTest> joint_calibration(const CalibrationProblem& problem, std::uint64_t seed,
                                    const CalibrationOptions& options);

}  // namespace lehr
