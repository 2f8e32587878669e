// Perturbs a fit number by number. Each number x gets a potential t * T(x) for the statistics T of its factor; t is
// data, 0 except while x is perturbed. So one compiled model serves all perturbations.
//
//   potential pull[k] * mu[k];   with pull[k] = +t, then -t, then 0
#include "compiler/diagnose/linear_response.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/diagnose/perturbation_direction.h"
#include "compiler/evaluate/packed.h"
#include "compiler/instance/barren.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/moments.h"
#include "runtime/output/fit_files.h"

namespace lehr {
namespace {

using namespace model;
using conditionals::Block;

/// The perturbation: how far the mean moves in standard deviations of the factor, if the others stay.
constexpr double kPerturbation = 0.01;

/// A variable that is perturbed.
struct PerturbedVariable {
  VariableId variable;            // the variable
  const math::FamilyRow* family;  // of its factor
  std::vector<GivenId> givens;    // the multipliers of its statistics; one if the value is a statistic itself
  bool direct = true;             // true if the value is a statistic itself
};

/// Returns true if the statistic is the value itself, or an entry of it.
bool is_value(const math::StatisticRow& r) {
  return r.stat == math::Stat::value || r.stat == math::Stat::comp || r.stat == math::Stat::entry;
}

/// Returns true if a potential of the language can contain the statistic.
bool can_be_written(const math::StatisticRow& r) {
  using math::Stat;
  return is_value(r) || r.stat == Stat::log || r.stat == Stat::log1m || r.stat == Stat::inverse ||
         r.stat == Stat::inverse_square || r.stat == Stat::square || r.stat == Stat::log_comp;
}

/// Returns why the numbers of a block cannot be perturbed; an empty string if they can.
std::string why_not_perturbed(const Block& b, const math::FamilyRow& family) {
  if (is_discrete(family.support)) return "its values are discrete";
  if (b.point) return "its factor is a point";
  if (b.chain) return "its factor is a chain's";
  if (b.family->support == math::Support::scaled) return "its factor is a joint one with its precision";
  if (b.mean) return "its factor is a joint one of a mean and its precision";
  const std::vector<math::StatisticRow>& all = family.factor->statistics;
  if (std::ranges::none_of(all, is_value) && !std::ranges::all_of(all, can_be_written))
    return "its value is no statistic of its factor";
  return "";
}

/// Adds an expression to the model.
ExprId add(Model& m, auto node) {
  m.exprs.push_back({std::move(node), {}, std::nullopt, {}});
  return ExprId(m.exprs.size() - 1);
}

/// Returns an expression for a statistic of the element that `value` refers to.
ExprId statistic(Model& m, math::Stat s, ExprId value) {
  using math::Stat;
  const auto one = [&] { return add(m, Number{1}); };
  const auto log = [&](ExprId x) { return add(m, Apply{Function::log, x}); };
  if (s == Stat::log || s == Stat::log_comp) return log(value);
  if (s == Stat::log1m) return log(add(m, Binary{BinaryOp::subtract, one(), value}));
  if (s == Stat::square) return add(m, Binary{BinaryOp::multiply, value, value});
  if (s == Stat::inverse) return add(m, Binary{BinaryOp::divide, one(), value});
  if (s == Stat::inverse_square)
    return add(m, Binary{BinaryOp::divide, one(), add(m, Binary{BinaryOp::multiply, value, value})});
  return value;
}

/// Adds a potential: the sum over all elements and event indices of a multiplier times the statistic. Returns the
/// multipliers, which are 0 in the data.
GivenId pull(Model& m, BoundData& data, VariableId id, math::Stat stat) {
  const Variable v = m[id];
  const GivenType type = v.event.empty() ? GivenType::real : v.event.size() > 1 ? GivenType::matrix : GivenType::vector;
  Given g{fmt::format("pull of {} {}", v.name, m.givens.size()), v.span, v.axes, v.event, type, {}, true};
  double count = 1;
  for (const std::int64_t n : stored_shape(m, data, v.axes, v.event))
    count *= static_cast<double>(n);
  Potential p;
  p.span = v.span;
  std::vector<Index> indices;
  const auto along = [&](PlateId plate) {
    const bool nested = m[m[plate].set].parent && !p.index_vars.empty();
    const IndexVarId b(m.index_vars.size());
    m.index_vars.push_back({m[plate].name, m[plate].set, nested ? std::optional(p.index_vars.back()) : std::nullopt});
    p.index_vars.push_back(b);
    indices.push_back({Index::Shifted{b, 0}, m[plate].set, v.span});
  };
  std::ranges::for_each(v.axes, along);
  std::ranges::for_each(v.event, along);
  const GivenId given(m.givens.size());
  const ExprId left = add(m, GivenRef{given, indices});
  const ExprId right = statistic(m, stat, add(m, VariableRef{id, indices}));
  p.value = add(m, Binary{BinaryOp::multiply, left, right});
  m.givens.push_back(std::move(g));
  m.potentials.push_back(std::move(p));
  data.givens.push_back({std::vector<double>(static_cast<std::size_t>(count), 0.0), false});
  return given;
}

/// Adds the potentials for one variable: for its value, or for all statistics of its factor.
PerturbedVariable perturb_all(Model& m, BoundData& data, VariableId id, const math::FamilyRow& family) {
  PerturbedVariable out{id, &family, {}};
  const std::vector<math::StatisticRow>& all = family.factor->statistics;
  const auto value = std::ranges::find_if(all, is_value);
  out.direct = value != all.end();
  if (out.direct) out.givens = {pull(m, data, id, value->stat)};
  else
    for (const math::StatisticRow& r : all)
      out.givens.push_back(pull(m, data, id, r.stat));
  return out;
}

/// Returns the exported parameters of one element.
math::Environment element_of(const math::Factor& f, const SavedVariable& v, std::size_t element, std::size_t extent) {
  math::Environment out;
  out.extent = extent;
  for (const math::FactorParameter& p : f.parameters) {
    const NamedArray* a = p.exported ? v.find(p.name) : nullptr;
    if (!a) continue;
    const std::size_t n = p.event_rank == 0 ? 1 : p.event_rank == 1 ? extent : extent * extent;
    const auto from = a->values.begin() + static_cast<std::ptrdiff_t>(element * n);
    out.symbols[p.name] = {p.event_rank, {from, from + static_cast<std::ptrdiff_t>(n)}};
  }
  return out;
}

/// The compiled model with potentials, at the solution.
class PerturbedFits {
 public:
  PerturbedFits(const Analysed& analysed, BoundData data, Instance& instance, const CaviOptions& ascent)
      : analysed_(analysed), data_(std::move(data)), instance_(instance), ascent_(ascent) {}

