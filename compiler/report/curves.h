// Plots of the progress of a fit: ELBO, temperature and held-out score by sweep, and the results of the candidate runs
// of a search.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compiler/report/markup.h"
#include "runtime/output/saved_fit.h"

namespace lehr::report {

/// The columns of trace.csv, the progress of a fit, with one element for each sweep that was recorded.
struct Trace {
  /// The columns: number of the sweep, ELBO in nats, temperature, held-out score. `held_out` is in nats per
  /// observation, NaN in rows without a score, and empty if the fit had no --test.
  std::vector<double> iteration, elbo, temperature, held_out;
};

/// Parses the trace.csv of a saved fit, for the curves of a report. The result is empty if there is no such file, if it
/// belongs to another fit, or if it lacks a column other than `held_out`.
Trace read_trace(const SavedFit& fit);

/// Returns plots by sweep: of the ELBO (of a sampler the log joint density), of the temperature unless it is always 1,
/// and of the held-out score if there is one. Returns empty markup for traces of less than two rows.
Markup curves(const SavedFit& fit, const Trace& trace);

/// Returns a plot of the final ELBO of the candidate runs: the starts of a search and its annealed runs, or the
/// restarts. Of more than twelve it shows those that were continued or chosen, then the best of the others. Counts of
/// the search's moves follow. `summary` is fit.json. Returns empty markup if there are less than two candidate runs.
Markup candidate_runs(const SavedFit& fit, const nlohmann::json& summary);

}  // namespace lehr::report
