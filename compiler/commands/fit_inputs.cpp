// Reads the inputs of a fit in an order that reports cheap errors first: model, checkpoint, output directory, settings,
// data. The model is analysed twice if values are missing, so warnings are collected in two lists, of which one is
// printed.
#include "compiler/commands/fit_inputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "compiler/commands/checkpoint.h"
#include "compiler/console/fitted_model.h"
#include "compiler/fit/fit_summary.h"
#include "compiler/fit/out_of_core_data.h"
#include "compiler/posterior/posterior_prior.h"
#include "compiler/score/held_out.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {

Result<bool> prepare_directory(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) return Error{ExitCode::usage, path, "cannot make the directory: " + failure.message(), {}};
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    return Error{ExitCode::usage, path, fmt::format("cannot write to the directory: {}", std::strerror(errno)), {}};
  }
  for (const FitFile& f : kFitFiles) {
    if (f.presence == FitFilePresence::commands) continue;
    const std::filesystem::path file = std::filesystem::path(path) / numbered_name(f.name, 1);
    if (std::filesystem::is_directory(file, failure))
      return Error{ExitCode::usage, file.string(), "cannot write: it is a directory", {}};
  }
  return true;
}

std::optional<model::Model> read_model_for(const Source& source, const FitOptions& options, Diagnostics& diagnostics) {
  std::optional<model::Model> out = read(source, diagnostics);
  if (out && options.guide == "factorised") out->guide.factorised = true;
  if (out) out->guide.gaussian_links = options.links == "gaussian";
  return out;
}

namespace {

/// Returns the inputs, with the joint factors that were chosen for the data.
Inputs inputs_of(model::Model resolved, Analysed complete, BoundModel bound) {
  Diagnostics ignored;
  const bool anew = bound.resolved.guide.joint.size() > resolved.guide.joint.size();
  resolved.guide = bound.resolved.guide;
  if (anew) complete = *analyse(resolved, {}, ignored);
  return {std::move(resolved), std::move(complete), std::move(bound)};
}

}  // namespace

std::variant<Inputs, ExitCode> read_inputs(const FitArguments& o, const Source& source, const SavedFit* prior,
                                           Group* group) {
  // `first` has the messages of the analysis for complete data, `second` those of an analysis that replaces it.
  Diagnostics first;
  std::optional<model::Model> resolved = read_model_for(source, o.fit, first);
  if (resolved && prior) resolved = with_guide_of(*resolved, prior->posterior, nlohmann::json::parse(prior->summary));
  Diagnostics second = first;
  std::optional<Analysed> complete = resolved ? analyse(*resolved, {}, first) : std::nullopt;
  if (!complete) return report(first, source);
  const auto fail = [&](const Error& e) {
    report(first, source);
    return complain(prior ? with_settings_source(*prior, e) : e);
  };
  if (Result<bool> r = look_for_checkpoint(o); !r) return fail(r.error());
  if (Result<bool> r = o.out.empty() ? true : prepare_directory(o.out); !r) return fail(r.error());
  Result<Settings> settings = prior ? fitted_settings(*complete, *prior) : read_settings(o.settings);
  if (!settings) return fail(settings.error());
  if (o.stream) {
    auto streamed = OutOfCoreData::open(*complete, o.data.bindings, *settings, group);
    if (!streamed) return fail(streamed.error());
    Result<std::optional<BoundModel>> bound = bind_and_analyse(*resolved, *complete, std::move(*streamed), second);
    if (!bound) return fail(bound.error());
    const ExitCode code = report(*bound ? first : second, source);
    if (!*bound) return code;
    return inputs_of(std::move(*resolved), std::move(*complete), std::move(**bound));
  }
  Result<Dataset> dataset = read_data(o.data, *resolved);
  if (!dataset) return fail(dataset.error());
  if (prior) {
    add_constants(*resolved, *prior, *dataset);
    Result<PosteriorAsPrior> carried = make_posterior_prior(*resolved, *complete, *prior, o.prior_power);
    if (!carried) return complain_of(carried.error(), o.model);
    resolved = std::move(carried->model);
    dataset->merge(carried->parameters);
    complete = analyse(*resolved, {}, second);
    if (!complete) return report(second, source);
  }
  const auto is_empty = [](const auto& array) { return array.second.values.empty(); };
  const auto empty = std::ranges::find_if(*dataset, is_empty);
  const std::string where = empty == dataset->end() ? option("data") : empty->second.source;
  Result<std::optional<BoundModel>> bound =
      bind_and_analyse(*resolved, *complete, std::move(*dataset), *settings, second);
  if (!bound) return fail(bound.error());
  if (std::optional<Error> e = *bound ? nothing_to_fit(**bound) : std::nullopt) {
    e->where = where;
    return fail(*e);
  }
  const bool anew = !*bound || std::ranges::any_of((*bound)->data.observed, &BoundArray::has_missing);
  const ExitCode code = report(anew ? second : first, source);
  if (!*bound) return code;
  print_diagnostics((*bound)->data.warnings, o.model);
  return inputs_of(std::move(*resolved), std::move(*complete), std::move(**bound));
}

}  // namespace lehr::commands
