// Summarises the chains of a sampler: every number of every variable gets one Diagnosis over all chains, in the order
// of the columns of draws.
#include "compiler/fit/chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "compiler/model/walk.h"
#include "compiler/posterior/moments.h"
#include "runtime/output/stan_csv.h"

namespace lehr {

namespace {

/// A field of a Diagnosis, and its column in summary.csv.
struct DiagnosisColumn {
  const char* name;           // of the column
  double Diagnosis::*member;  // the field
};
/// All fields, in the order of summary.csv.
constexpr DiagnosisColumn kColumns[] = {{kDrawnMean, &Diagnosis::mean},        {kDrawnSd, &Diagnosis::sd},
                                        {kDrawnMcse, &Diagnosis::mcse},        {kDrawnEssBulk, &Diagnosis::ess_bulk},
                                        {kDrawnEssTail, &Diagnosis::ess_tail}, {kDrawnRHat, &Diagnosis::r_hat}};

/// Returns the largest R-hat and the smallest effective sample sizes; NaN, which becomes null, if no number has one.
nlohmann::json worst_of(std::span<const Diagnosis> diagnoses) {
  Diagnosis worst;
  worst.r_hat = worst.ess_bulk = worst.ess_tail = std::nan("");
  for (const Diagnosis& d : diagnoses) {
    worst.r_hat = std::fmax(worst.r_hat, d.r_hat);
    worst.ess_bulk = std::fmin(worst.ess_bulk, d.ess_bulk);
    worst.ess_tail = std::fmin(worst.ess_tail, d.ess_tail);
  }
  return {{kDrawnRHat, worst.r_hat}, {kDrawnEssBulk, worst.ess_bulk}, {kDrawnEssTail, worst.ess_tail}};
}

/// Returns for how many draws of a chain there are log likelihoods and replicated observations: "every draw", "one draw
/// in 10" or "none".
std::string predictive_extent(const Fitting& fitting, const GibbsReport& chain) {
  const auto draws = static_cast<std::int64_t>(chain.log_joint.size());
  if (!fitting.predictive().why.empty()) return "none: " + fitting.predictive().why;
  if (chain.predictive.draws.empty()) return "none";
  if (std::ssize(chain.predictive.draws) == draws) return "every draw";
  const std::int64_t spacing = chain.predictive.draws.size() > 1 ? chain.predictive.draws[1] : draws;
  return fmt::format("one draw in {}", spacing);
}

}  // namespace

ChainSummary summarise(const std::vector<const GibbsReport*>& chains) {
  ChainSummary out;
  const std::vector<NamedArray>& first = chains.at(0)->draws;
  out.names = column_names(first);
  for (std::size_t v = 0; v < first.size(); ++v) {
    const std::size_t before = out.diagnoses.size();
    const auto draws = static_cast<std::size_t>(first[v].shape[0]);
    const std::size_t width = draws == 0 ? 0 : first[v].values.size() / draws;
    for (std::size_t i = 0; i < width; ++i) {
      // Gathers the draws of one number, one list for each chain.
      std::vector<std::vector<double>> columns;
      for (const GibbsReport* c : chains) {
        std::vector<double>& column = columns.emplace_back(draws);
        for (std::size_t d = 0; d < draws; ++d)
          column[d] = c->draws[v].values[d * width + i];
      }
      out.diagnoses.push_back(diagnose({columns.begin(), columns.end()}));
    }
    for (const DiagnosisColumn& c : kColumns) {
      NamedArray a{first[v].name + "." + c.name, {first[v].shape.begin() + 1, first[v].shape.end()}, {}};
      for (std::size_t i = before; i < out.diagnoses.size(); ++i)
        a.values.push_back(out.diagnoses[i].*c.member);
      out.moments.push_back(std::move(a));
    }
  }
  std::vector<Evidence> evidence;
  for (const GibbsReport* c : chains) {
    if (c->evidence) evidence.push_back(*c->evidence);
  }
  if (!evidence.empty()) out.evidence = combine_chains(evidence);
  return out;
}

nlohmann::json to_json(const ChainSummary& s) {
  nlohmann::json out = {{"sampling", worst_of(s.diagnoses)}, {"variables", nlohmann::json::object()}};
  // `moments` has std::size(kColumns) arrays for each variable; `diagnoses` has the same variables in the same order.
  std::size_t begin = 0;
  for (std::size_t v = 0; v < s.moments.size(); v += std::size(kColumns)) {
    const std::string& name = s.moments[v].name;
    const std::size_t count = s.moments[v].values.size();
    out["variables"][name.substr(0, name.rfind('.'))] = worst_of(std::span(s.diagnoses).subspan(begin, count));
    begin += count;
  }
  if (const auto& e = s.evidence) {
    out["sampling"]["log_evidence"] = e->log_evidence;
    out["sampling"]["log_evidence_error"] = e->error;
    out["sampling"]["ladder"] = {
        {"powers", e->powers}, {"mean", e->mean}, {"sd", e->sd}, {"least_exchanged", e->exchanged}};
  }
  return out;
}

std::vector<const GibbsReport*> complete_chains(const std::vector<TracedRun>& runs) {
  const auto failed = [](const TracedRun& r) { return r.outcome.status == Status::numerical_failure; };
  const bool all_failed = std::ranges::all_of(runs, failed);
  std::vector<const GibbsReport*> chains;
  for (const TracedRun& run : runs) {
    const auto* report = std::get_if<GibbsReport>(&run.report);
    if (report && (all_failed || !failed(run))) chains.push_back(report);
  }
  // Chains without draws, and those that were interrupted before the first of them, are left out.
  std::erase_if(chains, [](const GibbsReport* c) { return c->log_joint.empty(); });
  const std::size_t draws = chains.empty() ? 0 : chains[0]->log_joint.size();
  std::erase_if(chains, [&](const GibbsReport* c) { return c->log_joint.size() != draws; });
  return chains;
}

std::optional<DrawnChains> drawn_chains(const Fitting& fitting, const std::vector<TracedRun>& runs) {
  std::vector<const GibbsReport*> chains = complete_chains(runs);
  if (chains.empty()) return std::nullopt;
  ChainSummary summary = summarise(chains);
  std::string extent = predictive_extent(fitting, *chains[0]);
  return DrawnChains{std::move(chains), std::move(summary), std::move(extent)};
}

std::vector<Diagnostic> failed_chain_warnings(const std::vector<TracedRun>& runs) {
  const auto failed = [](const TracedRun& r) { return r.outcome.status == Status::numerical_failure; };
  const auto n = std::ranges::count_if(runs, failed);
  if (n == 0 || n == std::ssize(runs)) return {};
  return {make_warning(fmt::format("{} of {} chains failed numerically and {} left out: {}", n, runs.size(),
                                   n == 1 ? "is" : "are", std::ranges::find_if(runs, failed)->outcome.failure))};
}

std::string format_csv(const ChainSummary& s) {
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out), "name,mean,sd,mcse,ess_bulk,ess_tail,r_hat\n");
  for (std::size_t k = 0; k < s.diagnoses.size(); ++k) {
    const Diagnosis& d = s.diagnoses[k];
    fmt::format_to(std::back_inserter(out), "{},{:.10g},{:.10g},{:.6g},{:.6g},{:.6g},{:.6g}\n", s.names[k], d.mean,
                   d.sd, d.mcse, d.ess_bulk, d.ess_tail, d.r_hat);
  }
  return fmt::to_string(out);
}

