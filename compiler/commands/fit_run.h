// One run of a fit, from one start to convergence or a limit. This covers the sweeps with their trace, held-out scores
// and checkpoints on the way, and the handling of interrupts. While a resumed fit replays its journal, the same
// functions read recorded values instead of measuring.
#pragma once
#include <chrono>
#include <vector>

#include "compiler/commands/checkpoint.h"
#include "compiler/commands/fit_options.h"
#include "compiler/fit/fit_summary.h"
#include "compiler/fit/fitting.h"
#include "compiler/score/held_out.h"

namespace lehr::commands {

/// The clock of all durations of a fit.
using Clock = std::chrono::steady_clock;
/// Returns the seconds from `t` until now.
double seconds_since(Clock::time_point t);

/// What all runs of one fit share while they are recorded.
struct Recording {
  const FitArguments& options;  // the options of the command line
  HeldOut* test = nullptr;      // scores the data of --test; null: none
  Checkpoints& checkpoints;     // writes checkpoints; has the journal that is recorded or replayed
  Clock::time_point& begin;     // when the fit began; moved back on --resume by the time spent before the interrupt
  Group* group = nullptr;       // processes that share the items and stop together; null: one process
  bool stopped = false;         // true once the user interrupted the fit
  std::optional<Error> checkpoint_error = {};  // why the last checkpoint could not be written
};

/// Returns the warning for coordinate ascent that stopped at --max-iter before it converged, with an estimate of the
/// ELBO left to gain. Stores this estimate in `best.left`. Returns nothing for runs that ended otherwise, other
/// methods, and runs of no sweep.
std::optional<Diagnostic> stopped_early(const FitArguments& options, TracedRun& best);

/// Returns in words how a run ended: its status as "converged", or the limit that stopped it, as "stopped at --max-iter
/// 100".
std::string how_it_ended(const FitArguments& options, const Outcome& outcome);

/// Performs the next run of the fit, from the start number `finished.size()`, and writes its trace over that of the run
/// before. `finished` has the earlier runs, which a checkpoint needs. A start that fails numerically gives a run
/// without sweeps (`started` is false); other failures are Errors.
Result<TracedRun> run_once(Fitting& fitting, Recording& recording, const std::vector<TracedRun>& finished);

/// Writes the whole trace of `run`, the best run, to trace.csv. It is called if a later run has replaced that file, and
/// for groups of --each, whose runs write none. The value is always true.
Result<bool> rewrite_trace(const FitArguments& options, const TracedRun& run);

/// Returns an Error with ExitCode::numerical and this text, located at the model file, with notes on what may help.
Error numerical_error(const FitArguments& options, std::string text);

/// Returns the options as fit.json records them.
FitRequest request_of(const FitArguments& options, const Source& source);

/// Returns true after the first signal that catch_interrupts() caught.
bool is_interrupted();

/// Installs signal handlers: the first SIGINT or SIGTERM makes the run stop after its sweep with all results written; a
/// second one ends the program at once. SIGPIPE is ignored.
void catch_interrupts();

}  // namespace lehr::commands
