// Curves by sweep, and the comparison of candidate runs. The ELBO axis shows the upper part of the values at
// temperature 1, as first sweeps and hot ones are far below. Long traces are drawn with every n-th sweep.
#include "compiler/report/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/posterior/moments.h"
#include "compiler/report/json_fields.h"
#include "compiler/report/page.h"
#include "compiler/report/plot.h"
#include "compiler/report/plots.h"
#include "runtime/files/readers.h"
#include "runtime/output/fit_files.h"

namespace lehr::report {
namespace {

using nlohmann::json;

constexpr std::size_t kMostSweeps = 3000;  // of longer traces every n-th sweep is drawn

/// Returns a range for the ELBO that spans its upper nine tenths at temperature 1, with a quarter of their range below.
Scale upper_range(const Trace& t) {
  std::vector<double> cold;
  for (std::size_t k = 0; k < t.elbo.size(); ++k)
    if (t.temperature[k] == 1 && std::isfinite(t.elbo[k])) cold.push_back(t.elbo[k]);
  if (cold.size() < 8) return padded_range(t.elbo);
  std::ranges::sort(cold);
  const double tenth = cold[cold.size() / 10], high = cold.back();
  const std::array ends{std::max(cold.front(), tenth - 0.25 * (high - tenth)), high};
  return padded_range(ends);
}

/// The title and caption of a curve.
struct Curve {
  std::string label, caption;
  bool hot = false;  // true: sweeps at other temperatures than 1 have a second colour
};

/// Returns the plot of `values` by sweep. The curve is cut into runs of hot and of other sweeps, which have different
/// colours; neighbouring runs share a point so that no gap is seen.
Markup drawn(const Trace& t, const std::vector<double>& values, const Scale& y, const Curve& c) {
  Plot plot(padded_range(t.iteration, 0.01), y);
  const std::size_t every = values.size() / kMostSweeps + 1;
  Points run;
  std::vector<double> raw;
  bool hot = false;
  const auto end_run = [&] {
    if (run.size() == 1) plot.dots(run, hot ? "k1" : "k0");
    else if (!run.empty()) plot.line(run, hot ? "k1" : "k0", {{"data-value", exact_text(raw)}});
  };
  for (std::size_t k = 0; k < values.size(); k += every) {
    if (!std::isfinite(values[k])) continue;
    const bool now = c.hot && t.temperature[k] != 1;
    if (now != hot) {
      end_run();
      const Points last = run.empty() ? Points() : Points{run.back()};
      run = last;
      raw = raw.empty() ? raw : std::vector<double>{raw.back()};
      hot = now;
    }
    run.emplace_back(t.iteration[k], values[k]);
    raw.push_back(values[k]);
  }
  end_run();
  return figure(plot.markup({c.label + " by sweep", "sweep", c.label}), c.caption);
}

}  // namespace

Trace read_trace(const SavedFit& fit) {
  Trace out;
  if (fit.trace.empty()) return out;
  const Result<Dataset> columns = parse_csv(fit.trace, kTraceFile, "", {});
  if (!columns || !columns->contains("iteration") || !columns->contains("elbo") || !columns->contains("temperature"))
    return out;
  out.iteration = columns->at("iteration").values;
  out.elbo = columns->at("elbo").values;
  out.temperature = columns->at("temperature").values;
  if (columns->contains("held_out")) out.held_out = columns->at("held_out").values;
  return out;
}

Markup curves(const SavedFit& fit, const Trace& t) {
  if (t.elbo.size() < 2) return {};
  const bool drawn_fit = is_sampled(fit);
  const bool warm = std::ranges::any_of(t.temperature, [](double x) { return x != 1; });
  const Scale y = upper_range(t);
  const auto below = std::ranges::count_if(t.elbo, [&](double x) { return x < y.low; });
  Curve elbo{drawn_fit ? "log joint density" : "ELBO", "", true};
  if (fit.searched) elbo.caption = "All candidates of the search, one after another. ";
  if (warm) elbo.caption += "Sweeps at other temperatures than 1 have the second colour. ";
  if (below > 0) elbo.caption += fmt::format("{} of {} sweeps lie below the picture. ", below, t.elbo.size());
  if (t.elbo.size() > kMostSweeps) elbo.caption += fmt::format("Every {}th sweep.", t.elbo.size() / kMostSweeps + 1);
  Markup out = drawn(t, t.elbo, y, elbo);
  if (warm) out += drawn(t, t.temperature, padded_range(t.temperature), {"temperature", "", true});
  if (std::ranges::any_of(t.held_out, [](double x) { return std::isfinite(x); }))
    out += drawn(t, t.held_out, padded_range(t.held_out), {"held-out score", "Nats an observation.", false});
  return beside(out);
}

namespace {

/// Reduces `candidates` to at most twelve candidates, in their order: those that were continued or chosen, then the
/// best of the others. Returns a sentence about those that were removed.
std::string keep_best(std::vector<Interval>& candidates) {
  constexpr std::size_t kMaxCandidates = 12;
  if (candidates.size() <= kMaxCandidates) return "";
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < candidates.size(); ++k)
    order.push_back(k);
  const auto rank = [&](std::size_t k) {
    const double elbo = std::isfinite(candidates[k].mean) ? candidates[k].mean : -std::numeric_limits<double>::max();
    return std::pair(candidates[k].style != colour(0), -elbo);
  };
  std::ranges::stable_sort(order, {}, rank);
  order.resize(kMaxCandidates);
  std::ranges::sort(order);
  std::vector<Interval> selected;
  for (const std::size_t k : order)
    selected.push_back(candidates[k]);
  const std::size_t others = candidates.size() - selected.size();
  candidates = std::move(selected);
  return fmt::format(" {} others are in {}.", others, kFitFile);
}

}  // namespace

