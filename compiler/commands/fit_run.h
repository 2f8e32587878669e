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

/// The clock by which a fit measures the times that trace.csv and fit.json have; setting the system time does not move
/// it.
using Clock = std::chrono::steady_clock;
/// Returns the seconds of real time from `t` until now.
double seconds_since(Clock::time_point t);

/// What run_once() needs for every run of one fit to record it: options, held-out data, checkpoints, and the state of
/// interrupts.
struct Recording {
  const FitArguments& options;  // the options of the command line
  HeldOut* test = nullptr;      // scores the data of --test; null: none
  Checkpoints& checkpoints;     // writes checkpoints, and has the journal that runs record or replay
  Clock::time_point& begin;     // when the fit began; moved back on --resume by the time spent before the interrupt
  Group* group = nullptr;       // processes that share the items and stop together; null: one process
  bool stopped = false;         // true once the user interrupted the fit
  std::optional<Error> checkpoint_error = {};  // why the last checkpoint could not be written
};

/// Returns a warning for the user if coordinate ascent stopped at --max-iter before it converged, with an estimate of
/// the ELBO left to gain, which it also stores in `best.left`. The warning says so if no estimate is possible. Returns
/// nothing for runs that ended otherwise, methods that do not converge, and runs of no sweep.
std::optional<Diagnostic> stopped_early(const FitArguments& options, TracedRun& best);

/// Returns in words how a run ended, for the summary that is printed: its status as "converged", or the limit that
/// stopped it, as "stopped at --max-iter 100" or "--epochs 3 done".
std::string how_it_ended(const FitArguments& options, const Outcome& outcome);

/// Makes the next run of a fit, from the start to convergence, a limit or an interrupt, and returns it with its trace.
/// `finished` has the earlier runs, which checkpoints contain; their number is that of this restart. It writes
/// trace.csv over that of the run before, checkpoints when they are due, and progress to stderr. A start that fails
/// numerically gives a run without sweeps (`started` is false); other failures are Errors.
Result<TracedRun> run_once(Fitting& fitting, Recording& recording, const std::vector<TracedRun>& finished);

/// Writes the trace of a run that has ended to trace.csv. Needed for the best run of a fit if a later run has replaced
/// that file, and for groups of --each, whose runs write no trace. The value is always true.
Result<bool> rewrite_trace(const FitArguments& options, const TracedRun& run);

/// Returns an Error with ExitCode::numerical and this text for a fit whose numbers became infinite or undefined. It
/// names the model file, and its notes say what may help: domains of data, another start, a narrower prior.
Error numerical_error(const FitArguments& options, std::string text);

/// Returns what the user requested (model, options, names of the data files), as fit.json repeats it.
FitRequest request_of(const FitArguments& options, const Source& source);

/// Returns true if SIGINT or SIGTERM has arrived since catch_interrupts(), so that the fit should stop after its sweep.
bool is_interrupted();

/// Installs signal handlers: the first SIGINT or SIGTERM makes the run stop after its sweep with all results written; a
/// second one ends the program at once. SIGPIPE is ignored.
void catch_interrupts();

}  // namespace lehr::commands
