// Fits by sampling: Gibbs sampling, parallel tempering and exact sampling. They differ in the run; recording draws and
// predictive quantities is common.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/fit/methods/method.h"
#include "compiler/fit/methods/spin_pairs.h"
#include "compiler/model/roles.h"
#include "compiler/posterior/predictive.h"

namespace lehr {
namespace {

/// Distinguishes the random numbers of replicated data from those of starts.
constexpr std::uint64_t kPredictiveStream = std::uint64_t{1} << 32;

/// Prepares a run whose draws are recorded in its report. `run` is called with (engine, on_sweep, on_draw, report), and
/// must call `on_draw` with the log joint density at each draw.
template <class Run>
PreparedRun recorded(const RunContext& g, std::int64_t draws, const Run& run) {
  const std::int64_t every = g.predictive.every(draws);
  return {[=, &analysed = g.analysed, &data = g.data, &instance = g.instance, references = g.references,
           save_locals = g.save_locals,
           first = Rng(g.seed, kPredictiveStream + g.restart)](const OnSweep& on_sweep, Report& report) {
            GibbsReport& to = std::get<GibbsReport>(report);
            std::optional<Predictive> predictive;
            if (every > 0) predictive.emplace(analysed.model, data, references);
            Rng rng = first;
            const auto record = [&](double log_joint) {
              Rng after = rng;
              const auto draw = static_cast<std::int64_t>(to.log_joint.size());
              instance.append_draw(to.draws, save_locals);
              to.log_joint.push_back(log_joint);
              if (every == 0 || draw % every != 0) return after;
              std::vector<NamedArray> state;
              instance.append_draw(state, true, LocationOrigin::reference);
              predictive->add(draw, state, after, to.predictive);
              return after;
            };
            const auto on_draw = [&](double log_joint) {
              // The state of the random numbers is recorded in the journal, so that a replayed run continues with it.
              rng = instance.engine().recorded([&] { return record(log_joint); });
            };
            return run(instance.engine(), on_sweep, on_draw, to);
          },
          GibbsReport{}};
}

}  // namespace

std::optional<Error> not_binary(const model::Model& m, const conditionals::Conditionals& c) {
  for (const conditionals::Block& b : c.blocks) {
    const model::Variable& v = m[b.variable];
    if (v.support == math::Support::spin || v.support == math::Support::bit) continue;
    return Error{ExitCode::model,
                 option("method"),
                 fmt::format("this model has no exact samples: its latent variables are not spins and bits alone: "
                             "'{}' has a factor of family {}",
                             v.name, b.family->name),
                 {"method gibbs takes it: its draws are exact in the limit of many sweeps"}};
  }
  return std::nullopt;
}

Result<PreparedRun> Gibbs::prepare(const RunContext& g) const {
  GibbsOptions o = options;
  o.seed = g.seed;
  o.chain = g.restart;
  return recorded(g, o.draws, [o](const Engine& e, const OnSweep& on_sweep, const auto& on_draw, GibbsReport&) {
    return run_gibbs(e, o, on_sweep, on_draw);
  });
}

Result<PreparedRun> ParallelTempering::prepare(const RunContext& g) const {
  for (const density::Origin& origin : g.analysed.schedule.conditionals.density.origins) {
    if (!origin.improper) continue;
    const model::Model& m = g.analysed.model;
    return Error{ExitCode::model,
                 option("temper"),
                 fmt::format("the prior of '{}' is improper: it has no states at the temperature of the prior",
                             m[m[*origin.statement].variable].name),
                 {fmt::format("a proper prior, however wide, or no {}", option("temper"))}};
  }
  for (const model::Variable& v : g.analysed.model.variables) {
    if (!v.auxiliary || v.auxiliary->kind != model::Auxiliary::Kind::value) continue;
    return Error{ExitCode::model,
                 option("temper"),
                 fmt::format("'{}' is known to be on a side or in an interval, of which no power is anything else",
                             g.analysed.model[v.auxiliary->host].name),
                 {fmt::format("no {}: a side that is known has no states between the prior and the posterior",
                              option("temper"))}};
  }
  for (const model::Statement& s : g.analysed.model.statements) {
    const model::Variable& v = g.analysed.model[s.variable];
    const auto bounded = [&](const model::Variable& x) {
      return x.auxiliary && x.auxiliary->host == s.variable && x.auxiliary->bound == &math::absolute_bound();
    };
    if (!v.observed || std::ranges::none_of(g.analysed.model.variables, bounded)) continue;
    return Error{ExitCode::model,
                 option("temper"),
                 fmt::format("'{}' is Laplace, and its draws have scales whose distribution has no power that is "
                             "exchanged or integrated",
                             v.name),
                 {fmt::format("StudentT with few degrees of freedom in its place has heavy tails and evidence; or no "
                              "{}",
                              option("temper"))}};
  }
  ParallelTemperingOptions o = options;
  o.seed = g.seed;
  o.chain = g.restart;
  // Polya-Gamma variables are drawn for one power of the likelihood, so replicas of different powers cannot exchange
  // them.
  o.exchange = std::ranges::none_of(g.analysed.model.variables, &model::is_tangent_point);
  const bool clamped = std::ranges::any_of(g.analysed.model.variables, &model::Variable::clamped);
  return recorded(g, o.draws, [=](const Engine& e, const OnSweep& on_sweep, const auto& on_draw, GibbsReport& to) {
    Evidence evidence;
    Outcome out = run_parallel_tempering(e, o, on_sweep, on_draw, evidence);
    // With some values observed, power 0 is the prior given these values, and the integral is not the evidence.
    if (!evidence.powers.empty() && !clamped) to.evidence = std::move(evidence);
    return out;
  });
}

namespace {

/// Returns true if Gibbs sweeps from all states meet within few sweeps. The trial has random numbers of its own, so the
/// choice that follows from it does not bias samples.
bool meets_soon(const Engine& e, ExactOptions o) {
  constexpr std::int64_t kFewSweeps = 256;
  constexpr std::uint64_t kTrial = 0x7219A1;
  o.chain = kTrial;
  double undecided = 1;
  for (std::int64_t back = 1; undecided > 0 && back <= kFewSweeps; back *= 2) {
    if (run_envelope(e, o, 0, back, undecided) != 0) return false;
  }
  return undecided == 0;
}

}  // namespace

Result<PreparedRun> Exact::prepare(const RunContext& g) const {
  Couplings found = couplings(g.engine());
  if (found.status != 0) return Error{ExitCode::numerical, "", g.engine().describe(found.status), {}};
  ExactOptions o = options;
  o.seed = g.seed;
  o.chain = g.restart;
  const model::Model& m = g.analysed.model;
  std::optional<RandomClusters> clusters;
  if (!meets_soon(g.engine(), o)) {
    if (const std::optional<SpinPairs> pairs = spin_pairs(m, g.data)) clusters = RandomClusters::make(*pairs);
  }
  found.clusters = clusters.has_value();
  PreparedRun out = recorded(g, o.draws,
                             [=, &m, &data = g.data, &instance = g.instance](const Engine& e, const OnSweep& on_sweep,
                                                                             const auto& on_draw, GibbsReport&) {
                               if (!clusters) return run_exact(e, o, on_sweep, on_draw);
                               const auto place = [&](const std::vector<double>& spins) {
                                 (void)instance.set_draw(values_of_spins(m, data, spins));
                               };
                               return run_clusters(e, o, *clusters, place, on_sweep, on_draw);
                             });
  std::get<GibbsReport>(out.report).coupling = found;
  return out;
}

}  // namespace lehr