Markup candidate_runs(const SavedFit& fit, const json& summary) {
  std::vector<Interval> candidates;
  const auto add = [&](const std::string& name, double elbo, bool good) {
    candidates.push_back({name, elbo, kNone, kNone, kNone, colour(good ? 0 : 7), false,
                          std::isfinite(elbo) ? fmt::format("{:.3f}", elbo) : "failed"});
  };
  const json search = field(summary, "search");
  const json starts = list_at(search, "starts");
  for (const json& s : starts) {
    std::string name = fmt::format("start {}, {} sweeps", text_at(s, "kind"), rounded_text(number_at(s, "sweeps")));
    if (is_true(s, "same_as_before")) name += ", as one before";
    else if (is_true(s, "converged")) name += ", converged";
    add(name, number_at(s, "elbo"), is_true(s, "leader"));
  }
  const json annealed = list_at(field(summary, "annealing"), "arms");
  for (const json& a : annealed) {
    const bool is_selected = is_true(a, "kept");
    add(fmt::format("annealed from T = {:.3g}{}", number_at(a, "from"), is_selected ? ", kept" : ""),
        number_at(a, "elbo"), is_selected);
  }
  if (candidates.empty() && fit.restarts.size() > 1) {
    for (const SavedRestart& r : fit.restarts)
      add(fmt::format("restart {}{}", r.restart, r.restart == fit.restart ? ", kept" : ""), r.elbo,
          r.restart == fit.restart);
  }
  if (candidates.size() < 2) return {};
  const std::string left_out = keep_best(candidates);
  Markup move_counts;
  if (const json moves = field(search, "moves"); moves.is_object()) {
    for (const char* kind : {"merges", "removals", "splits", "orders"}) {
      const json m = field(moves, kind);
      if (const double tried = number_at(m, "tried"); tried > 0)
        move_counts += text_element("span", fmt::format("{}: {} of {} kept", kind,
                                                        rounded_text(number_at(m, "accepted")), rounded_text(tried)));
    }
    move_counts = element("p", {{"class", "key"}}, move_counts);
  }
  return text_element("h3", "Arms") +
         intervals(candidates, "ELBO that each candidate reached; the first colour went on or was kept." + left_out) +
         move_counts;
}

}  // namespace lehr::report
