// Splits the observations of items, infers the local variables from what is left, and adds up log densities. The split
// depends on the seed and the number of each item, so that scores of different fits compare the same observations.
#include "compiler/score/held_out.h"
#include "compiler/evaluate/dependence.h"
#include "compiler/fit/fitting.h"
#include "compiler/model/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "compiler/advice.h"
#include "compiler/instance/barren.h"
#include "compiler/model/roles.h"
#include "compiler/posterior/moments.h"
#include "compiler/score/gaussian_chains.h"
#include "runtime/inference/cavi.h"
#include "runtime/output/fit_files.h"

namespace lehr {
namespace {

using namespace model;

/// Several chains of categories are summed over together if they have at most this many combined values.
constexpr std::size_t kMaxSummedStates = 256;

/// Returns the probabilities of the values of discrete elements, from their means: of a bit 0 and 1, of a spin -1 and
/// +1.
std::vector<double> beliefs(const Variable& v, std::vector<double> mean) {
  if (v.support == math::Support::category) return mean;
  std::vector<double> out;
  for (const double x : mean) {
    const double one = v.support == math::Support::spin ? 0.5 * (1 + x) : x;
    out.push_back(1 - one);
    out.push_back(one);
  }
  return out;
}

}  // namespace

Settings fitted_settings(const Analysed& analysed, const BoundData& data) {
  const Model& m = analysed.model;
  SavedFit fit;
  for (std::size_t k = 0; k < m.constants.size(); ++k)
    fit.constants[m.constants[k].name] = {data.constants[k]};
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    fit.sizes[m.plates[k].name] = data.sizes[k];
    if (!data.labels[k].empty()) fit.labels[m.plates[k].name] = data.labels[k];
  }
  fit.rows = referenced_rows(m, data);
  fit.words = data.words;
  return fitted_settings(analysed, fit);
}

Settings fitted_settings(const Analysed& analysed, const SavedFit& fit) {
  const Model& m = analysed.model;
  const schedule::Schedule& schedule = analysed.schedule;
  Settings out;
  out.words = fit.words;
  for (const Constant& c : m.constants) {
    const auto it = fit.constants.find(c.name);
    if (it != fit.constants.end() && it->second.size() == 1) out.constants[c.name] = it->second[0];
  }
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const conditionals::BlockId b = schedule.conditionals.block_of[k];
    if (!is_latent(v) || !b.valid() || schedule.stage_of[b.index()]) continue;
    std::vector<PlateId> plates = v.axes;
    plates.insert(plates.end(), v.event.begin(), v.event.end());
    if (v.value_plate) plates.push_back(*v.value_plate);
    for (const PlateId p : plates) {
      const Plate& plate = m[m[p].set];
      if (const auto it = fit.rows.find(plate.name); it != fit.rows.end()) out.rows[plate.name] = it->second;
      if (plate.parent) continue;
      if (const auto it = fit.sizes.find(plate.name); it != fit.sizes.end()) out.sizes[plate.name] = it->second;
      if (const auto it = fit.labels.find(plate.name); it != fit.labels.end()) out.labels[plate.name] = it->second;
      else out.unnamed.insert(plate.name);
    }
  }
  return out;
}

void HeldOut::set_clamped_values(ModelEvaluator& forward) const {
  for (std::size_t k = 0; k < model().variables.size(); ++k) {
    if (model().variables[k].clamped)
      std::ranges::copy(data_.observed[k].values, forward.values(VariableId(k)).begin());
  }
}

