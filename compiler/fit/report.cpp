// Formats the reports of the methods, for fit.json and for the terminal.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "compiler/fit/methods/method.h"
#include "compiler/support/overloaded.h"
#include "runtime/search/random_start.h"

namespace lehr {
namespace {

using nlohmann::json;

/// A standard error of the temperature that is warned of.
constexpr double kUncertain = 0.05;
/// The least evidence against temperature 1 that is reported, in nats. Of data that the model makes, half have their
/// best temperature below 1 and the rest twice this evidence distributed as chi square with one degree of freedom: one
/// data set in 200 is above. A temperature above 1 is no evidence by itself, since none of the grid is below 1.
constexpr double kAgainstOne = 3.3;

/// Lists pairs of temperature and entropy, as a fraction of the largest.
json curve(const std::vector<HeatingPoint>& heating) {
  json out = json::array();
  for (const HeatingPoint& p : heating)
    out.push_back({p.temperature, p.fraction});
  return out;
}

/// Lists the candidates of the annealing: initial temperature, ELBO, and whether it was accepted.
json candidates(const AutoReport& r) {
  json out = json::array();
  for (const AutoReport::Candidate& a : r.candidates)
    out.push_back({{"from", a.from}, {"elbo", a.elbo}, {"kept", a.accepted}});
  return out;
}

/// Returns how far a standard error of log C(T) moves the temperature: half the distance between those with log C(T) a
/// standard error higher and lower. Nothing where log C(T) is exact.
std::optional<double> temperature_error(const TemperingReport& r) {
  if (r.local || r.error.empty() || r.error.size() != r.posterior.size()) return std::nullopt;
  const auto moved = [&](double errors) {
    std::vector<double> logs;
    for (std::size_t m = 0; m < r.error.size(); ++m)
      logs.push_back(std::log(r.posterior[m]) - errors * r.error[m]);
    const double top = *std::ranges::max_element(logs);
    double sum = 0, inverse = 0;
    for (std::size_t m = 0; m < logs.size(); ++m) {
      sum += std::exp(logs[m] - top);
      inverse += std::exp(logs[m] - top) / r.temperatures[m];
    }
    return sum / inverse;
  };
  return 0.5 * std::abs(moved(1) - moved(-1));
}

/// Returns by how many nats the data are less probable at the lowest temperature, 1, than at the best: under the
/// factors of the end, where merged components have parted again.
double evidence_against_one(const TemperingReport& r) {
  const std::vector<double>& p = r.at_end.empty() ? r.posterior : r.at_end;
  return p.empty() ? 0 : std::log(*std::ranges::max_element(p)) - std::log(p.front());
}

/// Formats a report of automatic annealing.
json annealing(const AutoReport& r) {
  return {{"plain_elbo", r.plain_elbo},
          {"plain_sweeps", r.plain_sweeps},
          {"melting_temperature", r.melting},
          {"temperatures_of", r.kind == Annealing::Kind::entropy ? "entropies" : "data"},
          {"entropy_curve", curve(r.heating)},
          {"arms", candidates(r)},
          {"plateau", r.plateau}};
}

/// Lists the starts of a search.
json starts(const SearchReport& r) {
  json out = json::array();
  for (const SearchReport::Start& s : r.starts)
    out.push_back({{"kind", name_of(s.kind)},
                   {"seed", s.seed},
                   {"sweeps", s.sweeps},
                   {"elbo", s.elbo},
                   {"same_as_before", s.same},
                   {"leader", s.leader},
                   {"converged", s.converged}});
  return out;
}

/// Formats the counts of component moves: merges, removals, splits and orders.
json moves(const MoveReport& r) {
  const auto kind = [](const MoveReport::Kind& k) { return json{{"tried", k.tried}, {"accepted", k.accepted}}; };
  return {{"of", r.plates},           {"merges", kind(r.merges)}, {"removals", kind(r.removals)},
          {"splits", kind(r.splits)}, {"orders", kind(r.orders)}, {"sweeps", r.sweeps},
          {"elbo_before", r.before}};
}

/// Returns true if nothing but a plain run was made, since there is one optimum.
bool is_plain(const SearchReport& r) { return !r.one_optimum.empty() && r.starts.size() == 1; }

/// Formats the starts and moves of a search.
json search(const SearchReport& r) {
  json out{{"starts", starts(r)}, {"agree", r.agree}, {"sweeps", r.sweeps}};
  if (r.sample > 0) out["sample"] = {{"items", r.sample}, {"sweeps", r.sample_sweeps}};
  if (!r.moves.plates.empty()) out["moves"] = moves(r.moves);
  return out;
}

/// Returns one line with the moves that were tried and what they gained; empty if there were none.
std::string text_of(const MoveReport& r, const Outcome& outcome) {
  std::string out;
  const auto add = [&](const char* name, const MoveReport::Kind& k) {
    if (k.tried > 0) out += fmt::format("{}{} {} of {}", out.empty() ? "" : ", ", name, k.accepted, k.tried);
  };
  add("merged", r.merges);
  add("removed", r.removals);
  add("split", r.splits);
  add("ordered", r.orders);
  if (out.empty()) return "";
  return fmt::format("moves of {}: {}; gained {:.6f}; {} sweeps\n", fmt::join(r.plates, ", "), out,
                     outcome.elbo - r.before, r.sweeps);
}

/// Returns a line with the number of starts and candidates and where the best came from, followed by that of the moves.
std::string text_of(const SearchReport& r, const Outcome& outcome) {
  if (is_plain(r)) return fmt::format("one optimum: {}\n", r.one_optimum);
  const auto same = std::ranges::count_if(r.starts, &SearchReport::Start::same);
  const auto annealed = r.candidates.size();
  const SearchReport::Start* best = nullptr;
  for (const SearchReport::Start& s : r.starts) {
    if (s.converged && (!best || s.elbo > best->elbo)) best = &s;
  }
  const bool accepted = std::ranges::any_of(r.candidates, &AutoReport::Candidate::accepted),
             melted = r.fresh && accepted;
  if (!best && !melted) return "";
  const double annealed_to = r.moves.plates.empty() ? outcome.elbo : r.moves.before;
  const bool gained = melted || (accepted && annealed_to > best->elbo + 1e-6 * std::abs(best->elbo));
  if (r.agree)
    return fmt::format("searched {} starts, which agree: ELBO {:.6f}; {} sweeps\n", r.starts.size(), outcome.elbo,
                       r.sweeps);
  return fmt::format("searched {} starts ({} alike) and {} annealed: best from {}{}, ELBO {:.6f}; {} sweeps\n",
                     r.starts.size(), same, annealed, name_of(melted ? StartKind::flat : best->kind),
                     gained ? ", then annealed" : "", annealed_to, r.sweeps - r.moves.sweeps) +
         text_of(r.moves, outcome);
}

/// Printed if there was no entropy to anneal.
constexpr const char* kNothingMelted =
    "nothing melted: the model has no discrete local variables whose entropy could rise; not annealed\n";

/// Returns lines with the melting temperature, the candidates, the gain over plain ascent and its cost.
std::string text_of(const AutoReport& r, const Outcome& outcome) {
  std::string out = fmt::format("plain ascent: ELBO {:.6f} after {} sweeps\n", r.plain_elbo, r.plain_sweeps);
  if (r.melting == 0) return out + kNothingMelted;
  out += fmt::format("melting temperature {:.2f} (entropy of the discrete local variables risen by 70 % of its way)\n",
                     r.melting);
  if (r.kind == Annealing::Kind::entropy)
    out += "temperatures of all entropies: annealing the data would leave the proportions of items as they are\n";
  if (r.plateau) out += "the entropy rose in two steps: one more candidate, from the first\n";
  for (const AutoReport::Candidate& a : r.candidates)
    out += fmt::format("candidate from T = {:.2f}: ELBO {:.6f}{}\n", a.from, a.elbo, a.accepted ? ", kept" : "");
  return out + fmt::format("gain over plain ascent {:.6f}, {} sweeps in all\n", outcome.elbo - r.plain_elbo,
                           outcome.iterations);
}

/// Returns the name of the coupling method of exact sampling.
std::string name_of(const Couplings& c) {
  if (c.clusters) return "random clusters";
  return c.attractive() ? "monotone" : "summary states";
}

/// Returns a line that says how exact samples were coupled.
std::string text_of(const Couplings& c) {
  if (c.clusters)
    return "coupled from the past by random clusters, bond by bond: single spins would take long to meet\n";
  if (c.attractive()) return "coupled from the past, monotone: no coupling is below 0\n";
  if (!c.of_pairs) return "coupled from the past by summary states: terms have more than two latent variables\n";
  return fmt::format("coupled from the past by summary states: the least coupling is {:.4g}\n", c.least);
}

/// Returns a line with the melting temperature that the probe found.
std::string text_of(const ProbeReport& r) {
  if (r.melting == 0) return kNothingMelted;
  return fmt::format(
      "melting temperature {:.2f} (the entropy of the discrete local variables rises fastest), found in {} steps; "
      "annealed from it over {}\n",
      r.melting, r.steps, r.over);
}

/// Returns the warning that a run met these saddle points, and whether it ended on the last one.
Diagnostic saddle_warning(const std::vector<Saddle>& met) {
  const Saddle& last = met.back();
  if (!last.left)
    return make_warning(
        fmt::format("the run ended on a saddle point: a sweep multiplies small displacements by {:.3g}, and the ELBO "
                    "did not rise after those that were tried",
                    last.eigenvalue),
        {"another start (seed, init points), or less heat where there was annealing"});
  return make_warning(fmt::format(
      "the run came to {} (ELBO {:.6f}), from which no sweep leads away: it went on after a small displacement",
      met.size() == 1 ? "a saddle point" : fmt::format("{} saddle points", met.size()), met.front().elbo));
}

}  // namespace

json to_json(const Report& report) {
  return std::visit(Overloaded{[](std::monostate) { return json::object(); },
                               [](const SearchReport& r) {
                                 json out = json::object();
                                 if (!r.one_optimum.empty()) out["one_optimum"] = r.one_optimum;
                                 if (!is_plain(r)) out.update({{"search", search(r)}, {"annealing", annealing(r)}});
                                 return out;
                               },
                               [](const AutoReport& r) {
                                 return json{{"annealing", annealing(r)}};
                               },
                               [](const ProbeReport& r) {
                                 return json{{"annealing",
                                              {{"melting_temperature", r.melting},
                                               {"entropy_curve", curve(r.heating)},
                                               {"over", r.over},
                                               {"probe_steps", r.steps}}}};
                               },
                               [](const GibbsReport& r) {
                                 json out{{"draws", r.log_joint.size()}};
                                 if (r.coupling) out["coupling"] = name_of(*r.coupling);
                                 return json{{"sampling", out}};
                               },
                               [](const TemperingReport& r) {
                                 json out{{"normaliser", r.normaliser},  {"temperatures", r.temperatures},
                                          {"log_normaliser", r.log_c},   {"standard_error", r.error},
                                          {"posterior", r.posterior},    {"sweeps", r.sweeps},
                                          {"temperature", r.temperature}};
                                 if (const auto e = temperature_error(r)) out["temperature_error"] = *e;
                                 return json{{"tempering", out}};
                               }},
                    report);
}

std::string describe(const Report& report, const Outcome& outcome) {
  if (const auto* r = std::get_if<SearchReport>(&report)) return text_of(*r, outcome);
  if (const auto* r = std::get_if<AutoReport>(&report)) return text_of(*r, outcome);
  if (const auto* r = std::get_if<ProbeReport>(&report)) return text_of(*r);
  if (const auto* r = std::get_if<GibbsReport>(&report); r && r->coupling) return text_of(*r->coupling);
  return "";
}

std::vector<Diagnostic> warnings(const Report& report, const Outcome& outcome) {
  std::vector<Diagnostic> out;
  if (!outcome.saddles.empty()) out.push_back(saddle_warning(outcome.saddles));
  // With a temperature for each item, items that the model does not explain keep high ones: no warning is due.
  const auto* r = std::get_if<TemperingReport>(&report);
  if (!r || r->local) return out;
  if (const auto e = temperature_error(*r); e && *e > kUncertain)
    out.push_back(make_warning(fmt::format("the temperature is uncertain by {:.2g}: log C(T) is an estimate", *e)));
  const double against = evidence_against_one(*r);
  if (r->temperature <= 1.05 || against <= kAgainstOne) return out;
  Diagnostic high = make_warning(fmt::format(
      "the temperature ended at {:.2f} and not near 1, where the data are less probable by {:.1f} nats: they "
      "do not look as the model at this optimum makes them, or the normaliser ({}) does not suit it",
      r->temperature, against, r->normaliser));
  if (r->finished) high.note("a phase at temperature 1 followed all the same");
  out.push_back(std::move(high));
  return out;
}

}  // namespace lehr
