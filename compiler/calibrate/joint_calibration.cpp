// Geweke's test with independent chains, each begun with a draw from the model. If the sampler is right, every round
// has the same joint distribution of latent variables and data as the beginning.
#include <algorithm>

#include "compiler/calibrate/calibration.h"
#include "compiler/calibrate/simulations.h"
#include "compiler/calibrate/uniformity.h"
#include "compiler/gibbs_analysis.h"
#include "runtime/inference/sweep.h"

namespace lehr {
namespace {

/// Runs chains in which sweeps alternate with new data.
class Rounds {
 public:
  Rounds(const Simulations& simulations, Instance& instance, const Measures& measures,
         const CalibrationOptions& options)
      : simulations_(simulations), instance_(instance), measures_(measures), options_(options) {}

  /// Returns the measures at the beginning of a chain and after every round.
  Result<std::vector<std::vector<double>>> run(std::uint64_t seed, std::uint64_t chain) {
    const auto rounds = static_cast<std::uint64_t>(options_.draws);
    const std::uint64_t first = seed + 1 + chain * (rounds + 1);
    Result<Simulation> now = simulations_.draw(first);
    if (!now) return now.error();
    if (Result<bool> r = instance_.replace(now->data); !r) return r.error();
    if (const auto r = instance_.start(seed, chain); !r) return r.error();
    machine::set_key(instance_.engine().machine(), seed, chain);
    if (std::optional<Error> e = put(now->values)) return *e;
    std::vector<std::vector<double>> out{measure(*now, now->values)};
    for (std::uint64_t k = 1; k <= rounds; ++k) {
      if (std::optional<Error> e = sweep()) return *e;
      std::vector<NamedArray> state;
      instance_.append_draw(state, true);
      const Values latent = values_of(simulations_.model(), state);
      out.push_back(measure(*now, latent));
      if (k == rounds) break;
      now = simulations_.draw_data(*now, latent, first + k);
      if (!now) return now.error();
      if (Result<bool> r = instance_.replace(now->data); !r) return r.error();
      if (std::optional<Error> e = put(latent)) return *e;
    }
    return out;
  }

 private:
  /// Puts a state into the instance after the data have changed. Auxiliary variables, which the model does not draw,
  /// are drawn given all others by a sweep over the items; that sweep changes other local variables, so they are put
  /// back.
  std::optional<Error> put(const Values& latent) {
    if (Result<bool> r = instance_.set_draw(latent); !r) return r.error();
    if (std::ranges::none_of(simulations_.model().variables, [](const auto& v) { return v.auxiliary.has_value(); }))
      return std::nullopt;
    const Engine& e = instance_.engine();
    if (const std::int32_t status = lehr::sweep(e, {.local_iterations = 1}, {.items_only = true}))
      return Error{ExitCode::numerical, "", e.describe(status), {}};
    if (Result<bool> r = instance_.set_draw(latent); !r) return r.error();
    return std::nullopt;
  }

  /// Returns the measures of a state with its data.
  std::vector<double> measure(const Simulation& s, const Values& latent) const {
    return measures_.of(simulations_.model(), s.data, latent);
  }

  /// Makes the Gibbs sweeps of one round.
  std::optional<Error> sweep() {
    const Engine& e = instance_.engine();
    std::int32_t status = prepare_statistics(e);
    for (std::int64_t k = 0; k < options_.thin && status == 0; ++k)
      status = lehr::sweep(e, {.local_iterations = 1});
    if (status == 0) return std::nullopt;
    return Error{ExitCode::numerical, "", e.describe(status), {}};
  }

  const Simulations& simulations_;
  Instance& instance_;
  const Measures& measures_;
  const CalibrationOptions& options_;
};

/// Returns the rank of x among sorted numbers, scaled to [0, 1]; ties count half.
double scaled_rank(const std::vector<double>& sorted, double x) {
  const auto [low, high] = std::ranges::equal_range(sorted, x);
  return 0.5 * static_cast<double>((low - sorted.begin()) + (high - sorted.begin())) /
         static_cast<double>(sorted.size());
}

/// The measures of a chain.
using Chain = std::vector<std::vector<double>>;

/// Tests whether measure q has the same distribution in later rounds as at the beginning.
JointComparison compare(const std::string& name, const std::vector<Chain>& chains, std::size_t q) {
  std::vector<double> sorted, location, spread;
  for (const Chain& c : chains)
    sorted.push_back(c[0][q]);
  std::ranges::sort(sorted);
  for (const Chain& c : chains) {
    double u = 0, v = 0;
    const auto add = [&](double x, double weight) {
      // `u` compares the location, and `v` the spread: the rank, and its squared distance from the middle.
      const double at = scaled_rank(sorted, x) - 0.5;
      u += weight * at;
      v += weight * at * at;
    };
    for (std::size_t k = 1; k < c.size(); ++k)
      add(c[k][q], 1.0 / static_cast<double>(c.size() - 1));
    add(c[0][q], -1);
    location.push_back(u);
    spread.push_back(v);
  }
  const ZeroMean a = zero_mean(location), b = zero_mean(spread);
  return {name, a.z, b.z, std::min(1.0, 2 * std::min(a.p, b.p))};
}

}  // namespace

Result<JointTest> joint_calibration(const CalibrationProblem& problem, std::uint64_t seed,
                                    const CalibrationOptions& options) {
  const Result<Simulations> simulations = Simulations::make(problem);
  if (!simulations) return simulations.error();
  const Result<Analysed> analysed = analyse_for_gibbs(problem.resolved, {}, problem.complete);
  if (!analysed) return analysed.error();
  const Result<Simulation> shape = simulations->draw(seed + 1);
  if (!shape) return shape.error();
  Result<std::unique_ptr<Instance>> made =
      Instance::make(*analysed, shape->data, {.save_locals = true}, Backend::native, 0);
  if (!made) return made.error();
  std::vector<std::string> latent;
  for (const model::Variable& v : analysed->model.variables)
    latent.push_back(v.name);
  Measures measures = measures_of(analysed->model, shape->data, latent, true);
  Rounds rounds(*simulations, **made, measures, options);
  std::vector<Chain> chains;
  for (std::int64_t k = 1; k <= options.simulations; ++k) {
    Result<Chain> chain = rounds.run(seed, static_cast<std::uint64_t>(k - 1));
    if (!chain) return in_simulation(chain.error(), k, seed);
    chains.push_back(std::move(*chain));
  }
  JointTest out;
  const std::vector<std::string> names = measures.names();
  for (std::size_t q = 0; q < names.size(); ++q)
    out.comparisons.push_back(compare(names[q], chains, q));
  out.skipped = std::move(measures.skipped);
  return out;
}

}  // namespace lehr