std::optional<Error> HeldOut::split_items(const HeldOutOptions& options) {
  const Model& m = model();
  ModelEvaluator forward(m, data_);
  set_clamped_values(forward);
  // The observations by item, or all under 0 if nothing is held out.
  std::map<std::int64_t, std::vector<Observation>> items;
  for (std::size_t k = 0; k < m.statements.size(); ++k) {
    const Statement& s = m.statements[k];
    if (!has_data(m[s.variable])) continue;
    std::optional<IndexVarId> item;
    if (completion_) {
      for (const schedule::Step& step : analysed_.schedule.steps) {
        const auto* stage = std::get_if<schedule::ItemStage>(&step);
        for (const IndexVarId b : s.index_vars) {
          if (stage && m[b].plate == stage->item) item = b;
        }
      }
      if (!item)
        return score_error(
            fmt::format("'{}' does not lie on the items: what of it to hold out is not defined", m[s.variable].name));
    }
    IndexValues at = forward.origin();
    forward.each(s.index_vars, at, [&] {
      const Element e = forward.element(s, at);
      const double copies = multiplicity_of(m, data_, s, at);
      const auto is_observed = [](double x) { return !std::isnan(x); };
      if (copies > 0 && std::ranges::any_of(std::as_const(forward).values(e), is_observed))
        items[item ? at[item->index()] : 0].push_back({StatementId(k), e, copies});
    });
  }
  training_data_ = data_;
  // Everything is scored, and nothing is held out.
  if (!completion_) {
    for (auto& [item, observations] : items)
      scored_ = std::move(observations);
    return std::nullopt;
  }
  for (auto& [item, observations] : items) {
    std::vector<std::int64_t> copies;
    if (std::ranges::any_of(observations, [](const Observation& o) { return o.copies != std::floor(o.copies); }))
      return score_error("observations with weights that are no whole numbers cannot be split");
    for (std::size_t k = 0; k < observations.size(); ++k)
      // An observation with multiplicity n is n copies, each of which may be held out.
      copies.insert(copies.end(), static_cast<std::size_t>(observations[k].copies), static_cast<std::int64_t>(k));
    // The split of an item depends on the seed and its number alone, so that parts of the data are split as all are.
    Rng rng(options.seed, static_cast<std::uint64_t>(options.first + item));
    shuffle(rng, copies);
    // The small addition keeps, say, 0.29 * 100 from being rounded down to 28.
    const auto held = static_cast<std::size_t>(std::floor(fraction_ * static_cast<double>(copies.size()) + 1e-9));
    std::vector<double> out(observations.size(), 0.0);
    for (std::size_t k = 0; k < held; ++k)
      ++out[static_cast<std::size_t>(copies[k])];
    for (std::size_t k = 0; k < observations.size(); ++k) {
      if (out[k] == 0) continue;
      const Element e = observations[k].element;
      scored_.push_back({observations[k].statement, e, out[k]});
      // An observation with a multiplicity loses the held-out copies; any other becomes missing.
      if (const Plate* p = times_plate(m, m[e.variable])) {
        training_data_.givens[p->times->index()].values[e.position] -= out[k];
        continue;
      }
      const std::size_t width = forward.width(e.variable);
      BoundArray& a = training_data_.observed[e.variable.index()];
      std::fill_n(a.values.begin() + static_cast<std::ptrdiff_t>(e.position * width), width, std::nan(""));
      a.has_missing = true;
    }
  }
  std::sort(scored_.begin(), scored_.end(),
            [](const Observation& a, const Observation& b) { return a.element < b.element; });
  return std::nullopt;
}

/// A size stays if other latent variables that matter for observations lie on the plate.
Settings HeldOut::without_chain(Settings settings) const {
  if (chains_.empty()) return settings;
  const std::vector<bool> reaches = ancestors_of_data();
  for (const PlateId p : model()[chains_[0]].axes) {
    bool others = false;
    for (std::size_t k = 0; k < model().variables.size(); ++k) {
      const Variable& v = model().variables[k];
      if (is_chain(VariableId(k)) || v.observed || v.auxiliary || !reaches[k]) continue;
      others = others || std::ranges::find(v.axes, p) != v.axes.end();
    }
    if (others) continue;
    settings.sizes.erase(model()[p].name);
    settings.labels.erase(model()[p].name);
  }
  return settings;
}

