// Binds data with gaps, infers the local factors of their items with the global factors of the fit, and hands both to
// predicted_numbers.cpp.
#include "compiler/predict/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/advice.h"
#include "compiler/fit/bind_missing.h"
#include "compiler/fit/fitting.h"
#include "compiler/fit/item_independence.h"
#include "compiler/instance/barren.h"
#include "compiler/instance/instance.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/moments.h"
#include "compiler/predict/let_variables.h"
#include "compiler/predict/predicted_numbers.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

using namespace model;

/// Returns true if the variable is inferred item by item.
bool is_local(const Analysed& a, VariableId v) {
  const conditionals::BlockId b = a.schedule.conditionals.block_of[v.index()];
  return b.valid() && a.schedule.stage_of[b.index()].has_value();
}

/// Returns a parameter that observations determine where the model does not write it (as the total of a Multinomial),
/// or null.
const math::Spelling* left_out(const Statement& s) {
  for (const math::Spelling& spelling : s.main.family->spellings) {
    const auto writes_it = [&](const Parameter& p) { return p.spelling->canonical == spelling.canonical; };
    if (spelling.optional && std::ranges::none_of(s.main.parameters, writes_it)) return &spelling;
  }
  return nullptr;
}

/// Returns an error if missing observations have no distribution given the rest: they are in a potential, need a
/// parameter that only they have, or others depend on them.
std::optional<Error> no_distribution(const Model& m, const BoundData& data) {
  const auto is_missing = [&](VariableId v) {
    return data.observed[v.index()].has_missing && !data.clamped[v.index()];
  };
  for (const Potential& p : m.potentials)
    for (const VariableRef* ref : references_under(m, {p.value}))
      if (is_missing(ref->variable))
        return Error{ExitCode::model,
                     "",
                     fmt::format("'{}' is in a potential: its density has no known normaliser", m[ref->variable].name),
                     {"what is missing can be predicted where the model has it drawn from a distribution alone"}};
  for (const Statement& s : m.statements) {
    const math::Spelling* total = left_out(s);
    if (total && data.observed[s.variable.index()].has_missing)
      return Error{ExitCode::model,
                   "",
                   fmt::format("'{}' is missing, and nothing gives its '{}'", m[s.variable].name, total->name),
                   {fmt::format("write '{}' in the model: {}({} = ..., ...)", total->name,
                                as_written(s.main).family->name, total->name)}};
  }
  for (const Statement& s : m.statements)
    for (const VariableRef* ref : references_under(m, roots_of(s)))
      if (is_missing(ref->variable))
        return Error{ExitCode::data,
                     option("data"),
                     fmt::format("'{}' is missing, but '{}' depends on it", m[ref->variable].name, m[s.variable].name),
                     {fmt::format("give '{}' its values", m[ref->variable].name)}};
  return std::nullopt;
}

/// Gives elements without an observation the multiplicity 0, so that variables that only they depend on say nothing
/// about the item. Chains keep all elements, since each leads to the next.
Model without_missing_elements(const Model& m, BoundData& data) {
  const auto is_chain = [](const Statement& s) { return s.lagged.has_value(); };
  if (std::ranges::any_of(m.statements, is_chain)) return m;
  Model out = with_counted_elements(m, data);
  for (std::size_t k = 0; k < out.variables.size(); ++k) {
    const Variable& v = out.variables[k];
    const Plate* p = v.observed && !data.clamped[k] && data.observed[k].has_missing ? times_plate(out, v) : nullptr;
    const auto on_plate = [&](const Variable& x) {
      return x.observed && p && std::ranges::find(x.axes, p->set) != x.axes.end();
    };
    if (!p || v.axes.back() != p->set || out[*p->times].axes != v.axes ||
        std::ranges::count_if(out.variables, on_plate) != 1)
      continue;
    std::vector<double>& copies = data.givens[p->times->index()].values;
    const std::vector<double>& x = data.observed[k].values;
    const std::size_t width = copies.empty() ? 1 : x.size() / copies.size();
    for (std::size_t e = 0; e < copies.size(); ++e)
      if (std::isnan(x[e * width])) copies[e] = 0;
  }
  return out;
}

