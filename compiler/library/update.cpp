// Updates a fit with new data: its posterior becomes the prior of a changed model, which is fitted as usual.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/advice.h"
#include "compiler/library/impl.h"
#include "compiler/options/fit_settings.h"
#include "compiler/posterior/posterior_prior.h"
#include "compiler/score/held_out.h"

namespace lehr {

Result<Fit> Program::update(const Fit& prior, std::span<const DataView> data, double forget, const FitOptions& options,
                            const Callback& callback) const {
  if (!contains(kProportionOrOneRange, forget))
    return Error{ExitCode::usage, "forget", fmt::format("{} is not {}", forget, describe(kProportionOrOneRange)), {}};
  if (std::optional<Error> e = model_mismatch(*impl_, prior.impl())) return *e;
  const std::shared_ptr<const Impl> of_fit = program_of(*impl_, prior.impl());
  const SavedFit fit = saved_fit(prior.impl().summary, prior.impl().global);
  const Result<PosteriorAsPrior> carried = make_posterior_prior(of_fit->resolved, of_fit->complete, fit, forget);
  if (!carried) return without_option_prefix(carried.error());
  Diagnostics diagnostics;
  std::optional<Analysed> complete = analyse(carried->model, {}, diagnostics);
  if (!complete) return Error{ExitCode::model, impl_->source.name, render_tested(diagnostics, impl_->source), {}};
  const Program next(std::make_shared<const Impl>(
      Impl{impl_->source, carried->model, std::move(*complete), fitted_settings(of_fit->complete, fit)}));
  std::vector<DataView> all(data.begin(), data.end());
  Dataset constants;
  add_constants(of_fit->resolved, fit, constants);
  for (const auto& [name, array] : constants)
    if (std::ranges::find(data, name, &DataView::name) == data.end())
      all.push_back(view(name, array.values, array.shape));
  for (const auto& [name, array] : carried->parameters)
    all.push_back(view(name, array.values, array.shape));
  FitOptions from_prior = options;
  for (const NamedArray& a : prior.impl().global)
    from_prior.init.push_back(view(a.name, a.values, a.shape));
  return next.fit(all, from_prior, callback);
}

}  // namespace lehr