Result<std::unique_ptr<HeldOut>> HeldOut::make(const Source& source, const Model& resolved, const Analysed& complete,
                                               const Dataset& dataset, const Settings& settings,
                                               const HeldOutOptions& options) {
  std::unique_ptr<HeldOut> out(new HeldOut());
  const auto analyse_anew = [&](const Model& m, const density::ExpandOptions& expand) -> std::optional<Error> {
    Diagnostics diagnostics;
    std::optional<Analysed> analysed = analyse(m, expand, diagnostics);
    if (!analysed)
      return Error{ExitCode::model, source.name, "the model is not well:\n" + render_tested(diagnostics, source), {}};
    out->set(std::move(*analysed));
    return std::nullopt;
  };
  out->set(complete);
  if (auto e = out->classify()) return *e;
  Result<BoundData> data = lehr::bind(out->analysed_.model, dataset, out->without_chain(settings));
  if (!data) return data.error();
  out->data_ = std::move(*data);
  out->integrate_missing_entries();
  // Variables of which the data have some values are latent: the model is analysed anew.
  if (std::ranges::count(out->data_.clamped, true) > 0) {
    if (auto e = analyse_anew(resolved, expand_options(out->data_))) return *e;
    out->data_.observed.resize(out->model().variables.size());
    if (auto e = out->classify()) return *e;
    if (auto e = out->cannot_clamp()) return *e;
  }
  if (!out->completion_ && options.fraction)
    return score_error("nothing is held out: the local variables are summed out, and every observation is scored",
                       {"leave out " + option("holdout") +
                        ": it is for models whose items have continuous variables, such as the topics of "
                        "a document"});
  out->fraction_ = options.fraction.value_or(0.5);
  out->seed_ = options.seed;
  std::tie(out->per_item_, out->temperatures_, out->probabilities_) =
      std::tie(options.per_item, options.temperatures, options.probabilities);
  out->inference_options_ = {options.local, options.starts, options.seed, options.first};
  out->inference_options_.digests = item_digests(complete, complete.model, out->data_);
  out->inference_options_.on_start = options.on_start;
  out->fit_.items = options.items;
  std::optional<Model> counted;
  if (out->completion_) {
    counted = with_counted_elements(resolved, out->data_);
    if (auto e = analyse_anew(*counted, {})) return *e;
    if (auto e = out->cannot_hold_out()) return *e;
  }
  if (auto e = out->split_items(options)) return *e;
  if (!out->completion_ && out->scored_.empty() && std::ranges::none_of(resolved.variables, &Variable::observed))
    return score_error("of latent variables, known by their limits or not, there is no score");
  const auto has_elements = [](const BoundArray& a) { return !a.values.empty(); };
  if (std::ranges::none_of(out->data_.observed, has_elements)) return out;  // of no items
  if (!out->completion_ && out->scored_.empty())
    return Error{ExitCode::data, "", "nothing is observed in these data: there is no score", {}};
  if (!out->completion_) return out;
  if (out->scored_.empty()) return score_error("no item has enough observations to hold one out");
  const density::ExpandOptions expand = expand_options(out->training_data_);
  // The inference and the score use the same references, so scored data are centred as the others are.
  std::optional<CentredModel> moved = centre_model(*counted, out->training_data_);
  if (moved) {
    out->training_data_ = std::move(moved->data);
    for (std::size_t k = 0; k < moved->references.size(); ++k)
      if (const auto* from = centring_offset_of(moved->references, VariableId(k)))
        add_centring_offset(out->data_.observed[k].values, *from, -1);
  }
  // Holding out observations may leave barren elements.
  const Masks masks = item_masks(complete.schedule, find_barren(*counted, out->training_data_));
  if (auto e = analyse_anew(moved ? moved->model : *counted, with_masks(expand, masks))) return *e;
  add_masks(out->model(), masks, out->training_data_);
  for (std::size_t k = out->data_.givens.size(); k < out->training_data_.givens.size(); ++k)
    out->data_.givens.push_back(out->training_data_.givens[k]);
  // Local factors are saved if their probabilities are needed for sums.
  bool beliefs_of_items = false;
  for (std::size_t v = 0; v < out->summed_.size(); ++v)
    beliefs_of_items =
        beliefs_of_items || (out->summed_[v].by == Summation::given_probabilities && out->is_local(VariableId(v)));
  Result<std::unique_ptr<Instance>> made = options.instance(
      out->analysed_, out->training_data_, {.save_locals = beliefs_of_items, .item_starts = options.starts > 1});
  if (!made) return made.error();
  out->instance_ = std::move(*made);
  if (moved) out->instance_->set_offsets(std::move(moved->references));
  return out;
}