/// Returns the factors of all latent variables: those of the fit (`global`), and inferred ones of the items. Adds masks
/// of barren elements to `data`.
Result<std::vector<NamedArray>> factors(const Model& model, const density::ExpandOptions& expand,
                                        const Analysed& analysed, BoundData& data, const Masks& masks,
                                        const std::vector<NamedArray>& global, const SavedFit& fit,
                                        const ItemInference& how, const PredictionOptions& options,
                                        ItemSolution& found) {
  const Model& m = analysed.model;
  bool some_local = false;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    some_local = some_local || (is_latent(v) && is_local(analysed, VariableId(k)));
  }
  if (!some_local) return global;
  loops::LowerOptions lower;
  lower.save_locals = true;
  lower.item_starts = how.starts > 1;
  std::optional<CentredModel> moved = options.part ? std::nullopt : centre_model(model, data);
  Diagnostics diagnostics;
  const std::optional<Analysed> about = moved ? analyse(moved->model, expand, diagnostics) : std::nullopt;
  if (about) add_masks(about->model, masks, moved->data);
  add_masks(analysed.model, masks, data);
  Result<std::unique_ptr<Instance>> instance =
      options.instance(about ? *about : analysed, about ? moved->data : data, lower);
  if (!instance) return instance.error();
  if (about) (*instance)->set_offsets(moved->references);
  if (const auto r = (*instance)->start(options.seed, 0, StartKind::means); !r) return r.error();
  if (Result<bool> r = (*instance)->set(global, kPosteriorFile); !r) return r.error();
  const Result<ItemSolution> solved =
      solve_items(**instance, about ? *about : analysed, about ? moved->data : data, fit, how);
  if (!solved) return solved.error();
  found = *solved;
  return (*instance)->posterior(true);
}

/// Marks a variable as having missing values if any item of the whole data misses one, so that each part is analysed
/// alike.
std::optional<Error> as_among_all(const Model& m, PlateId items, const PartOfItems& part, BoundData& data) {
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    if (!v.observed || v.auxiliary) continue;
    data.observed[k].has_missing = part.whole.observed[k].has_missing;
    if (data.observed[k].has_missing && !lies_on_plate(m, v.axes, items))
      return Error{ExitCode::data,
                   option("stream"),
                   fmt::format("'{}' does not lie on '{}', but values of it are missing", v.name, m[items].name),
                   {"what is predicted a few items at a time has elements by item"}};
  }
  return std::nullopt;
}

/// Removes the names of items, by which binding would order them.
void leave_out_names(const Model& m, EnlargedData& data) {
  for (const auto& [plate, names] : data.named_items)
    data.settings.labels.erase(m[plate].name);
  data.named_items.clear();
}

/// Returns true if something is observed of an element of the plate, or may be through a nested plate.
bool is_observed(const Model& m, const BoundData& data, PlateId plate, std::size_t element) {
  const auto n = static_cast<std::size_t>(data.sizes[plate.index()]);
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const std::vector<double>& x = data.observed[k].values;
    if (!v.observed || !lies_on_plate(m, v.axes, plate)) continue;
    if (m[v.axes[0]].set != plate || n == 0 || x.size() % n != 0) return true;
    const auto own = std::span(x).subspan(element * (x.size() / n), x.size() / n);
    if (std::ranges::any_of(own, [](double value) { return !std::isnan(value); })) return true;
  }
  return false;
}

/// Warns of items that the fit knows by name, but of which nothing is observed here.
void warn_of_unobserved_names(const std::map<PlateId, ItemLabels>& named, Prediction& to) {
  const Model& m = to.analysed.model;
  for (const auto& [plate, names] : named) {
    std::size_t k = 0;
    while (k < names.of_fit && is_observed(m, to.data, plate, k))
      ++k;
    if (k == names.of_fit) continue;
    const std::string& label = names.labels[k];
    to.notes.push_back(make_warning(
        fmt::format("nothing is observed here of {} '{}', which the fit knows: it is predicted as a new one",
                    m[plate].name, printable(label, label.size())),
        {"items are inferred from the data of this prediction: give what was observed of them"}));
  }
}

/// Returns an error if the model reads an item by its number, and the data lack some that the fit names: the numbers of
/// others are then not those of the fit.
std::optional<Error> reads_by_number(const std::map<PlateId, ItemLabels>& named, const Prediction& to) {
  const Model& m = to.model;
  for (const auto& [plate, names] : named) {
    const auto is_number = [&, plate = plate](const Index& index) {
      return index.set == plate && std::holds_alternative<Index::Constant>(index.form);
    };
    const auto reads_number = [&](ExprId id) {
      const auto* variable = std::get_if<VariableRef>(&m[id].node);
      const auto* given = std::get_if<GivenRef>(&m[id].node);
      return (variable && std::ranges::any_of(variable->indices, is_number)) ||
             (given && std::ranges::any_of(given->indices, is_number));
    };
    for (const Statement& s : m.statements)
      if (!names.absent.empty() && std::ranges::any_of(nodes_under(m, roots_of(s)), reads_number))
        return Error{ExitCode::data,
                     option("data"),
                     fmt::format("the model reads elements of '{}' by number, and the data do not have '{}'",
                                 m[plate].name, printable(names.absent, names.absent.size())),
                     {fmt::format("give all elements of '{}' that the fit has", m[plate].name)}};
  }
  return std::nullopt;
}

