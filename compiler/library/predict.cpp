// Predictions of a Program from a Fit.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "compiler/fit/fit_summary.h"
#include "compiler/library/impl.h"
#include "compiler/options/fit_settings.h"
#include "compiler/posterior/posterior_prior.h"
#include "compiler/predict/prediction.h"
#include "compiler/predict/prediction_arrays.h"

namespace lehr {

SavedFit as_saved_fit(const Fit::Impl& fit) {
  SavedFit out;
  for (const auto& [name, value] : fit.settings.constants)
    out.constants[name] = {value};
  out.sizes = fit.settings.sizes;
  out.rows = fit.settings.rows;
  out.labels = fit.settings.labels;
  // Those of all plates, where there is a summary: settings have those of global parameters.
  if (fit.summary.is_object()) out.labels = fit.summary.value("labels", out.labels);
  out.words = fit.settings.words;
  out.posterior = fit.global;
  out.items = fit.run.items;
  const auto is_global = [&](const NamedArray& a) {
    return std::ranges::find(fit.global, a.name, &NamedArray::name) != fit.global.end();
  };
  std::ranges::remove_copy_if(fit.run.posterior, std::back_inserter(out.items), is_global);
  for (auto& [name, variable] : by_variable(fit.global))
    out.variables.push_back(variable);
  return out;
}

Result<Dataset> dataset_with_constants(std::span<const DataView> views, const Program::Impl& program,
                                       const Fit::Impl& fit) {
  Result<Dataset> out = dataset_of(views);
  if (out && fit.summary.is_object()) add_constants(program.resolved, saved_fit(fit.summary, {}), *out);
  return out;
}

std::shared_ptr<const Program::Impl> program_of(const Program::Impl& program, const Fit::Impl& fit) {
  const std::vector<model::Variable>& variables = program.complete.model.variables;
  std::set<std::string> others;
  for (const NamedArray& a : fit.global)
    if (std::ranges::find(variables, a.name.substr(0, a.name.rfind('.')), &model::Variable::name) == variables.end())
      others.insert(a.name);
  if (has_gaussian_links(fit.summary)) others.insert(option("links"));
  for (const std::string& name : joint_names(fit.summary))
    others.insert(name);
  const std::lock_guard lock(program.of_fits->mutex);
  std::shared_ptr<const Program::Impl>& made = program.of_fits->programs[std::move(others)];
  if (made) return made;
  auto out = std::make_shared<Program::Impl>(program);
  out->resolved = with_guide_of(program.resolved, fit.global, fit.summary);
  Diagnostics ignored;
  if (out->resolved.guide.gaussian_links || out->resolved.guide.joint.size() > program.resolved.guide.joint.size())
    out->complete = *analyse(out->resolved, {}, ignored);
  // The copy would keep itself alive in its own table.
  out->of_fits = std::make_shared<Program::Impl::OfFits>();
  // The entries of a sparse precision are those of one fit: other data couple other numbers.
  const auto is_sparse = [](const model::JointGuide& joint) { return joint.pattern != nullptr; };
  if (std::ranges::any_of(out->resolved.guide.joint, is_sparse)) return out;
  return made = std::move(out);
}

Result<Predictions> Program::predict(const Fit& fit, std::span<const DataView> data,
                                     const PredictOptions& options) const {
  if (options.draws < 1)
    return Error{ExitCode::usage, "draws", fmt::format("{} draws are not enough", options.draws), {}};
  if (std::optional<Error> e = model_mismatch(*impl_, fit.impl())) return *e;
  const Result<Dataset> dataset = dataset_with_constants(data, *impl_, fit.impl());
  if (!dataset) return dataset.error();
  const PredictionOptions how{
      options.draws, options.seed, {options.local_iterations, options.local_tolerance}, impl_->instance};
  const std::shared_ptr<const Impl> of_fit = program_of(*impl_, fit.impl());
  const Result<Prediction> made = lehr::predict(of_fit->source, of_fit->resolved, of_fit->complete, *dataset,
                                                {options.sizes, options.more}, as_saved_fit(fit.impl()), how);
  if (!made) return with_option_prefix(made.error(), "");
  Predictions out;
  for (NamedArray& a : prediction_arrays(*made))
    out.arrays.push_back({std::move(a.name), std::move(a.shape), std::move(a.values), a.integer});
  out.draws = made->draws;
  for (const Diagnostic& d : made->notes)
    (d.severity == Severity::warning ? out.warnings : out.notes).push_back(line_of(d));
  return out;
}

}  // namespace lehr