Result<Score> HeldOut::score(const std::vector<NamedArray>& posterior) {
  const Model& m = model();
  if (scored_.empty()) return Score{};
  // Only global factors are used; local ones are inferred.
  std::vector<NamedArray> arrays;
  for (const NamedArray& a : posterior) {
    const std::string name = a.name.substr(0, a.name.rfind('.'));
    for (std::size_t v = 0; v < m.variables.size(); ++v) {
      if (m.variables[v].name == name && (!m.variables[v].auxiliary || is_joint(m.variables[v])) &&
          !is_local(VariableId(v)))
        arrays.push_back(a);
    }
  }
  if (!instance_) return sum_up(arrays);
  if (const auto r = instance_->start(seed_, 0, StartKind::means); !r) return r.error();
  if (Result<bool> r = instance_->set(arrays, kPosteriorFile); !r) return r.error();
  const Result<ItemSolution> solved = solve_items(*instance_, analysed_, training_data_, fit_, inference_options_);
  if (!solved) return solved.error();
  Result<Score> out = sum_up(instance_->posterior(true, LocationOrigin::reference));
  if (out) out->items = *solved;
  return out;
}

/// A sequence without elements has the density 0.
std::vector<double> HeldOut::by_row(const ModelEvaluator& forward,
                                    const std::vector<SequenceDensity>& sequences) const {
  if (sequences.empty()) return {};
  const Statement& s = model()[model()[chains_[0]].statement];
  const std::vector<IndexVarId> row_vars = item_vars(s);
  const auto size = [&](IndexVarId b) { return static_cast<std::size_t>(data_.sizes[model()[b].plate.index()]); };
  std::size_t n = 1;
  for (const IndexVarId b : row_vars)
    n *= size(b);
  std::vector<double> out(n, 0.0);
  for (const SequenceDensity& d : sequences) {
    const IndexValues at = forward.at({chains_[0], d.first});
    std::size_t row = 0;
    for (const IndexVarId b : row_vars)
      row = row * size(b) + static_cast<std::size_t>(at[b.index()]);
    out[row] = d.log_density;
  }
  return out;
}

Result<Score> HeldOut::log_density(ModelEvaluator& forward, std::vector<SummedVariable> summed) const {
  const Model& m = model();
  const bool continuous = !chains_.empty() && !is_discrete(m[chains_[0]].support);
  // By StatementId: true if the statement depends on a Gaussian chain. Its observations are scored by the Kalman
  // filter.
  std::vector<bool> follows;
  for (const Statement& s : m.statements) {
    const std::vector<bool> above = ancestors(m, s);
    follows.push_back(continuous && std::ranges::any_of(chains_, [&](VariableId c) { return above[c.index()]; }));
  }
  std::size_t states = 1;
  for (const VariableId c : chains_)
    if (!continuous && states <= kMaxSummedStates) states *= forward.states(c);
  if (chains_.size() > 1 && states > kMaxSummedStates)
    return score_error(fmt::format("{} have more than {} values together", chain_names(), kMaxSummedStates));
  std::vector<Observation> of_chain, others;
  for (const Observation& o : scored_)
    (follows[o.statement.index()] ? of_chain : others).push_back(o);
  Score out;
  std::vector<SequenceDensity> sequences;
  if (continuous) {
    const bool one = chains_.size() == 1;
    const std::optional<std::vector<SequenceDensity>> filtered = kalman_log_densities(forward, chains_, of_chain);
    if (!filtered)
      return score_error(
          fmt::format("{} {} no score: with all else at its mean {} and the observations of {} must be "
                      "Normal, with means that are linear in one step",
                      chain_names(), one ? "has" : "have", one ? "it" : "they", one ? "it" : "them"));
    sequences = *filtered;
    for (const SequenceDensity& d : sequences)
      out.total += d.log_density;
  }
  MarginalDensity marginal(forward, std::move(summed), true);
  out.total += marginal.log_density(others);
  out.error = marginal.error();
  if (const auto& sum = marginal.too_large()) return sum_too_large(m, *sum);
  if (const auto& e = marginal.refused())
    return score_error(
        fmt::format("'{}' depends on more of the chain {} than an element and the one before it, or on "
                    "something that another observation or transition depends on too",
                    m[e->variable].name, chain_names()));
  out.sequences = by_row(forward, continuous ? sequences : marginal.sequences());
  if ((per_item_ || !temperatures_.empty()) && !std::isnan(out.total)) {
    Result<ItemScores> items =
        temperatures_.empty() ? score_items(forward, marginal, out) : score_at_temperatures(forward, marginal);
    if (!items) return items.error();
    out.total = temperatures_.empty() ? out.total : std::accumulate(items->density.begin(), items->density.end(), 0.0);
    if (per_item_) out.by_item = std::move(*items);
  }
  if (!std::isnan(out.total)) return out;
  return Error{ExitCode::numerical,
               "",
               "the score is not a number",
               {"a parameter has no posterior mean, or one outside its domain"}};
}