namespace {

/// Returns the values that the data have for a variable with missing ones, NaN for the missing; empty for other
/// variables.
std::span<const double> observed_values(const model::Model& m, const BoundData& data, const std::string& name) {
  for (std::size_t k = 0; k < m.variables.size(); ++k)
    if (m.variables[k].name == name && data.clamped[k]) return data.observed[k].values;
  return {};
}

/// Returns true if the value of an expression is a link of any number: never 0 or 1, whatever data are in it.
bool is_link(const model::Expr& e) {
  if (const auto* f = std::get_if<model::Apply>(&e.node))
    return f->function == math::Function::logistic || f->function == math::Function::probit;
  return std::holds_alternative<model::Softmax>(e.node) || std::holds_alternative<model::OrderedLogistic>(e.node);
}

/// Returns true if the distribution may leave a value no probability for constants or data in its parameters: Zero(), a
/// probability of 0 or 1, a number of trials. `chosen`: only where a latent variable chooses among the data.
bool may_exclude_values(const model::Model& m, const model::Distribution& d, bool chosen) {
  if (d.family->support != math::Support::bit && d.family->support != math::Support::count) return false;
  if (d.parameters.empty()) return !chosen;
  return std::ranges::any_of(d.parameters, [&](const model::Parameter& p) {
    const math::Support domain = p.spelling->domain;
    if ((domain != math::Support::unit && domain != math::Support::count) || is_link(m[p.value])) return false;
    const bool latent = !model::references_under(m, {p.value}).empty();
    if (const auto* n = std::get_if<model::Number>(&m[p.value].node); n && domain == math::Support::unit)
      return !chosen && (n->value == 0 || n->value == 1);
    const auto has_data = [&](model::ExprId id) { return std::holds_alternative<model::GivenRef>(m[id].node); };
    return chosen ? latent && std::ranges::any_of(model::nodes_under(m, {p.value}), has_data) : !latent;
  });
}

/// Returns true if data may force latent values: sums of rates or probabilities, and observed counts and bits of which
/// some choice of a latent variable may exclude a value. Such values keep their prior in the ladder of powers, but
/// never the values that the data exclude.
bool may_force_values(const model::Model& m) {
  const bool sums = std::ranges::any_of(m.variables, [](const model::Variable& v) {
    return v.auxiliary && v.auxiliary->kind == model::Auxiliary::Kind::source;
  });
  return sums || std::ranges::any_of(m.statements, [&](const model::Statement& s) {
           return m[s.variable].observed && std::ranges::any_of(model::distributions_of(s), [&](const auto* d) {
                    return may_exclude_values(m, *d, true) || (s.part && may_exclude_values(m, *d, false));
                  });
         });
}

/// Returns a warning for each variable with numbers that never changed in any chain and that the data do not fix.
std::vector<Diagnostic> constant_scalar_warnings(const ChainSummary& s, const model::Model& m, const BoundData& data) {
  std::vector<Diagnostic> out;
  std::size_t begin = 0;
  for (std::size_t v = 0; v < s.moments.size(); v += std::size(kColumns)) {
    const std::size_t count = s.moments[v].values.size();
    const std::string name = s.moments[v].name.substr(0, s.moments[v].name.rfind('.'));
    const std::span<const double> observed = observed_values(m, data, name);
    std::vector<std::size_t> stand;
    for (std::size_t i = 0; i < count; ++i) {
      const Diagnosis& d = s.diagnoses[begin + i];
      if (d.sd == 0 && std::isnan(d.r_hat) && !(i < observed.size() && !std::isnan(observed[i])))
        stand.push_back(begin + i);
    }
    if (!stand.empty()) {
      out.push_back(make_warning(
          fmt::format("'{}': {} of {} numbers never moved ({} is {:.6g} in every draw): they have no R-hat", name,
                      stand.size(), count, s.names[stand[0]], s.diagnoses[stand[0]].mean),
          {"either nothing else is possible, or the chains are stuck: " + option("method") + " cavi, or an " +
           option("init") + " where they have other values, tells which"}));
    }
    begin += count;
  }
  return out;
}

}  // namespace