/// Adds a note for gaps of observed variables that the fit itself has inferred.
void point_to_the_fit(Prediction& to) {
  const Model& m = to.analysed.model;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const auto is_it = [&](const PredictedVariable& p) { return to.model[p.variable].name == m.variables[k].name; };
    if (m.variables[k].clamped && !is_local(to.analysed, VariableId(k)) && std::ranges::none_of(to.variables, is_it))
      to.notes.push_back(
          make_note(fmt::format("gaps of '{}' belong to the fit, whose posterior has them", m.variables[k].name)));
  }
}

}  // namespace

std::size_t PredictedVariable::most_probable(std::size_t element) const {
  const auto begin = mean.begin() + static_cast<std::ptrdiff_t>(element * width);
  return static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(width)) - begin);
}

Result<Prediction> predict(const Source& source, const Model& resolved, const Analysed& complete,
                           const Dataset& dataset, const PlateSizes& sizes, const SavedFit& fit,
                           const PredictionOptions& options) {
  if (is_sampled(fit))
    return Error{
        ExitCode::data,
        fit.directory,
        "predictions are made from the factors of a variational fit, and this one was sampled",
        {fmt::format("fit the model by another method; {} has posterior predictive draws of the data themselves",
                     kDrawsFile)}};
  Result<EnlargedData> grown = enlarge_plates(complete, dataset, sizes, fit);
  if (!grown) return grown.error();
  // Parts of the items keep the order of the file.
  if (options.part) leave_out_names(complete.model, *grown);
  Prediction out;
  out.items = plate_of_items(complete);
  Settings settings = grown->settings;
  if (options.part) {
    settings.subset_plate = out.items;
    settings.first = out.first = options.part->first;
  }
  Result<BoundData> data = bind_with_missing(complete.model, grown->data, settings);
  if (!data) return data.error();
  if (options.part)
    if (std::optional<Error> e = as_among_all(complete.model, *out.items, *options.part, *data)) return *e;
  if (std::optional<Error> e = no_distribution(resolved, *data)) return *e;
  ItemInference how{options.local, options.starts, options.seed, out.first};
  how.digests = item_digests(complete, complete.model, *data);
  how.on_start = options.on_start;
  out.data = std::move(*data);
  const Model model = without_missing_elements(resolved, out.data);
  const Masks masks = item_masks(complete.schedule, find_barren(model, out.data, out.items));
  density::ExpandOptions expand = with_masks(expand_options(out.data), masks);
  if (options.part)
    for (const VariableId v : options.part->with_barren)
      expand.may_be_missing[v.index()] = true;
  Diagnostics diagnostics;
  std::optional<Analysed> analysed = analyse(model, expand, diagnostics);
  if (!analysed)
    return Error{ExitCode::model, source.name, "the model is not well:\n" + render_tested(diagnostics, source), {}};
  out.analysed = std::move(*analysed);
  out.data.observed.resize(out.analysed.model.variables.size());
  out.notes = grown->notes;
  if (!options.part) std::ranges::copy(out.data.warnings, std::back_inserter(out.notes));
  warn_of_unobserved_names(grown->named_items, out);
  const EnlargedFactors global = enlarge_factors(out.analysed, out.data, fit);
  Result<std::vector<NamedArray>> posterior =
      factors(model, expand, out.analysed, out.data, masks, global.arrays, fit, how, options, out.items_found);
  if (!posterior) return posterior.error();
  out.without_lets = resolved.variables.size();
  out.model = with_lets(source, resolved, out.analysed.model, options.part ? options.part->whole : out.data, out.notes);
  if (std::optional<Error> e = reads_by_number(grown->named_items, out)) return *e;
  if (options.part)
    if (std::optional<Error> e = reads_other_items(source, out.model, *out.items)) return *e;
  out.data = with_missing_lets(resolved, out.model, std::move(out.data));
  if (std::optional<Error> e = add_predicted_values(out, by_variable(*posterior), global.in_fit, options)) return *e;
  point_to_the_fit(out);
  return out;
}

}  // namespace lehr