Result<Score> HeldOut::sum_up(const std::vector<NamedArray>& posterior) {
  const Model& m = model();
  ModelEvaluator forward(m, data_);
  set_clamped_values(forward);
  std::vector<SummedVariable> summed = summed_;
  const std::map<std::string, SavedVariable> saved = by_variable(posterior);
  const std::vector<bool> reaches = ancestors_of_data();
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const bool needed = !is_discrete(v.support) || summed[k].by == Summation::given_probabilities;
    if (v.observed || v.auxiliary || !needed || !reaches[k] || is_chain(VariableId(k))) continue;
    const auto it = saved.find(v.name);
    const conditionals::Conditionals& c = analysed_.schedule.conditionals;
    const std::optional<Moments> mean =
        it == saved.end() ? std::nullopt : moments(conditionals::family_of(m, c, VariableId(k)), it->second, nullptr);
    if (!mean) return Error{ExitCode::data, kPosteriorFile, fmt::format("there is no mean of '{}' in it", v.name), {}};
    std::vector<double> values = is_discrete(v.support) ? beliefs(v, mean->mean) : mean->mean;
    // A continuous element has its numbers, a discrete one a probability for each value.
    const std::size_t per_element = !is_discrete(v.support) ? forward.width(VariableId(k))
                                    : v.value_plate         ? forward.extent(VariableId(k))
                                                            : 2;
    if (values.size() != per_element * forward.elements(VariableId(k))) {
      return Error{ExitCode::data,
                   kPosteriorFile,
                   fmt::format("'{}' has {} numbers there, but {} with these data", v.name, values.size(),
                               per_element * forward.elements(VariableId(k))),
                   {"what the fit knows nothing of cannot be scored"}};
    }
    if (is_discrete(v.support)) summed[k].given_probabilities = std::move(values);
    else std::copy(values.begin(), values.end(), forward.values(VariableId(k)).begin());
  }
  Result<Score> out = log_density(forward, std::move(summed));
  if (!out) return out;
  for (const Observation& o : scored_)
    out->observations += o.copies;
  return out;
}

std::vector<NamedArray> HeldOut::split() const {
  const Model& m = model();
  ModelEvaluator forward(m, data_);
  std::map<VariableId, NamedArray> arrays;
  for (const Observation& o : scored_) {
    NamedArray& a = arrays[o.element.variable];
    if (a.values.empty()) {
      const std::size_t n = forward.elements(o.element.variable);
      a = {m[o.element.variable].name, {static_cast<std::int64_t>(n)}, std::vector<double>(n, 0.0), true};
    }
    a.values[o.element.position] = o.copies;
  }
  std::vector<NamedArray> out;
  for (auto& [v, a] : arrays)
    out.push_back(std::move(a));
  return out;
}

}  // namespace lehr