  /// Runs coordinate ascent from the current factors; returns true if it converged.
  bool converge() {
    const Outcome out = run_cavi(instance_.engine(), ascent_, [](const SweepReport&) { return true; });
    return out.status == Status::converged;
  }

  /// Returns the current means and sds of a variable.
  std::optional<Moments> current_moments(const PerturbedVariable& p) const {
    const auto all = by_variable(instance_.posterior(false));
    const auto v = all.find(analysed_.model[p.variable].name);
    return v == all.end() ? std::nullopt : moments(*p.family, v->second, nullptr);
  }

  /// Returns the variance of number k by linear response: the response of its mean, plus the part of the factor's
  /// variance that the statistics do not explain. NaN if a fit fails or there is no direction.
  double variance(const PerturbedVariable& p, const Moments& m, std::size_t k, std::int64_t& unconverged) {
    const double own = m.sd[k] * m.sd[k];
    const std::optional<PerturbationDirection> to = direction(p, m, k);
    if (!to || !std::isfinite(own)) return std::nan("");
    return own - to->explained + response(p, m, *to, k, unconverged);
  }

 private:
  /// Returns the extent of the event axis.
  static std::size_t extent(const Moments& m) { return m.event.empty() ? 1 : static_cast<std::size_t>(m.event.back()); }
  /// Returns how many numbers an element has.
  static std::size_t width(const Moments& m) { return m.event.size() > 1 ? extent(m) * extent(m) : extent(m); }

