// What a fit did, sweep by sweep, and the arms of its search.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compiler/report/markup.h"
#include "runtime/files/saved_fit.h"

namespace lehr::report {

/// The columns of trace.csv; `held_out` is empty where nothing was held out, NaN where it was not measured.
struct Trace {
  std::vector<double> iteration, elbo, temperature, held_out;
};

/// Of the trace of this fit; nothing where it is of another, or not there.
Trace read_trace(const SavedFit& fit);

/// ELBO, temperature and held-out score by sweep; nothing without a trace.
Markup curves(const SavedFit& fit, const Trace& trace);

/// Of fit.json: the starts of a search and its annealed runs, or restarts, with what they came to.
Markup arms(const SavedFit& fit, const nlohmann::json& summary);

}  // namespace lehr::report
