// `lehr fit`: from a model and data to posterior.npz, trace.csv and fit.json.
//
// The order is: read inputs, compile, resume from a checkpoint if asked for, run every start, write files, print the
// summary. Whatever ends a run (convergence, a limit, a number that is not finite, an interrupt), the results so far
// are written. The trace is on disk after every sweep. With a group of processes, all make the same decisions from the
// same bits, and only the first writes files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <variant>

#include "compiler/commands/chain_results.h"
#include "compiler/commands/commands.h"
#include "compiler/commands/fit_each.h"
#include "compiler/commands/fit_inputs.h"
#include "compiler/commands/fit_options.h"
#include "compiler/commands/fit_run.h"
#include "compiler/console/fitted_model.h"
#include "compiler/console/profile.h"
#include "compiler/fit/peak_memory.h"
#include "compiler/fit/write_fit.h"
#include "compiler/options/fit_settings.h"
#include "compiler/pipeline.h"
#include "runtime/bytes.h"
#include "runtime/cluster/cluster.h"
#include "runtime/files/npz.h"
#include "runtime/host.h"
#include "runtime/output/fit_files.h"
#include "runtime/output/saved_fit.h"
#include "runtime/parallel/pool.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Removes factors of local variables from the start of an update: new data have different items.
void drop_local_factors(std::vector<NamedArray>& start, const Analysed& a) {
  std::erase_if(start, [&](const NamedArray& array) {
    const std::string name = array.name.substr(0, array.name.find('.'));
    for (std::size_t k = 0; k < a.model.variables.size(); ++k) {
      const conditionals::BlockId b = a.schedule.conditionals.block_of[k];
      if (a.model.variables[k].name == name && b.valid()) return a.schedule.stage_of[b.index()].has_value();
    }
    return false;
  });
}

/// Returns what failed and in which sweep, and the first parameter that is not finite.
std::string describe_failure(const TracedRun& run) {
  const std::int64_t sweep = run.trace.empty() ? 1 : run.trace.back().iteration + 1;
  std::string text = fmt::format("numerical failure in sweep {}: {}", sweep, run.outcome.failure);
  for (const NamedArray& a : run.posterior) {
    const auto finite = [](double x) { return std::isfinite(x); };
    if (!std::all_of(a.values.begin(), a.values.end(), finite)) return text + fmt::format("; {} is not finite", a.name);
  }
  return text;
}

/// Returns the error for a run that ended in a numerical failure. The advice for exact sampling differs: its chains did
/// not meet.
Error failure_of(const FitArguments& o, const TracedRun& run) {
  const auto* chain = std::get_if<GibbsReport>(&run.report);
  if (!chain || !chain->coupling) {
    Error e = numerical_error(o, describe_failure(run));
    if (!run.cures.empty()) e.notes = run.cures;
    return e;
  }
  return {ExitCode::numerical,
          o.model,
          run.outcome.failure,
          {chain->coupling->attractive()
               ? "where elements order, states meet after exponentially many sweeps: weaker couplings may do"
               : "summary states converge where couplings are weak: beyond that they stay undecided for ever",
           option("method") + " gibbs: its draws are exact in the limit of many sweeps"}};
}

/// Returns the object that scores the data of --test, or null without this option.
Result<std::unique_ptr<HeldOut>> make_test(const FitArguments& o, const Source& source, const Inputs& inputs) {
  if (o.test.empty()) return std::unique_ptr<HeldOut>();
  const Result<Dataset> dataset = read_data({o.test, o.data.drop_missing}, inputs.resolved);
  if (!dataset) return dataset.error();
  HeldOutOptions options;
  options.seed = o.fit.seed;
  options.instance = compiled_instances(pass_options(o.passes).without_reports());
  Result<std::unique_ptr<HeldOut>> out =
      HeldOut::make(source, inputs.resolved, inputs.complete, *dataset,
                    fitted_settings(inputs.bound.analysed, inputs.bound.data), options);
  if (!out && out.error().where.empty()) {
    Error e = out.error();
    e.where = option("test");
    return e;
  }
  if (out && (*out)->is_empty()) return Error{ExitCode::data, option("test"), "the data have no items", {}};
  return out;
}

