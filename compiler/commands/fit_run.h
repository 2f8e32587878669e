// One run of a fit, from one start: the sweeps, their trace on disk, held-out scores on the way.
#pragma once
#include <chrono>
#include <vector>

#include "compiler/commands/fit_options.h"
#include "compiler/fitting/fit_summary.h"
#include "compiler/fitting/fitting.h"
#include "compiler/fitting/held_out.h"

namespace lehr::commands {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point t);

/// What the runs of a fit are recorded with.
struct Recording {
  const FitArguments& options;
  HeldOut* test = nullptr;  // of --test
  Clock::time_point begin;
};

/// As warnings, to stderr.
void show(const FitArguments& options, const std::vector<Caution>& cautions);

/// Of coordinate ascent that ended at --max-iter: what its best run had left to gain is noted there. The warning, and
/// nothing of runs that ended otherwise or were to do no sweep.
std::optional<Caution> stopped_early(const FitArguments& options, TracedRun& best);

/// Its trace replaces that of an earlier run.
Result<TracedRun> run_once(Fitting& fitting, const Recording& recording, std::uint64_t restart);

/// The trace on disk is that of the last run: the best one's takes its place.
Result<bool> rewrite_trace(const FitArguments& options, const TracedRun& run);

Error numerical_error(const FitArguments& options, std::string text);

/// SIGINT and SIGTERM end the run after its sweep, and everything is written; a second signal ends the program at once.
void catch_interrupts();
bool interrupted();

}  // namespace lehr::commands
