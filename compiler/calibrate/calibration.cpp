// Rank calibration: ranks of true values among draws from their posteriors. The code is generated for the first
// simulation and reused, since all data sets have the same shapes.
#include "compiler/calibrate/calibration.h"

#include <fmt/format.h>

#include "compiler/calibrate/simulations.h"
#include "compiler/instance/barren.h"
#include "compiler/posterior/factor_draws.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

/// Streams of random numbers, different from those of simulations and starts: for ties, and for draws from factors.
constexpr std::uint64_t kTieStream = 0x71E5, kFactorStream = 0xFAC7;

/// Returns the names of the arrays.
std::vector<std::string> names_of(const std::vector<NamedArray>& arrays) {
  std::vector<std::string> out;
  for (const NamedArray& a : arrays)
    out.push_back(a.name);
  return out;
}

/// Fits one simulation after another with the same generated code.
class Fits {
 public:
  Fits(const CalibrationProblem& problem, const FitSettings& settings, std::int64_t draws)
      : problem_(problem), settings_(settings), draws_(draws) {
    settings_.save_locals = true;
    settings_.replaces_data = true;
  }

  /// Fits a simulation, and returns draws of every variable that has any: those of the sampler, or draws from the
  /// factors.
  Result<std::vector<NamedArray>> draws(const Simulation& s, std::uint64_t restart) {
    if (!fitting_) {
      Result<BoundModel> bound = bound_to(s.data);
      if (!bound) return bound.error();
      Result<std::unique_ptr<Fitting>> made = Fitting::make(std::move(*bound), settings_);
      if (!made) return made.error();
      fitting_ = std::move(*made);
    } else if (Result<bool> r = fitting_->replace(s.data); !r) {
      return r.error();
    }
    Result<FitRun> run = fitting_->start(restart);
    if (!run) return run.error();
    fitting_->run(*run, [](const SweepReport&) { return true; });
    if (run->outcome.status == Status::numerical_failure)
      return Error{ExitCode::numerical, "", run->outcome.failure, {}};
    if (auto* sampled = std::get_if<GibbsReport>(&run->report)) return std::move(sampled->draws);
    return draws_from_factors(fitting_->analysed(), run->posterior, draws_,
                              Rng(settings_.seed + restart, kFactorStream));
  }

 private:
  /// Binds a simulation as a fit binds data, with masks for barren elements. All simulations have the same masks.
  Result<BoundModel> bound_to(const BoundData& data) const {
    const Masks barren = find_barren(problem_.resolved, data);
    const density::ExpandOptions of_choice = with_masks(expand_options(data), unreached_masks(barren));
    BoundModel out{.analysed = problem_.complete,
                   .data = data,
                   .resolved = with_joint_factors(problem_.resolved, problem_.complete, of_choice, data)};
    const Masks masks = without_members(out.resolved.guide, barren);
    const bool masked = std::ranges::any_of(masks, [](const auto& mask) { return !mask.empty(); });
    const density::ExpandOptions options = with_masks(expand_options(data), masks);
    if (!masked && out.resolved.guide.joint.size() == problem_.resolved.guide.joint.size()) return out;
    Diagnostics diagnostics;
    std::optional<Analysed> analysed = analyse(out.resolved, options, diagnostics);
    if (!analysed)
      return Error{ExitCode::model, "", "the model without what no data depend on has no conditionals", {}};
    out.analysed = std::move(*analysed);
    out.data.observed.resize(out.analysed.model.variables.size());
    add_sizes(out.analysed.model, out.data);
    add_masks(out.analysed.model, masks, out.data);
    return out;
  }

  const CalibrationProblem& problem_;
  FitSettings settings_;
  std::int64_t draws_;
  std::unique_ptr<Fitting> fitting_;
};

/// Appends the rank of each true value among the draws; a random one of the possible ranks for ties.
void add_ranks(Ranks& to, const std::vector<double>& truth, const std::vector<std::vector<double>>& draws, Rng& rng) {
  for (std::size_t q = 0; q < truth.size(); ++q) {
    std::uint64_t below = 0, equal = 0;
    for (const std::vector<double>& d : draws) {
      below += d[q] < truth[q];
      equal += d[q] == truth[q];
    }
    to.ranks[q].push_back(static_cast<std::int64_t>(below + draw_below(rng, equal + 1)));
  }
}

}  // namespace

Error in_simulation(Error e, std::int64_t k, std::uint64_t seed) {
  if (e.code == ExitCode::numerical) e.notes.push_back(fmt::format("in simulation {}, whose seed is {}", k, seed));
  return e;
}

Result<Ranks> rank_calibration(const CalibrationProblem& problem, const FitSettings& fit,
                               const CalibrationOptions& options) {
  const Result<Simulations> simulations = Simulations::make(problem);
  if (!simulations) return simulations.error();
  Fits fits(problem, fit, options.draws);
  const model::Model& m = simulations->model();
  Ranks out;
  out.highest = options.draws;
  Measures measures;
  for (std::int64_t k = 1; k <= options.simulations; ++k) {
    const std::uint64_t seed = fit.seed + static_cast<std::uint64_t>(k);
    const Result<Simulation> simulated = simulations->draw(seed);
    if (!simulated) return in_simulation(simulated.error(), k, seed);
    const Result<std::vector<NamedArray>> draws = fits.draws(*simulated, static_cast<std::uint64_t>(k - 1));
    if (!draws) return in_simulation(draws.error(), k, seed);
    if (k == 1) {
      measures = measures_of(m, simulated->data, names_of(*draws), false);
      out.names = measures.names();
      out.ranks.resize(out.names.size());
    }
    std::vector<std::vector<double>> draw_measures;
    for (std::int64_t d = 0; d < options.draws; ++d)
      draw_measures.push_back(measures.of(m, simulated->data, draw_of(m, *draws, static_cast<std::size_t>(d))));
    Rng ties(seed, kTieStream);
    add_ranks(out, measures.of(m, simulated->data, simulated->values), draw_measures, ties);
  }
  out.skipped = std::move(measures.skipped);
  return out;
}

}  // namespace lehr