/// Performs all restarts, keeps the posterior of the best run only, and stops early after an interrupt. Failures deep
/// in the engine arrive as exceptions and become Errors here.
Result<Runs> run_all(Fitting& fitting, Recording& recording) try {
  catch_interrupts();
  Runs runs;
  for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(recording.options.fit.restarts); ++r) {
    Result<TracedRun> run = run_once(fitting, recording, runs.all);
    if (!run) return run.error();
    runs.all.push_back(std::move(*run));
    if (r > 0) {
      const TracedRun &now = runs.all[r], &best = runs.all[runs.best];
      // Posteriors are large, so that of the loser is freed at once.
      const bool won = now.started && (!best.started || better(now, best));
      runs.all[won ? runs.best : r].posterior.clear();
      runs.all[won ? runs.best : r].items.clear();
      runs.all[won ? runs.best : r].sds.clear();
      if (won) runs.best = r;
    }
    if (recording.stopped) break;
  }
  if (const TracedRun& best = runs.all[runs.best]; !best.started)
    return numerical_error(recording.options, best.outcome.failure);
  return runs;
} catch (const DataChanged& e) {
  return e.error;
} catch (const SpillFailure& e) {
  return e.error;
} catch (const ReplayMismatch&) {
  return Error{ExitCode::internal,
               recording.options.resume,
               "the fit cannot go on: from the same numbers it took another way than before",
               {"without " + option("resume") + " it begins again"}};
}

/// Reports on stderr how many items are read from files, and the most memory that the fit needs.
void report_streaming(const FitArguments& o, const Fitting& fitting) {
  const Engine& engine = fitting.instance().engine();
  const std::size_t threads = o.fit.threads > 0 ? static_cast<std::size_t>(o.fit.threads) : processors();
  print_to_stderr("{}: {} items are read from their files, {} at a time; memory: at most {}\n", o.model, engine.items(),
                  o.fit.batch_size, format_bytes(peak_memory(engine, o.fit.batch_size, threads)));
}

/// Returns true if the user ended the fit before it was done.
bool was_interrupted(const Recording& recording, const Runs& runs) {
  return recording.stopped && (runs.all.back().outcome.status == Status::interrupted ||
                               runs.all.size() < static_cast<std::size_t>(recording.options.fit.restarts));
}

/// Returns notes on the result: how its ELBO differs from the exact one, whose standard deviations it has, and which
/// joint factor would be possible.
std::vector<Diagnostic> result_notes(const Fitting& fitting, const TracedRun& best) {
  std::vector<Diagnostic> out = density::elbo_notes(fitting.model(), fitting.schedule().conditionals.density);
  // A warning about them says more.
  const Uncorrected uncorrected = best.narrow.empty() ? best.uncorrected : Uncorrected::no;
  if (uncorrected == Uncorrected::large) out.push_back(make_note("standard deviations are those of the factors"));
  else if (uncorrected == Uncorrected::costly)
    out.push_back(make_note(
        "standard deviations are those of the factors, linear response corrects them: --sds linear-response"));
  for (const std::string& members : fitting.joinable())
    out.push_back(make_note(fmt::format("guide joint({}) makes one factor, for these items alone", members)));
  return out;
}

/// Prints the warnings and the final message, and deletes the checkpoint of a fit that is done. `resumable`: a fit that
/// was interrupted can be resumed.
ExitCode print_summary(const Recording& recording, const model::Model& m, const std::vector<Diagnostic>& notes,
                       const std::vector<Diagnostic>& warnings, const Runs& runs, bool resumable) {
  const FitArguments& o = recording.options;
  const TracedRun& best = runs.all[runs.best];
  const Outcome& outcome = best.outcome;
  const bool unfinished = was_interrupted(recording, runs);
  if (!unfinished) recording.checkpoints.remove();
  print_diagnostics(warnings, o.model);
  if (outcome.status == Status::numerical_failure) return complain(failure_of(o, best));
  if (unfinished) {
    print_to_stderr("{}: interrupted after {} iterations; what was found by then is in {}\n", o.model,
                    outcome.iterations, o.out);
    if (recording.checkpoint_error) return complain(*recording.checkpoint_error);
    if (resumable) print_to_stderr("    note: it goes on with `{}`\n", recording.checkpoints.command());
    else print_to_stderr("    note: factors of items in files are not kept; --init {} begins with the others\n", o.out);
  } else if (const auto* chain = std::get_if<GibbsReport>(&best.report); chain && !o.quiet) {
    fmt::print("{1}: {2} chains of {3} draws in {0}/{4} and {0}/{5} ...; means, sds and diagnostics in {0}/{6}\n",
               o.out, m.name, runs.all.size(), chain->log_joint.size(), kDrawsFile, numbered_name(kChainFile, 1),
               kNumbersFile);
  } else if (!o.quiet) {
    fmt::print(
        "{}: {} after {} iterations, ELBO {:.6f}{}{}; posterior in {}/{}\n", m.name, how_it_ended(o, outcome),
        outcome.iterations, outcome.elbo, notes.empty() ? "" : fmt::format(" ({})", fmt::join(texts_of(notes), "; ")),
        best.held_out ? fmt::format(", held out {:.6f} an observation", *best.held_out) : "", o.out, kPosteriorFile);
  }
  return ExitCode::done;
}

