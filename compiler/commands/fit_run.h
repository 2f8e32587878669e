// One run of a fit, from one start: the sweeps, their trace on disk, held-out scores on the way.
#pragma once
#include <chrono>
#include <vector>

#include "compiler/commands/checkpoint.h"
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
  Checkpoints& checkpoints;
  Clock::time_point& begin;             // of a fit that goes on: as long ago as it was when it was interrupted
  Group* group = nullptr;               // of which each process stops where one does
  bool stopped = false;                 // by the user, after a checkpoint
  std::optional<Error> unwritten = {};  // why the last checkpoint could not be
};

/// As warnings, to stderr.
void show(const FitArguments& options, const std::vector<Caution>& cautions);

/// Of coordinate ascent that ended at --max-iter: what its best run had left to gain is noted there. The warning, and
/// nothing of runs that ended otherwise or were to do no sweep.
std::optional<Caution> stopped_early(const FitArguments& options, TracedRun& best);

/// "converged", or which limit there was: "stopped at --max-iter 100".
std::string how_it_ended(const FitArguments& options, const Outcome& outcome);

/// The run after these, which are finished. Its trace replaces that of an earlier run.
Result<TracedRun> run_once(Fitting& fitting, Recording& recording, const std::vector<TracedRun>& finished);

/// The trace on disk is that of the last run: the best one's takes its place.
Result<bool> rewrite_trace(const FitArguments& options, const TracedRun& run);

Error numerical_error(const FitArguments& options, std::string text);

/// SIGINT and SIGTERM end the run after its sweep, and everything is written; a second signal ends the program at once.
void catch_interrupts();

}  // namespace lehr::commands
