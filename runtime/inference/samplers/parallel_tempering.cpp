// Parallel tempering on one engine: the states of all powers are stored, and each is loaded, swept and stored again.
// Three times in the warmup, the powers are placed anew at equal thermodynamic length (evidence.h).
#include "runtime/inference/samplers/parallel_tempering.h"

#include <algorithm>
#include <cmath>

#include "runtime/rng.h"

namespace lehr {
namespace {

/// Returns the first powers, (k / (levels - 1))^5, which are dense near the prior (Friel & Pettitt 2008).
std::vector<double> first_powers(std::int64_t levels) {
  std::vector<double> out;
  for (std::int64_t k = 0; k < levels; ++k)
    out.push_back(std::pow(static_cast<double>(k) / static_cast<double>(levels - 1), 5));
  return out;
}

/// The states of the samplers, one for each power.
struct TemperedStates {
  TemperedStates(const Engine& e, const ParallelTemperingOptions& o)
      : engine(e),
        options(o),
        powers(first_powers(o.levels)),
        states(powers.size(), e.snapshot_state()),
        energies(powers.size()),
        seen(powers.size()),
        random(o.seed, o.chain),
        tried(powers.size()),
        accepted(powers.size()) {}

  /// Sweeps every state once; that at power 1 is the last and stays in place. `rounds` sweeps were made before. Returns
  /// a status of the generated code.
  std::int32_t sweep_all(std::int64_t rounds, double& log_joint);
  /// Records the log likelihood of every state.
  void record();
  /// Proposes to exchange the states of neighbouring powers, of every other pair, and accepts by Metropolis' rule.
  void exchange(std::int64_t rounds);
  /// Places the powers anew from the recorded energies, if `move`; then clears the records.
  void adapt_powers(bool move);

  const Engine& engine;
  const ParallelTemperingOptions& options;
  std::vector<double> powers;
  std::vector<Snapshot> states;
  std::vector<double> energies;           // log likelihood of each state
  std::vector<std::vector<double>> seen;  // recorded log likelihoods, by power
  Rng random;
  std::vector<std::int64_t> tried, accepted;  // exchanges proposed and accepted, by the lower of the two powers
};

std::int32_t TemperedStates::sweep_all(std::int64_t rounds, double& log_joint) {
  constexpr double kLeast = 1e-30;  // stands for power 0: with a weight of 0, ratios of weighted sums would be 0 / 0
  const std::size_t n = powers.size();
  for (std::size_t r = 0; r < n; ++r) {
    const double b = std::max(powers[r], kLeast);
    engine.load(states[r]);
    engine.set({.local_data = b, .global_data = b});
    if (const std::int32_t status = prepare_statistics(engine)) return status;
    // The key gives every power and round random numbers of its own, whatever the number of steps of a sweep.
    constexpr int kStepBits = 24, kLevelBits = 12;
    machine::set_key(engine.machine(), options.seed, (options.chain << kLevelBits) + r, rounds << kStepBits);
    if (const std::int32_t status = sweep(engine, {.local_iterations = 1})) return status;
    Elbo elbo;
    if (const std::int32_t status = engine.elbo(elbo)) return status;
    energies[r] = elbo.data_energy;
    log_joint = elbo.value;
    states[r] = engine.snapshot_state();
  }
  return 0;
}

void TemperedStates::exchange(std::int64_t rounds) {
  for (std::size_t r = static_cast<std::size_t>(rounds % 2); r + 1 < powers.size(); r += 2) {
    const double gain = (powers[r + 1] - powers[r]) * (energies[r] - energies[r + 1]);
    ++tried[r];
    if (!(std::log(draw_uniform(random)) < gain)) continue;
    ++accepted[r];
    std::swap(states[r], states[r + 1]);
  }
}

void TemperedStates::record() {
  for (std::size_t r = 0; r < powers.size(); ++r)
    seen[r].push_back(energies[r]);
}

void TemperedStates::adapt_powers(bool move) {
  constexpr std::size_t kFewest = 10;
  if (move && seen[0].size() >= kFewest) powers = equal_length_powers(powers, seen);
  std::ranges::for_each(seen, [](std::vector<double>& x) { x.clear(); });
  std::ranges::fill(tried, 0);
  std::ranges::fill(accepted, 0);
}

/// Returns the smallest acceptance rate of exchanges between two neighbours.
double least_exchanged(const TemperedStates& l) {
  double least = 1;
  for (std::size_t r = 0; r + 1 < l.powers.size(); ++r) {
    if (l.tried[r] > 0) least = std::min(least, static_cast<double>(l.accepted[r]) / static_cast<double>(l.tried[r]));
  }
  return least;
}

/// Computes log Z(0), the log number of joint values of auxiliary categories. Returns a status.
std::int32_t log_states(const Engine& e, double& out) {
  if (const std::int32_t status = e.call(e.model().states)) return status;
  out = e.recorded([&] { return e.reals(e.model().elbo_buffer)[0]; });
  return 0;
}

}  // namespace

Outcome run_parallel_tempering(const Engine& e, const ParallelTemperingOptions& o, const OnSweep& on_sweep,
                               const std::function<void(double)>& on_draw, Evidence& evidence) {
  Outcome out;
  const WeightsGuard plain{e};
  double states = 0;
  if (const std::int32_t status = log_states(e, states)) return failure(e, status, out);
  TemperedStates ladder(e, o);
  const std::int64_t rounds = o.warmup + o.draws * o.thin, quarter = o.warmup / 4;
  while (out.iterations < rounds) {
    if (const std::int32_t status = ladder.sweep_all(out.iterations, out.elbo)) return failure(e, status, out);
    ++out.iterations;
    const bool finite = std::ranges::all_of(ladder.energies, [](double x) { return std::isfinite(x); });
    if (!finite || std::isnan(out.elbo)) {
      out.status = Status::numerical_failure;
      out.failure = "a log density is not finite: a prior that is not proper, or too wide, has no evidence";
      return out;
    }
    const std::int64_t sampled = out.iterations - o.warmup;
    if (sampled > 0 && sampled % o.thin == 0) {
      ladder.record();
      on_draw(out.elbo);
    } else if (sampled <= 0 && out.iterations % std::max<std::int64_t>(1, quarter) > quarter / 2) {
      ladder.record();
    }
    if (o.exchange) ladder.exchange(out.iterations);
    // The powers move three times in the warmup; records of its last quarter are dropped.
    if (sampled == 0 || (sampled < 0 && quarter > 0 && out.iterations % quarter == 0)) ladder.adapt_powers(sampled < 0);
    if (!on_sweep({out.iterations, out.elbo, 1, out.elbo})) {
      out.status = Status::interrupted;
      return out;
    }
  }
  evidence = integrate(ladder.powers, ladder.seen, states);
  evidence.exchanged = least_exchanged(ladder);
  out.status = Status::max_iter;
  return out;
}

}  // namespace lehr