/// Reads the start that --init names into `settings`: factors from a file or a saved fit. A chain instead starts near
/// the saved fit as a whole.
Result<bool> read_start(const FitArguments& o, FitSettings& settings) {
  const std::string& path = o.fit.start;
  settings.init_source = path;
  std::error_code failure;
  if (!std::filesystem::is_directory(path, failure)) {
    Result<std::vector<NamedArray>> init = read_npz(path);
    if (!init) return init.error();
    settings.init = std::move(*init);
    return true;
  }
  Result<SavedFit> fit = read_fit(path);
  if (!fit) return fit.error();
  if (o.method().draws) {
    settings.after = std::move(*fit);
  } else if (has_draws(fit->method)) {
    return Error{ExitCode::data,
                 path,
                 "a fit by sampling has draws and no factors to start from",
                 {option("method") + " gibbs begins near it"}};
  } else {
    settings.init = std::move(fit->posterior);
  }
  return true;
}

/// Returns all warnings of the fit for fit.json. Those about the data and the start were printed earlier.
std::vector<Diagnostic> all_warnings(const Fitting& fitting, const TracedRun& best,
                                     const std::vector<Diagnostic>& at_end) {
  std::vector<Diagnostic> out = fitting.data().warnings;
  out.insert(out.end(), best.initial_warnings.begin(), best.initial_warnings.end());
  out.insert(out.end(), at_end.begin(), at_end.end());
  return out;
}

/// Returns an error if an MPI launcher has started this program several times. Without the group of `lehr-mpi`, each
/// process would do all of the work and write the same files.
std::optional<Error> launched_without_group() {
  const std::optional<Launch> started = detect_launcher();
  if (!started) return std::nullopt;
  return Error{ExitCode::usage,
               "lehr fit",
               fmt::format("{} says that {} processes were started, of which this program sees itself alone",
                           started->variable, started->processes),
               {"`lehr-mpi fit` shares a fit out among them; one process of many threads needs no launcher",
                fmt::format("if each of them has a fit of its own: env -u {} lehr fit ...", started->variable)}};
}

/// Returns an error if the options ask for something that processes cannot share.
std::optional<Error> unsupported_by_group(const FitArguments& o) {
  const auto refused = [](const std::string& text) { return Error{ExitCode::usage, "lehr-mpi", text, {}}; };
  if (!o.method().distributes)
    return refused(fmt::format("{} {} is not distributed among processes", option("method"), o.fit.method));
  if (!o.fit.temper.empty()) return refused(option("temper") + " is not distributed among processes");
  if (!o.each.empty()) return refused(option("each") + " makes fits of one process each");
  if (o.fit.sds == "linear-response") return refused(option("sds") + " is not distributed among processes");
  if (o.interpret || o.profile) return refused("the interpreter and the profile are those of one process");
  return std::nullopt;
}

/// Returns an error if processes of the group have different data, options or programs. All must make the same
/// decisions from the same bits.
std::optional<Error> group_mismatch(Group& group, const Identity& identity) {
  std::string own;
  Writer{own}(identity);
  const std::vector<std::string> all = texts_of(group, own);
  std::vector<std::string> differing;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::string difference = differences(Reader(all[0]).take<Identity>(), Reader(all[rank]).take<Identity>());
    if (!difference.empty()) differing.push_back(fmt::format("process {} has {}", rank, difference));
  }
  if (differing.empty()) return std::nullopt;
  return Error{ExitCode::data,
               "lehr-mpi",
               fmt::format("the processes do not fit together: {}", fmt::join(differing, "; ")),
               {"the same build of lehr, the same files and the same kind of processor are needed on all machines"}};
}

