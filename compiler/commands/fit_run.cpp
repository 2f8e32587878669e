// The loop of one run, as callbacks from a method after each sweep.
//
// Record and replay: each callback passes the row of the trace (which has times and held-out scores, that a second run
// would not repeat) through the journal. While a resumed fit replays, the journal returns the recorded row, and the
// ELBO must have the recorded bits; otherwise ReplayMismatch ends the fit. Interrupts set a flag that the callback
// reads, so a run always stops between sweeps.
#include "compiler/commands/fit_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csignal>

#include "runtime/output/trace.h"
#include "runtime/terminal/printable.h"
#include "runtime/terminal/progress.h"

namespace lehr::commands {
namespace {

// Set to 1 by the first SIGINT or SIGTERM.
volatile std::sig_atomic_t signalled = 0;

/// The signal handler. It restores the default action, so that a second signal ends the program.
void on_interrupt(int signal) {
  signalled = 1;
  std::signal(signal, SIG_DFL);
}

/// Returns the names of optional columns of trace.csv: the tempered objective, and the held-out score.
std::vector<std::string> extra_columns(const FitArguments& o) {
  std::vector<std::string> out;
  if (o.has_objective()) out.push_back("objective");
  if (!o.test.empty()) out.push_back("held_out");
  return out;
}

/// Appends a row to the trace, with the optional columns.
Result<bool> append(Trace& trace, const FitArguments& o, const TraceRow& row) {
  std::vector<double> extra;
  if (o.has_objective()) extra.push_back(row.objective);
  if (!o.test.empty()) extra.push_back(row.held_out);
  return trace.append(row.iteration, row.seconds, row.elbo, row.temperature, extra);
}

/// Returns the log predictive density of the test data in nats per observation.
Result<double> held_out(HeldOut& test, const Instance& instance) {
  const Result<Score> score = test.score(instance.posterior(false));
  if (!score) return score.error();
  return score->total / static_cast<double>(score->observations);
}

/// Returns a run without sweeps for a start that failed numerically. The fit continues, since other starts may succeed.
TracedRun failed_start(const FitArguments& o, std::uint64_t restart, const std::string& why) {
  TracedRun run;
  run.restart = restart;
  run.started = false;
  run.outcome.status = Status::numerical_failure;
  run.outcome.elbo = std::nan("");
  run.outcome.failure = "the start: " + why;
  if (o.fit.restarts > 1)
    print_to_stderr("restart {}/{}: numerical failure: {}\n", restart + 1, o.fit.restarts, run.outcome.failure);
  return run;
}

/// Returns true if both numbers have the same bits, so that NaNs can be equal.
template <class T>
bool same_bits(T a, T b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Records the sweeps of one run: trace, progress, checkpoints, interrupts.
class Sweeps {
 public:
  Sweeps(const Fitting& fitting, Recording& x, const std::vector<TracedRun>& finished, TracedRun& run, Trace trace,
         Progress& progress)
      : fitting_(fitting), x_(x), finished_(finished), run_(run), trace_(std::move(trace)), progress_(progress) {}

  /// Records one sweep. Returns false if the run must stop.
  bool add(const SweepReport& r) {
    const bool again = x_.checkpoints.journal().replays();
    if (!std::isnan(r.elbo)) note(r, again);
    const bool due = x_.checkpoints.is_due();
    if (again) return true;
    // Sweeps that a method makes after the callback has stopped it are not part of the run that will be resumed.
    if (x_.stopped) return false;
    const bool stop = signalled != 0 || !well_;
    x_.stopped = x_.group ? x_.group->any(stop) : stop;
    if ((x_.stopped || due) && !fitting_.instance().engine().spills()) write_checkpoint();
    return !x_.stopped;
  }
  /// Writes the rest of the trace. Returns an Error if something could not be written or scored.
  Result<bool> finish() {
    if (well_) well_ = trace_.write();
    return well_;
  }

 private:
  /// Adds the row of a sweep to the trace, recorded or replayed. Throws ReplayMismatch if a replayed sweep does not
  /// have the recorded bits. `again`: the row is replayed.
  void note(const SweepReport& r, bool again) {
    const TraceRow row = x_.checkpoints.journal().recorded([&] { return measured(r); });
    if (row.iteration != r.iteration || !same_bits(row.elbo, r.elbo) || !same_bits(row.objective, r.objective))
      throw ReplayMismatch();
    run_.trace.push_back(row);
    if (well_) well_ = append(trace_, x_.options, row);
    progress_.update({row.iteration, row.seconds, row.elbo, row.temperature});
    // Time that the interrupted fit has used counts as used by this one.
    if (again)
      x_.begin = Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(row.seconds));
  }

  /// Writes a checkpoint. A failure is remembered and does not end the fit.
  void write_checkpoint() {
    x_.checkpoint_error.reset();
    if (Result<bool> r = x_.checkpoints.write(fitting_.instance().engine(), finished_, run_); !r)
      x_.checkpoint_error = r.error();
  }

  /// Returns the row of a sweep, with a held-out score if one is due.
  TraceRow measured(const SweepReport& r) {
    TraceRow row{r.iteration, seconds_since(x_.begin), r.elbo, r.temperature, r.objective};
    if (!x_.test || x_.options.test_every == 0 || r.iteration % x_.options.test_every != 0) return row;
    const Result<double> score = held_out(*x_.test, fitting_.instance());
    if (score) row.held_out = *score;
    else if (score.error().code != ExitCode::numerical) well_ = score.error();
    return row;
  }

  const Fitting& fitting_;
  Recording& x_;
  const std::vector<TracedRun>& finished_;
  TracedRun& run_;
  Trace trace_;
  Progress& progress_;
  Result<bool> well_ = true;  // the first failure of the trace or of a score
};

}  // namespace

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

FitRequest request_of(const FitArguments& o, const Source& source) {
  return {source.name,  source.text,   o.command,       o.fit.method,     o.fit.anneal,
          o.fit.temper, o.fit.seed,    o.test,          o.data.bindings,  o.data.drop_missing,
          o.prior,      o.prior_power, o.fit.precision, o.fit.save_locals};
}

bool is_interrupted() { return signalled != 0; }

void catch_interrupts() {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe behind stdout does not end the fit
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

Error numerical_error(const FitArguments& o, std::string text) {
  return {ExitCode::numerical,
          o.model,
          std::move(text),
          {"every constant and datum must be in its parameter's domain: precisions, rates, shapes and "
           "concentrations above 0, "
           "probabilities in [0, 1], degrees of freedom above the dimension minus 1",
           "another start may do: --seed, --restarts or --init",
           "if every start fails: a narrower prior, or data in units of the size of 1"}};
}

std::optional<Diagnostic> stopped_early(const FitArguments& o, TracedRun& best) {
  if (!o.method().converges || best.outcome.status != Status::max_iter || best.outcome.iterations == 0)
    return std::nullopt;
  // Only sweeps at temperature 1 from the same start belong to the sequence that is extrapolated.
  const std::int64_t every = std::max<std::int64_t>(1, o.fit.elbo_every);
  std::vector<double> elbos;
  std::int64_t next = best.outcome.iterations;  // iteration that the next row must have: every `every` sweeps
  for (auto row = best.trace.rbegin(); row != best.trace.rend() && row->temperature == 1; ++row) {
    if (std::ssize(elbos) >= o.fit.max_iterations || (every > 1 && row->iteration != next)) break;
    elbos.push_back(row->elbo);
    next -= every;
  }
  std::ranges::reverse(elbos);
  if (!elbos.empty() && elbos.back() == best.outcome.elbo) best.left = left_to_gain(elbos, o.fit.tolerance);
  if (best.left) best.left->sweeps *= every;
  Diagnostic out =
      make_warning(fmt::format("stopped at {} {} before it converged", option("max-iter"), o.fit.max_iterations));
  if (!best.left) out.text += "; what is left to gain cannot be estimated from the last sweeps";
  else if (best.left->nats == 0) out.text += ": the ELBO has converged, parameters have not";
  else if (best.left->sweeps == 0)
    out.text +=
        fmt::format(": about {:.2g} nats of ELBO left to gain, less than {} asks for; parameters have not converged",
                    best.left->nats, option("tol"));
  else
    out.text += fmt::format(": about {:.2g} nats of ELBO left to gain, in about {} more sweep{}", best.left->nats,
                            best.left->sweeps, best.left->sweeps == 1 ? "" : "s");
  return out;
}

std::string how_it_ended(const FitArguments& o, const Outcome& outcome) {
  const bool limited = outcome.status == Status::max_iter;
  const MethodTraits& method = o.method();
  if (limited && method.minibatches && outcome.iterations > 0) return fmt::format("--epochs {:g} done", o.fit.epochs);
  if (!limited || (!method.converges && !method.minibatches)) return std::string(name_of(outcome.status));
  const bool alone = outcome.iterations <= o.fit.max_iterations && outcome.iterations + 1 >= o.fit.max_iterations;
  return fmt::format("stopped at --max-iter {}{}", o.fit.max_iterations, alone ? "" : ", which each of its runs has,");
}

Result<TracedRun> run_once(Fitting& fitting, Recording& x, const std::vector<TracedRun>& finished) {
  const FitArguments& o = x.options;
  const std::uint64_t restart = finished.size();
  Result<FitRun> started = fitting.start(restart);
  if (!started && started.error().code == ExitCode::numerical) return failed_start(o, restart, started.error().text);
  if (!started) return started.error();
  TracedRun run{std::move(*started), {}, {}, {}};
  if (restart == 0) print_diagnostics(run.initial_warnings, o.model);

  Result<Trace> trace = Trace::open(o.out, extra_columns(o));
  if (!trace) return trace.error();
  const bool several = o.fit.restarts > 1;
  ProgressOptions progress_options = progress_for(stderr, o.quiet);
  if (several && !progress_options.bar) progress_options.quiet = true;
  Progress progress(stderr, progress_options, fitting.iteration_limit());

  Sweeps sweeps(fitting, x, finished, run, std::move(*trace), progress);
  x.checkpoints.restore_draws(run);
  fitting.run(
      run, [&](const SweepReport& r) { return sweeps.add(r); }, &x.checkpoints.journal());
  if (const Result<bool> noted = sweeps.finish(); !noted) return noted.error();
  progress.finish();
  const bool before = x.checkpoints.journal().replays();
  if (before) x.checkpoints.restore_results(run);
  if (x.test && !before && run.outcome.status != Status::numerical_failure) {
    const Result<double> score = held_out(*x.test, fitting.instance());
    if (score) run.held_out = *score;
    else print_diagnostics({make_warning("no held-out score: " + score.error().text)}, o.model);
  }
  if (!o.quiet) print_to_stderr(describe(run.report, run.outcome));
  if (several && !o.quiet) {
    print_to_stderr("restart {}/{}: {} after {} iterations, ELBO {:.6f}\n", restart + 1, o.fit.restarts,
                    how_it_ended(o, run.outcome), run.outcome.iterations, run.outcome.elbo);
  }
  return run;
}

Result<bool> rewrite_trace(const FitArguments& o, const TracedRun& run) {
  Result<Trace> trace = Trace::open(o.out, extra_columns(o));
  if (!trace) return trace.error();
  for (const TraceRow& row : run.trace) {
    if (Result<bool> r = append(*trace, o, row); !r) return r;
  }
  return trace->write();
}

}  // namespace lehr::commands
