#include "compiler/commands/fit_run.h"

#include <fmt/format.h>

#include <cmath>
#include <csignal>

#include "runtime/files/trace.h"
#include "runtime/terminal/printable.h"
#include "runtime/terminal/progress.h"

namespace lehr::commands {
namespace {

volatile std::sig_atomic_t signalled = 0;

void on_interrupt(int signal) {
  signalled = 1;
  std::signal(signal, SIG_DFL);
}

/// The objective of the temperature where there is one, and the held-out score.
std::vector<std::string> extra_columns(const FitOptions& o) {
  std::vector<std::string> out;
  if (!o.anneal.empty() || !o.temper.empty()) out.push_back("objective");
  if (!o.test.empty()) out.push_back("held_out");
  return out;
}

Result<bool> append(Trace& trace, const FitOptions& o, const TraceRow& row) {
  std::vector<double> extra;
  if (!o.anneal.empty() || !o.temper.empty()) extra.push_back(row.objective);
  if (!o.test.empty()) extra.push_back(row.held_out);
  return trace.append(row.iteration, row.seconds, row.elbo, row.temperature, extra);
}

/// What there is to say of an automatic annealing: the melting temperature, its arms, the gain and its cost.
std::string describe(const AutoReport& r, const Outcome& outcome) {
  std::string out = fmt::format("plain ascent: ELBO {:.6f} after {} sweeps\n", r.plain_elbo, r.plain_sweeps);
  if (r.melting == 0)
    return out +
           "nothing melted: the model has no discrete local variables whose entropy could rise; not "
           "annealed\n";
  out += fmt::format("melting temperature {:.2f} (entropy of the discrete local variables risen by 70 % of its way)\n",
                     r.melting);
  if (r.plateau) out += "the entropy rose in two steps: one arm more, from the first\n";
  for (const AutoReport::Arm& a : r.arms)
    out += fmt::format("arm from T = {:.2f}: ELBO {:.6f}{}\n", a.from, a.elbo, a.kept ? ", kept" : "");
  return out + fmt::format("gain over plain ascent {:.6f}, {} sweeps in all\n", outcome.elbo - r.plain_elbo,
                           outcome.iterations);
}

std::string describe(const ProbeReport& r) {
  if (r.melting == 0)
    return "nothing melted: the model has no discrete local variables whose entropy could rise; not "
           "annealed\n";
  return fmt::format(
      "melting temperature {:.2f} (the entropy of the discrete local variables rises fastest), found in {} "
      "steps; "
      "annealed from it over {}\n",
      r.melting, r.steps, r.over);
}

/// Nats an observation.
Result<double> held_out(HeldOut& test, const Instance& instance) {
  const Result<Score> score = test.score(instance.posterior(false));
  if (!score) return score.error();
  return score->total / static_cast<double>(score->observations);
}

/// A run without a sweep: others may do better.
TracedRun failed_start(const FitOptions& o, std::uint64_t restart, const std::string& why) {
  TracedRun run;
  run.restart = restart;
  run.started = false;
  run.outcome.status = Status::numerical_failure;
  run.outcome.elbo = std::nan("");
  run.outcome.failure = "the start: " + why;
  if (o.restarts > 1) tell("restart {}/{}: numerical failure: {}\n", restart + 1, o.restarts, run.outcome.failure);
  return run;
}

}  // namespace

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

void catch_interrupts() {
  std::signal(SIGPIPE, SIG_IGN);  // a fit goes on without its audience
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

bool interrupted() { return signalled != 0; }

Error numerical_error(const FitOptions& o, std::string text) {
  return {lehr::ExitCode::numerical,
          o.model,
          std::move(text),
          {"every constant and datum must be in its parameter's domain: precisions, rates, shapes and "
           "concentrations above 0, "
           "probabilities in [0, 1], degrees of freedom above the dimension minus 1",
           "another start may do: --seed, --restarts or --init",
           "if every start fails: a narrower prior, or data in units of the size of 1"}};
}

void show(const FitOptions& o, const std::vector<Caution>& cautions) {
  for (const Caution& c : cautions) {
    tell("{}: warning: {}\n", o.model, c.text);
    for (const std::string& note : c.notes)
      tell("    note: {}\n", note);
  }
}

Result<TracedRun> run_once(Fitting& fitting, const Recording& x, std::uint64_t restart) {
  const FitOptions& o = x.options;
  Result<FitRun> started = fitting.start(restart);
  if (!started && started.error().code == lehr::ExitCode::numerical)
    return failed_start(o, restart, started.error().text);
  if (!started) return started.error();
  TracedRun run{std::move(*started), {}, {}};
  if (restart == 0) show(o, run.at_start);

  Result<Trace> trace = Trace::open(o.out, extra_columns(o));
  if (!trace) return trace.error();
  const bool several = o.restarts > 1;
  ProgressOptions progress_options = progress_for(stderr, o.quiet);
  if (several && !progress_options.bar) progress_options.quiet = true;
  Progress progress(stderr, progress_options, fitting.most_iterations());

  Result<bool> well = true;
  fitting.run(run, [&](const SweepReport& r) {
    run.trace.push_back({r.iteration, seconds_since(x.begin), r.elbo, r.temperature, r.objective});
    if (x.test && o.test_every > 0 && r.iteration % o.test_every == 0) {
      const Result<double> score = held_out(*x.test, fitting.instance());
      if (score) run.trace.back().held_out = *score;
      else if (score.error().code != lehr::ExitCode::numerical) well = score.error();
    }
    if (well) well = append(*trace, o, run.trace.back());
    progress.update({r.iteration, run.trace.back().seconds, r.elbo, r.temperature});
    return !interrupted() && well;
  });
  if (!well) return well.error();
  progress.finish();
  if (x.test && run.outcome.status != Status::numerical_failure) {
    const Result<double> score = held_out(*x.test, fitting.instance());
    if (score) run.held_out = *score;
    else tell("{}: warning: no held-out score: {}\n", o.model, score.error().text);
  }
  if (run.probe && !o.quiet) tell(describe(*run.probe));
  if (run.automatic && !o.quiet) tell(describe(*run.automatic, run.outcome));
  if (several && !o.quiet) {
    tell("restart {}/{}: {} after {} iterations, ELBO {:.6f}\n", restart + 1, o.restarts, name_of(run.outcome.status),
         run.outcome.iterations, run.outcome.elbo);
  }
  return run;
}

Result<bool> rewrite_trace(const FitOptions& o, const TracedRun& run) {
  Result<Trace> trace = Trace::open(o.out, extra_columns(o));
  if (!trace) return trace.error();
  for (const TraceRow& row : run.trace) {
    if (Result<bool> r = append(*trace, o, row); !r) return r;
  }
  return true;
}

}  // namespace lehr::commands