/// Returns an error if held-out scores are due in sweeps without an ELBO. Both are columns of the same row of the
/// trace.
std::optional<Error> misaligned_test_every(const FitArguments& o) {
  if (!o.method().converges || o.fit.elbo_every <= 1 || o.test_every % o.fit.elbo_every == 0) return std::nullopt;
  return Error{ExitCode::usage,
               option("test-every"),
               fmt::format("scores are taken at sweeps with an ELBO: a multiple of {} {} is needed",
                           option("elbo-every"), o.fit.elbo_every),
               {}};
}

/// Copies options that do not depend on the method into `settings`.
void apply_arguments(FitSettings& settings, const FitArguments& o, Group* group) {
  settings.predictive = o.predictive / o.fit.restarts;
  settings.group = group;
  settings.at_a_time = o.fit.batch_size;
  settings.spill = o.spill;
  settings.backend = o.interpret ? Backend::interpreter : o.profile ? Backend::timed : Backend::native;
  settings.passes = pass_options(o.passes);
}

/// Returns an error if checkpoints are asked for and factors of items are in spill files, which checkpoints do not
/// include.
std::optional<Error> spill_excludes_checkpoints(const FitArguments& o, const Fitting& fitting) {
  if (!fitting.instance().engine().spills() || (o.checkpoint_every == 0 && o.resume.empty())) return std::nullopt;
  return Error{ExitCode::usage,
               option("spill"),
               fmt::format("factors of items in files are not part of a checkpoint: leave out {} and {}",
                           option("checkpoint-every"), option("resume")),
               {}};
}

/// Returns the messages and bytes that each process sent and received, by rank.
nlohmann::json to_json(const std::vector<Traffic>& traffic) {
  nlohmann::json out = nlohmann::json::array();
  for (const Traffic& t : traffic)
    out.push_back({{"messages_sent", t.sent},
                   {"bytes_sent", t.bytes_sent},
                   {"messages_received", t.received},
                   {"bytes_received", t.bytes_received}});
  return out;
}

/// Returns warnings about options that have no effect for the method. With --stream, --batch-size has one for all of
/// them: it is the number of items that are read at a time.
std::vector<Diagnostic> unused_options(const FitArguments& o) {
  FitOptions counted = o.fit;
  if (o.stream) counted.batch_size = FitOptions().batch_size;
  std::vector<Diagnostic> out = unused_number_warnings(counted);
  if (!o.spill.empty() && !has_effect(kForConverging, o.fit))
    out.push_back(unused_warning("spill", kForConverging, o.fit));
  if (o.predictive != FitArguments().predictive && !has_effect(kForDraws, o.fit))
    out.push_back(unused_warning("predictive", kForDraws, o.fit));
  return out;
}

/// Fits each group of the data. `reads_start`: --init names a file or a fit.
ExitCode fit_groups(const FitArguments& o, const Source& source, FitSettings settings, bool reads_start) {
  if (Result<bool> r = reads_start ? read_start(o, settings) : true; !r) return complain(r.error());
  apply_arguments(settings, o, nullptr);
  return fit_each(o, source, std::move(settings));
}

}  // namespace