  /// Returns the direction in the statistics that moves number k.
  std::optional<PerturbationDirection> direction(const PerturbedVariable& p, const Moments& m, std::size_t k) const {
    const std::size_t n = width(m), at = k % n;
    if (!p.direct) {
      const auto all = by_variable(instance_.posterior(false));
      const SavedVariable& v = all.at(analysed_.model[p.variable].name);
      return perturbation_direction(*p.family->factor, element_of(*p.family->factor, v, k / n, extent(m)), at);
    }
    PerturbationDirection out{{std::vector<double>(n, 0.0)}, m.sd[k] * m.sd[k]};
    // A symmetric matrix is perturbed at both of its equal entries.
    const std::size_t mirrored = m.event.size() > 1 ? at % extent(m) * extent(m) + at / extent(m) : at;
    out.along[0][at] += 0.5;
    out.along[0][mirrored] += 0.5;
    return out;
  }

  /// Sets the multipliers of one element to t times the direction.
  void put(const PerturbedVariable& p, const PerturbationDirection& to, std::size_t element, double t) {
    for (std::size_t s = 0; s < p.givens.size(); ++s) {
      std::vector<double>& values = data_.givens[p.givens[s].index()].values;
      for (std::size_t j = 0; j < to.along[s].size(); ++j)
        values[element * to.along[s].size() + j] = t * to.along[s][j];
    }
  }

  /// Returns the derivative of E[x_k] in t by a central difference, or NaN if a fit fails. Restores factors and data.
  double response(const PerturbedVariable& p, const Moments& m, const PerturbationDirection& to, std::size_t k,
                  std::int64_t& unconverged) {
    const double t = kPerturbation / m.sd[k];
    double difference = 0;
    const std::vector<std::vector<double>> before = instance_.engine().save();
    for (const double sign : {1.0, -1.0}) {
      put(p, to, k / width(m), sign * t);
      const bool replaced = static_cast<bool>(instance_.replace(data_));
      instance_.engine().load(before);
      const bool converged = replaced && converge();
      unconverged += converged ? 0 : 1;
      const std::optional<Moments> perturbed = current_moments(p);
      difference += sign * (perturbed && replaced ? perturbed->mean[k] : std::nan(""));
    }
    put(p, to, k / width(m), 0);
    instance_.replace(data_);
    instance_.engine().load(before);
    return difference / (2 * t);
  }

