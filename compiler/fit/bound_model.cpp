// Binds data to a model, and repeats the analysis where the data ask for another one: missing values, elements without
// data, locations far from zero, joint factors that are chosen by the data.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/evaluate/footprint.h"
#include "compiler/fit/fitting.h"
#include "compiler/fit/item_solution.h"
#include "compiler/instance/barren.h"
#include "compiler/model/print_model.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/posterior_prior_model.h"

namespace lehr {
namespace {

/// Returns true if the guide has factors that the one before does not have, or other entries in a sparse precision.
bool has_new_factors(const model::Guide& now, const model::Guide& before) {
  return !std::ranges::equal(now.joint, before.joint, [](const model::JointGuide& a, const model::JointGuide& b) {
    return a.members == b.members && a.pattern == b.pattern;
  });
}

/// Returns the model with the joint factors that the data choose. Variables that no data reach, those with `masks`,
/// share a factor only if it has all latent variables that their distributions read: they would narrow the others.
model::Model joined(const model::Model& m, const Analysed& complete, const density::ExpandOptions& options,
                    const Masks& masks, const BoundData& data) {
  const Masks unreached = unreached_masks(masks);
  Masks alone(unreached.size());
  for (;;) {
    model::Model out = with_joint_factors(m, complete, with_masks(options, alone), data);
    bool again = false;
    for (std::size_t k = 0; k < unreached.size(); ++k) {
      if (unreached[k].empty() || !alone[k].empty()) continue;
      for (const model::JointGuide& joint : out.guide.joint) {
        const auto is_outside = [&](const model::VariableRef* r) {
          return model::is_latent(m[r->variable]) && !joint.has(r->variable);
        };
        const model::Statement& s = m[m.variables[k].statement];
        if (!joint.has(model::VariableId(k)) ||
            std::ranges::none_of(model::references_under(m, model::roots_of(s)), is_outside))
          continue;
        alone[k] = unreached[k];
        again = true;
      }
    }
    if (!again) return out;
  }
}

/// Returns what analyse() does, which is in the cache under this key if there is a cache.
std::optional<Analysed> analyse_shared(const model::Model& m, const density::ExpandOptions& options,
                                       const AnalysisKey& key, Diagnostics& diagnostics, FitCache* cache) {
  if (!cache) return analyse(m, options, diagnostics);
  const std::shared_ptr<const AnalysisResult> found = cache->analyses.find_or_make(key, [&] {
    AnalysisResult made;
    made.analysed = analyse(m, options, made.diagnostics);
    return made;
  });
  for (const Diagnostic& d : found->diagnostics.all())
    diagnostics.add(d);
  return found->analysed;
}

}  // namespace

Result<std::optional<BoundModel>> bind_and_analyse(const model::Model& resolved, const Analysed& complete,
                                                   Dataset dataset, const Settings& settings, Diagnostics& diagnostics,
                                                   FitCache* cache) {
  Result<BoundData> data = lehr::bind(complete.model, std::move(dataset), settings);
  if (!data) return data.error();
  if (std::optional<Error> e = too_large(value_sizes(complete.model, *data))) return *e;
  // Where data are far from zero, model and data are replaced by ones in distances from a reference.
  std::optional<CentredModel> moved = centre_model(resolved, *data);
  // Checksums are those of the data before centring, so that a later fit recognises the same items.
  std::vector<double> digests = item_digests(complete, complete.model, *data);
  const Masks barren = find_barren(resolved, *data);
  BoundData& used = moved ? moved->data : *data;
  const model::Model guided = joined(moved ? moved->model : resolved, complete, expand_options(*data), barren, used);
  const Masks masks = without_members(guided.guide, barren);
  const density::ExpandOptions options = with_masks(expand_options(*data), masks);
  std::vector<std::string> joinable;
  if (!moved && !cache) joinable = joinable_across_items(resolved, complete, options, *data);
  const bool anew = moved || has_new_factors(guided.guide, resolved.guide);
  if (!anew && !options.any())
    return std::optional<BoundModel>(
        BoundModel{complete, std::move(*data), {}, guided, {}, std::move(digests), {}, std::move(joinable)});
  AnalysisKey key{options.may_be_missing, options.clamped, options.with_zeros, anew && cache ? print(guided) : ""};
  std::optional<Analysed> analysed = analyse_shared(guided, options, key, diagnostics, cache);
  for (std::size_t k = 0; k < data->clamped.size(); ++k) {
    // A variable with some missing values has become latent, which explains an error of the analysis.
    if (data->clamped[k])
      diagnostics.note_errors(
          fmt::format("'{}' is latent where the data miss its values", complete.model.variables[k].name));
  }
  if (!analysed) return std::optional<BoundModel>();
  // The new analysis may have added auxiliary variables, which come last and have no data.
  used.observed.resize(analysed->model.variables.size());
  add_sizes(analysed->model, used);
  add_masks(analysed->model, masks, used);
  CentringOffsets references = moved ? std::move(moved->references) : CentringOffsets();
  return std::optional<BoundModel>(BoundModel{std::move(*analysed),
                                              std::move(used),
                                              std::move(references),
                                              guided,
                                              {},
                                              std::move(digests),
                                              std::move(key),
                                              std::move(joinable)});
}

Result<std::optional<BoundModel>> bind_and_analyse(const model::Model& resolved, const Analysed& complete,
                                                   std::shared_ptr<const OutOfCoreData> streamed,
                                                   Diagnostics& diagnostics) {
  BoundData data = streamed->whole();
  density::ExpandOptions options = expand_options(data);
  Masks outside = streamed->barren_outside();
  const model::Model guided = joined(resolved, complete, options, outside, data);
  const auto is_joint = [&](model::VariableId v) {
    return std::ranges::any_of(guided.guide.joint, [&](const model::JointGuide& joint) { return joint.has(v); });
  };
  outside = without_members(guided.guide, std::move(outside));
  options = with_masks(std::move(options), outside);
  // Any part of the items may have barren elements of these variables, so their density needs masks.
  for (const model::VariableId v : streamed->with_barren_items())
    if (!is_joint(v)) options.may_be_missing[v.index()] = true;
  std::optional<Analysed> analysed = complete;
  if (options.any() || has_new_factors(guided.guide, resolved.guide)) analysed = analyse(guided, options, diagnostics);
  if (!analysed) return std::optional<BoundModel>();
  data.observed.resize(analysed->model.variables.size());
  data.givens.resize(analysed->model.givens.size());
  add_sizes(analysed->model, data);
  for (std::size_t k = 0; k < outside.size(); ++k) {
    const auto mask = model::mask_of(analysed->model, analysed->model.variables[k]);
    if (mask && !outside[k].empty()) data.givens[mask->index()].values = outside[k];
  }
  return std::optional<BoundModel>(BoundModel{std::move(*analysed), std::move(data), {}, guided, std::move(streamed)});
}

std::optional<Error> nothing_to_fit(const BoundModel& bound) {
  const model::Model& m = bound.analysed.model;
  std::vector<std::string> empty;
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    // Nested plates have no elements if their outermost plate has none.
    if (m.plates[k].set != model::PlateId(k) || m.plates[k].parent || !model::is_item_plate(m, model::PlateId(k)))
      continue;
    if (bound.data.sizes[k] != 0) return std::nullopt;
    empty.push_back(m.plates[k].name);
  }
  if (empty.empty() || std::ranges::any_of(m.givens, is_posterior_prior)) return std::nullopt;
  return Error{ExitCode::data,
               "",
               fmt::format("there is nothing to fit: plate '{}' has no elements", fmt::join(empty, "' and '")),
               {"a fit needs one item at least; data of no items are a batch for the update of a fit"}};
}

}  // namespace lehr