ExitCode fit(FitArguments o, Group* group) {
  if (std::optional<Error> e = group ? unsupported_by_group(o) : launched_without_group()) return complain(*e);
  // Only the first process writes files.
  if (group && group->rank() > 0) o.out.clear();
  if (group && o.fit.threads == 0)
    o.fit.threads = static_cast<std::int64_t>(std::max<std::size_t>(1, processors() / group->neighbours()));
  std::optional<SavedFit> prior;
  if (!o.prior.empty()) {
    Result<SavedFit> prior_fit = read_fit(o.prior);
    if (!prior_fit) return complain(prior_fit.error());
    prior = std::move(*prior_fit);
  }
  const std::optional<Source> source = prior ? model_of(*prior, o.model) : read_model(o.model);
  if (!source) return ExitCode::usage;
  o.model = source->name;
  FitOptions options = o.fit;
  const bool is_kind = start_kind(o.fit.start).has_value();
  if (!is_kind) options.start = FitOptions().start;
  if (options.search.empty() && (!is_kind || o.interpret || o.stream)) options.search = "none";
  Result<FitSettings> settings = to_fit_settings(options);
  if (!settings) return complain(settings.error());
  settings->warnings = unused_options(o);
  if (std::optional<Error> e = misaligned_test_every(o)) return complain(*e);
  if (!o.each.empty()) return fit_groups(o, *source, std::move(*settings), !is_kind);
  Clock::time_point begin = Clock::now();
  std::variant<Inputs, ExitCode> read = read_inputs(o, *source, prior ? &*prior : nullptr, group);
  if (const ExitCode* code = std::get_if<ExitCode>(&read)) return *code;
  Inputs& inputs = std::get<Inputs>(read);
  if (!is_kind) {
    if (Result<bool> r = read_start(o, *settings); !r) return complain(r.error());
    if (prior) drop_local_factors(settings->init, inputs.bound.analysed);
  }
  apply_arguments(*settings, o, group);
  const Clock::time_point compile_begin = Clock::now();
  Result<std::unique_ptr<HeldOut>> test = make_test(o, *source, inputs);
  if (!test) return complain(test.error());
  Identity identity = identity_of(o, source->text, *settings);
  Result<std::unique_ptr<Fitting>> made = Fitting::make(std::move(inputs.bound), std::move(*settings));
  if (!made) return complain_of(made.error(), o.model);
  Fitting& fitting = **made;
  if (o.stream && !o.quiet) report_streaming(o, fitting);
  if (std::optional<Error> e = spill_excludes_checkpoints(o, fitting)) return complain(*e);
  if (group) {
    if (std::optional<Error> e = group_mismatch(*group, with_data(identity, fitting.data()))) return complain(*e);
  }
  Checkpoints checkpoints(o, std::move(identity), fitting.data());
  if (Result<bool> r = o.resume.empty() ? true : checkpoints.resume(); !r) return complain(r.error());
  FitTimes times;
  times.compile = seconds_since(compile_begin);

  Recording recording{o, test->get(), checkpoints, begin, group};
  Result<Runs> runs = run_all(fitting, recording);
  if (!runs) return complain(runs.error());
  TracedRun& best = runs->all[runs->best];
  const std::optional<Diagnostic> early = stopped_early(o, best);
  times.total = seconds_since(begin);
  const model::Model& m = fitting.model();
  const conditionals::Conditionals& c = fitting.schedule().conditionals;
  nlohmann::json summary = fit_summary(request_of(o, *source), m, c, fitting.data(), best, runs->all,
                                       was_interrupted(recording, *runs), times);
  if (runs->best + 1 != runs->all.size()) {
    if (Result<bool> r = rewrite_trace(o, best); !r) return complain(r.error());
  }
  if (o.profile) {
    const std::vector<StepTime> steps = fitting.instance().times();
    const Profile of = o.interpret ? Profile::work : Profile::time;
    summary["profile"] = profile_json(steps, of);
    if (!o.quiet) fmt::print("{}", profile_table(steps, of));
  }
  const std::optional<DrawnChains> drawn = drawn_chains(fitting, runs->all);
  std::vector<Diagnostic> at_end = drawn ? add_chains(fitting, *drawn, *runs, summary) : std::vector<Diagnostic>();
  if (early) at_end.push_back(*early);
  std::ranges::move(fitting.warnings(best), std::back_inserter(at_end));
  if (group) summary["processes"] = to_json(traffic_of(*group));
  summary["warnings"] = to_json(all_warnings(fitting, best, at_end));
  const auto write = [&] { return write_fit(o.out, {std::move(summary), best, &fitting, drawn ? &*drawn : nullptr}); };
  if (Result<bool> r = o.out.empty() ? true : write(); !r) return complain(r.error());
  if (drawn && !o.quiet) print_chains(*drawn);
  return print_summary(recording, m, result_notes(fitting, best), at_end, *runs, !fitting.instance().engine().spills());
}

void add_fit(CLI::App& app, Action& action, const std::string& command, Group* group) {
  const auto o = std::make_shared<FitArguments>();
  o->command = command;
  CLI::App* c = app.add_subcommand("fit", "Fit a model to data by variational inference");
  add_fit_options(*c, *o);
  c->callback([o, group, &action] { action = [o, group] { return fit(*o, group); }; });
}

}  // namespace lehr::commands
