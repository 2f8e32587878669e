// Writes a fit to a directory and reads it back.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/fit/write_fit.h"
#include "compiler/library/impl.h"
#include "compiler/score/held_out.h"
#include "runtime/files/readers.h"
#include "runtime/output/fit_files.h"
#include "runtime/output/trace.h"

namespace lehr {
namespace {

/// Returns the status of that name.
Status status_called(std::string_view name) {
  for (const Status s : {Status::converged, Status::max_iter, Status::numerical_failure})
    if (name_of(s) == name) return s;
  return Status::interrupted;
}

/// Returns the parameters of global factors; those of items belong to the data of that fit.
std::vector<NamedArray> global_arrays(const Analysed& complete, const SavedFit& fit) {
  const model::Model& m = complete.model;
  const auto is_local = [&](const NamedArray& a) {
    const auto v = std::ranges::find(m.variables, a.name.substr(0, a.name.rfind('.')), &model::Variable::name);
    if (v == m.variables.end()) return false;
    const auto b = complete.schedule.conditionals.block_of[static_cast<std::size_t>(v - m.variables.begin())];
    return b.valid() && complete.schedule.stage_of[b.index()].has_value();
  };
  std::vector<NamedArray> out;
  std::ranges::remove_copy_if(fit.posterior, std::back_inserter(out), is_local);
  return out;
}

/// Returns true if trace.csv has a column `objective`: the fit was annealed or tempered.
bool has_objective(const nlohmann::json& summary) { return summary.contains("anneal") || summary.contains("temper"); }

/// Converts the trace, if the directory has one of this fit.
void read_trace(const SavedFit& fit, bool with_objective, Fit::Impl& to) {
  if (fit.trace.empty()) return;
  std::vector<std::string> names{"iteration", "seconds", "elbo", "temperature"};
  if (with_objective) names.emplace_back("objective");
  const Result<Dataset> columns = parse_csv(fit.trace, kTraceFile, "", names);
  if (!columns) return;
  const auto column = [&](const char* name) -> const std::vector<double>& { return columns->at(name).values; };
  for (std::size_t i = 0; i < column("elbo").size(); ++i) {
    to.trace.push_back({fit.restart, static_cast<std::int64_t>(column("iteration")[i]), column("elbo")[i],
                        column("temperature")[i], column(with_objective ? "objective" : "elbo")[i]});
  }
  to.seconds = column("seconds");
}

}  // namespace

Result<bool> Fit::write(const std::string& directory) const {
  if (!impl_->draws.groups.empty())
    return Error{ExitCode::usage, directory, "a fit by sampling is not written: its draws would not be there", {}};
  nlohmann::json summary = impl_->summary;
  Result<Trace> trace = Trace::open(
      directory, has_objective(summary) ? std::vector<std::string>{"objective"} : std::vector<std::string>{});
  if (!trace) return trace.error();
  for (std::size_t i = 0; i < impl_->trace.size(); ++i) {
    const Sweep& s = impl_->trace[i];
    const std::vector<double> extra(has_objective(summary) ? 1 : 0, s.objective);
    if (Result<bool> r = trace->append(s.iteration, impl_->seconds[i], s.elbo, s.temperature, extra); !r) return r;
  }
  if (Result<bool> r = trace->write(); !r) return r;
  return write_fit(directory, {std::move(summary), impl_->run});
}

Result<Fit> Program::load(const std::string& directory) const {
  Result<SavedFit> saved = read_fit(directory);
  if (!saved) return without_option_prefix(saved.error());
  if (saved->model != name())
    return Error{ExitCode::data, directory, fmt::format("a fit of '{}' and not of '{}'", saved->model, name()), {}};
  if (saved->files.contains(kDrawsFile))
    return Error{ExitCode::data,
                 directory,
                 "a fit by sampling is not loaded",
                 {fmt::format("its draws are in {}, which ArviZ and xarray read", kDrawsFile)}};
  nlohmann::json summary = nlohmann::json::parse(saved->summary);
  auto out = std::make_shared<Fit::Impl>();
  for (const auto& note : summary.value("elbo_notes", nlohmann::json::array()))
    out->elbo_notes.push_back(note.get<std::string>());
  for (const auto& warning : summary.value("warnings", nlohmann::json::array())) {
    Diagnostic w = make_warning(warning.value("text", ""));
    for (const auto& note : warning.value("notes", nlohmann::json::array()))
      w.note(note.get<std::string>());
    out->warnings.push_back(line_of(w));
  }
  out->run.outcome.failure = summary.value("failure", "");
  summary.erase("files");
  out->summary = summary;
  out->run.restart = static_cast<std::uint64_t>(saved->restart);
  out->run.outcome.status = status_called(saved->status);
  out->run.outcome.iterations = saved->iterations;
  out->run.outcome.elbo = saved->elbo;
  out->settings = fitted_settings(impl_->complete, *saved);
  out->global = global_arrays(impl_->complete, *saved);
  read_trace(*saved, has_objective(summary), *out);
  out->run.posterior = std::move(saved->posterior);
  out->run.items = std::move(saved->items);
  out->run.sds = std::move(saved->sds);
  return Fit(std::move(out));
}

}  // namespace lehr