std::vector<Diagnostic> warnings(const ChainSummary& s, const model::Model& m, const BoundData& data) {
  constexpr double kMixed = 1.05;
  std::vector<Diagnostic> out = constant_scalar_warnings(s, m, data);
  if (s.evidence && may_force_values(m))
    out.push_back(
        make_warning("the log evidence leaves out the prior probability of latent values that the data force "
                     "(the part of a count above 0 beside Zero(), factors of a probability, rates beside one of "
                     "0), and may be far too high"));
  const auto bad = std::ranges::count_if(s.diagnoses, [](const Diagnosis& d) { return d.r_hat > kMixed; });
  if (bad == 0) return out;
  const auto worst =
      std::ranges::max_element(s.diagnoses, {}, [](const Diagnosis& d) { return std::isnan(d.r_hat) ? 0.0 : d.r_hat; });
  out.push_back(
      make_warning(fmt::format("{} of {} numbers have not mixed: R-hat is {:.3f} for {}", bad, s.diagnoses.size(),
                               worst->r_hat, s.names[static_cast<std::size_t>(worst - s.diagnoses.begin())]),
                   {"more sweeps (warmup, draws), or a start near a fit by coordinate ascent (" + option("init") +
                    " DIR); chains whose components stand in another order never agree"}));
  return out;
}

}  // namespace lehr