  const Analysed& analysed_;
  BoundData data_;
  Instance& instance_;
  CaviOptions ascent_;
};

/// Perturbs the numbers of one variable until `left` is used up.
void respond(PerturbedFits& pulls, const PerturbedVariable& p, const std::string& name, std::int64_t& left,
             LinearResponse& to) {
  const std::optional<Moments> m = pulls.current_moments(p);
  if (!m || m->sd.empty()) return;
  Response r{name, m->elements, m->mean, m->sd, std::vector<double>(m->mean.size(), std::nan(""))};
  r.shape.insert(r.shape.end(), m->event.begin(), m->event.end());
  std::size_t k = 0, none = 0;
  for (; k < r.mean.size() && left > 0; ++k, --left) {
    const double variance = pulls.variance(p, *m, k, to.unconverged);
    r.response[k] = variance > 0 ? std::sqrt(variance) : std::nan("");
    if (std::isnan(r.response[k])) ++none;
  }
  if (none > 0) to.left_out.push_back(fmt::format("{} numbers of '{}': no fit came of a pull", none, name));
  if (k < r.mean.size())
    to.left_out.push_back(fmt::format("{} numbers of '{}': no more were asked for", r.mean.size() - k, name));
  if (k > 0) to.variables.push_back(std::move(r));
}

}  // namespace

/// Returns the variables of a block whose numbers are perturbed: the members of a joint Normal factor, or the block's
/// own.
std::vector<VariableId> variables_of(const Model& m, const Block& b) {
  if (!is_joint(m[b.variable])) return m[b.variable].auxiliary ? std::vector<VariableId>() : std::vector{b.variable};
  std::vector<VariableId> out;
  for (const Member& member : m[b.variable].auxiliary->members)
    out.push_back(member.variable);
  return out;
}

/// Adds potentials for all global numbers to `model`, and notes in `out` what is left out.
std::vector<PerturbedVariable> perturb_blocks(const RestoredFit& s, Model& model, BoundData& data,
                                              LinearResponse& out) {
  std::vector<PerturbedVariable> pulled;
  std::vector<std::string> of_items;
  const schedule::Schedule& schedule = s.analysed().schedule;
  for (std::size_t k = 0; k < schedule.conditionals.blocks.size(); ++k) {
    const Block& b = schedule.conditionals.blocks[k];
    for (const VariableId id : variables_of(s.model(), b)) {
      const math::FamilyRow& family = conditionals::family_of(s.model(), schedule.conditionals, id);
      const std::string name = b.mean ? s.model()[*b.mean].name + "', '" + s.model()[id].name : s.model()[id].name;
      const std::string why = why_not_perturbed(b, family);
      if (schedule.stage_of[k]) {
        if (!is_discrete(family.support) && !b.point) of_items.push_back("'" + name + "'");
      } else if (!why.empty()) {
        out.left_out.push_back(fmt::format("'{}': {}", name, why));
      } else {
        pulled.push_back(perturb_all(model, data, id, family));
      }
    }
  }
  if (!of_items.empty())
    out.left_out.push_back(
        fmt::format("{}: {} of items", fmt::join(of_items, ", "), of_items.size() == 1 ? "a variable" : "variables"));
  return pulled;
}

Result<LinearResponse> linear_response(const RestoredFit& s, const LinearResponseOptions& options) {
  LinearResponse out;
  // The model without auxiliary variables, which the pulled one gets anew.
  Model model = s.bound->resolved;
  BoundData data = s.data();
  // Masks of barren elements are made anew for the perturbed model.
  data.givens.resize(model.givens.size());
  const Masks masks = find_barren(model, data);
  const std::vector<PerturbedVariable> pulled = perturb_blocks(s, model, data, out);
  if (pulled.empty()) return out;
  Diagnostics diagnostics;
  const std::optional<Analysed> analysed = analyse(model, with_masks(expand_options(data), masks), diagnostics);
  if (!analysed) return Error{ExitCode::model, "", "the model with a pull has no conditionals", {}};
  add_masks(analysed->model, masks, data);
  Result<std::unique_ptr<Instance>> made = Instance::make(*analysed, data, {}, Backend::native, 0);
  if (!made) return made.error();
  Instance& instance = **made;
  if (const auto r = instance.start(1, 0, StartKind::means); !r) return r.error();
  std::vector<NamedArray> global;
  for (const NamedArray& a : s.instance->posterior(false, LocationOrigin::reference))
    global.push_back(a);
  if (Result<bool> r = instance.set(global, kPosteriorFile); !r) return r.error();
  if (Result<double> r = infer_items(instance, options.ascent, machine::SweepScope::local); !r) return r.error();
  PerturbedFits pulls(*analysed, std::move(data), instance, options.ascent);
  pulls.converge();
  std::int64_t left = options.most;
  for (const PerturbedVariable& p : pulled) {
    respond(pulls, p, s.model()[p.variable].name, left, out);
  }
  return out;
}

}  // namespace lehr
