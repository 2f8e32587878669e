// `lehr fit`: model + data -> posterior.npz, trace.csv, fit.json.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "compiler/commands/commands.h"
#include "compiler/commands/fit_options.h"
#include "compiler/pipeline.h"
#include "compiler/program/instance.h"
#include "compiler/schedule/schedule.h"
#include "runtime/engine/cavi.h"
#include "runtime/output/atomic_file.h"
#include "runtime/output/progress.h"
#include "runtime/output/trace.h"

namespace lehr::commands {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Run {
  Outcome outcome;
  std::vector<NpyArray> posterior;
  std::vector<std::pair<double, double>> trace;  // seconds, ELBO
  std::uint64_t restart = 0;
};

Result<Run> run_once(Instance& instance, const FitOptions& o, std::uint64_t restart, Clock::time_point begin) {
  if (Result<bool> started = instance.start(o.seed, restart); !started) return started.error();
  if (!o.init.empty()) {
    Result<std::vector<NpyArray>> arrays = read_npz(o.init);
    if (!arrays) return arrays.error();
    if (Result<bool> set = instance.set(*arrays, o.init); !set) return set.error();
  }
  Run run;
  run.restart = restart;
  Progress progress(stderr, progress_for(stderr, o.quiet), o.cavi.max_iterations);
  run.outcome = run_cavi(instance.engine(), o.cavi, [&](std::int64_t iteration, double elbo) {
    const double seconds = seconds_since(begin);
    run.trace.emplace_back(seconds, elbo);
    progress.update({iteration, seconds, elbo, 1.0});
    return interrupted == 0;
  });
  progress.finish(fmt::format("{} after {} iterations, ELBO {:.6f}", name_of(run.outcome.status), run.outcome.iterations,
                              run.outcome.elbo));
  run.posterior = instance.posterior(o.save_locals);
  return run;
}

nlohmann::json summary(const FitOptions& o, const model::Model& m, const BoundData& data, const Run& run, double compile_seconds,
                       double seconds) {
  nlohmann::json sizes = nlohmann::json::object(), constants = nlohmann::json::object(), labels = nlohmann::json::object();
  nlohmann::json variables = nlohmann::json::object();
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    if (m.plates[k].set != model::PlateId(k)) continue;
    sizes[m.plates[k].name] = data.sizes[k];
    if (!data.labels[k].empty()) labels[m.plates[k].name] = data.labels[k];
  }
  for (std::size_t k = 0; k < m.constants.size(); ++k) constants[m.constants[k].name] = data.constants[k];
  for (const model::Variable& v : m.variables) {
    if (v.observed) continue;
    nlohmann::json axes = nlohmann::json::array(), event = nlohmann::json::array();
    for (model::PlateId p : v.axes) axes.push_back(m[m[p].set].name);
    for (model::PlateId p : v.event) event.push_back(m[m[p].set].name);
    if (v.value_plate) event.push_back(m[m[*v.value_plate].set].name);
    variables[v.name] = {{"axes", axes}, {"event", event}};
  }
  return {{"model", m.name},
          {"model_file", o.model},
          {"command", o.command},
          {"version", LEHR_VERSION},
          {"method", o.method},
          {"seed", o.seed},
          {"restart", run.restart},
          {"status", name_of(run.outcome.status)},
          {"iterations", run.outcome.iterations},
          {"elbo", run.outcome.elbo},
          {"elbo_decreases", run.outcome.decreases},
          {"sizes", sizes},
          {"constants", constants},
          {"labels", labels},
          {"variables", variables},
          {"seconds", {{"compile", compile_seconds}, {"total", seconds}}}};
}

Result<bool> write(const FitOptions& o, const model::Model& m, const BoundData& data, const Run& run, double compile_seconds,
                   double seconds) {
  std::error_code ec;
  std::filesystem::create_directories(o.out, ec);
  if (ec) return Error{lehr::ExitCode::usage, o.out, "cannot create the directory: " + ec.message(), {}};
  if (Result<bool> r = write_npz(o.out + "/posterior.npz", run.posterior); !r) return r;
  std::string trace = "iteration,seconds,elbo,temperature\n";
  for (std::size_t k = 0; k < run.trace.size(); ++k) {
    trace += fmt::format("{},{:.6f},{:.17g},1\n", k + 1, run.trace[k].first, run.trace[k].second);
  }
  if (Result<bool> r = write_file(o.out + "/trace.csv", trace); !r) return r;
  return write_file(o.out + "/fit.json", summary(o, m, data, run, compile_seconds, seconds).dump(2) + "\n");
}

ExitCode fit(const FitOptions& o) {
  const std::optional<Source> source = read_model(o.model);
  if (!source) return kUsage;
  const Clock::time_point begin = Clock::now();

  Result<Dataset> dataset = read_bindings(o.data);
  if (!dataset) return complain(dataset.error());
  Result<Settings> settings = read_settings(o.settings);
  if (!settings) return complain(settings.error());

  // The model without data first: its types decide how the data are read.
  Diagnostics first;
  const std::optional<FrontEnd> untied = analyse(*source, {}, first);
  if (const ExitCode code = report(first, *source); code != kDone) return code;
  Result<BoundData> data = lehr::bind(untied->model, *dataset, *settings);
  if (!data) return complain(data.error());
  density::ExpandOptions expand_options;
  for (const BoundArray& a : data->observed) expand_options.may_be_missing.push_back(a.has_missing);
  Diagnostics second;
  std::optional<FrontEnd> front = analyse(*source, expand_options, second);
  if (!front) return report(second, *source);

  const Clock::time_point compile_begin = Clock::now();
  const schedule::Schedule schedule = plan(front->model, std::move(front->conditionals));
  Instance instance(front->model, schedule, *data, {o.save_locals}, o.interpret ? Backend::interpreter : Backend::native);
  const double compile_seconds = seconds_since(compile_begin);

  std::signal(SIGINT, on_interrupt);
  std::optional<Run> best;
  for (std::uint64_t r = 0; r < static_cast<std::uint64_t>(o.restarts) && !interrupted; ++r) {
    Result<Run> run = run_once(instance, o, r, begin);
    if (!run) return complain(run.error());
    if (run->outcome.status == Status::numerical_failure && o.restarts > 1 && (best || r + 1 < static_cast<std::uint64_t>(o.restarts))) continue;
    if (!best || run->outcome.elbo > best->outcome.elbo) best = std::move(*run);
  }
  if (Result<bool> w = write(o, front->model, *data, *best, compile_seconds, seconds_since(begin)); !w) return complain(w.error());
  if (best->outcome.decreases > 0) {
    std::cerr << fmt::format("{}: warning: the ELBO fell in {} of {} sweeps, which coordinate ascent cannot do: please report this model\n",
                             o.model, best->outcome.decreases, best->outcome.iterations);
  }
  if (best->outcome.status == Status::numerical_failure) {
    return complain(Error{lehr::ExitCode::numerical, o.model, best->outcome.failure, {"try another --seed, or a proper prior"}});
  }
  if (!o.quiet) {
    fmt::print("{}: {} after {} iterations, ELBO {:.6f}; posterior in {}/posterior.npz\n", front->model.name,
               name_of(best->outcome.status), best->outcome.iterations, best->outcome.elbo, o.out);
  }
  return kDone;
}

}  // namespace

void add_fit(CLI::App& app, Action& action) {
  const auto o = std::make_shared<FitOptions>();
  CLI::App* c = app.add_subcommand("fit", "Fit a model to data by variational inference");
  add_fit_options(*c, *o);
  c->callback([o, &action] { action = [o] { return fit(*o); }; });
}

}  // namespace lehr::commands
