// Restores a fit as `lehr fit` made it: the same binding, the same analysis, a deterministic start, then the saved
// global factors and inferred local ones.
#include "compiler/diagnose/restored_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/advice.h"
#include "compiler/posterior/moments.h"
#include "compiler/score/held_out.h"
#include "runtime/output/fit_files.h"

namespace lehr {

Settings to_fit_settings(const SavedFit& fit, const model::Model& resolved, const Analysed& complete) {
  Settings out = fitted_settings(complete, fit);
  for (const model::Plate& p : resolved.plates) {
    const auto size = fit.sizes.find(p.name);
    if (!p.parent && !p.stick && size != fit.sizes.end()) out.sizes[p.name] = size->second;
    const auto labels = fit.labels.find(p.name);
    if (!p.parent && !p.stick && p.from == 0 && labels != fit.labels.end()) out.labels[p.name] = labels->second;
  }
  return out;
}

Result<RestoredFit> restore_fit(const Source& source, const model::Model& resolved, const Analysed& complete,
                                Dataset dataset, const SavedFit& fit, const SweepOptions& local) {
  if (is_sampled(fit)) {
    return Error{ExitCode::data,
                 fit.directory,
                 "these checks are of the factors of a variational fit, and this one was sampled",
                 {fmt::format("its {} has R-hat and effective draws, its {} posterior predictive draws", kNumbersFile,
                              kDrawsFile)}};
  }
  Diagnostics diagnostics;
  Result<std::optional<BoundModel>> bound =
      bind_and_analyse(resolved, complete, std::move(dataset), to_fit_settings(fit, resolved, complete), diagnostics);
  if (!bound) return bound.error();
  if (!*bound)
    return Error{ExitCode::model, source.name, "the model is not well:\n" + render_tested(diagnostics, source), {}};
  RestoredFit out;
  out.bound = std::make_unique<BoundModel>(std::move(**bound));
  Result<std::unique_ptr<Instance>> made =
      Instance::make(out.analysed(), out.data(), {.save_locals = true, .item_starts = true}, Backend::native, 0);
  if (!made) return made.error();
  out.instance = std::move(*made);
  out.instance->set_offsets(out.bound->references);
  if (const auto r = out.instance->start(fit.seed, 0, StartKind::means); !r) return r.error();
  if (Result<bool> r = out.instance->set(fit.posterior, kPosteriorFile); !r) return r.error();
  ItemInference how{local};
  how.seed = fit.seed;
  // All local blocks are inferred, also those that no item stage updates.
  how.scope = machine::SweepScope::local;
  how.digests = out.bound->digests;
  const Result<ItemSolution> solved = solve_items(*out.instance, out.analysed(), out.data(), fit, how);
  if (!solved) return solved.error();
  out.items = *solved;
  out.elbo = solved->elbo;
  out.factors = out.instance->posterior(true, LocationOrigin::reference);
  out.variables = by_variable(out.factors);
  return out;
}

}  // namespace lehr
