#include "compiler/fitting/linear_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/evaluate/packed.h"
#include "compiler/fitting/barren.h"
#include "compiler/fitting/moments.h"

namespace lehr {
namespace {

using namespace model;
using conditionals::Block;

constexpr double kPull = 0.01;  // in standard deviations of the factor, that a mean moves by where factors are apart

/// A variable that is pulled, and the given that pulls it.
struct Pulled {
  VariableId variable;
  GivenId pull;
  const math::FamilyRow* family;
};

/// Why its numbers cannot be pulled; empty: they can.
std::string unpullable(const Solution& s, const Block& b) {
  const Variable& v = s.model()[b.variable];
  if (is_discrete(v.support)) return "its values are discrete";
  if (b.point) return "its factor is a point";
  if (b.chain) return "its factor is a chain's";
  if (b.mean) return "its factor is a joint one";
  const auto is_value = [](const math::StatisticRow& r) {
    return r.stat == math::Stat::value || r.stat == math::Stat::comp;
  };
  if (std::ranges::none_of(b.factor->statistics, is_value)) return "its value is no statistic of its factor";
  return "";
}

ExprId reference_to(Model& m, auto node) {
  m.exprs.push_back({std::move(node), {}, std::nullopt, {}});
  return ExprId(m.exprs.size() - 1);
}

/// Adds sum of pull * v to the log joint.
Pulled pull(Model& m, BoundData& data, VariableId id, const math::FamilyRow* family) {
  const Variable v = m[id];
  Given g{
      "pull of " + v.name, v.span, v.axes, v.event, v.event.empty() ? GivenType::real : GivenType::vector, {}, true};
  double numbers = 1;
  for (const std::int64_t n : packed_shape(m, data, v.axes, v.event))
    numbers *= static_cast<double>(n);
  Potential p;
  p.span = v.span;
  std::vector<Index> indices;
  const auto add = [&](PlateId plate) {
    const bool nested = m[m[plate].set].parent && !p.bounds.empty();
    const BoundId b(m.bounds.size());
    m.bounds.push_back({m[plate].name, m[plate].set, nested ? std::optional(p.bounds.back()) : std::nullopt});
    p.bounds.push_back(b);
    indices.push_back({Index::Shifted{b, 0}, m[plate].set, v.span});
  };
  std::ranges::for_each(v.axes, add);
  std::ranges::for_each(v.event, add);
  const GivenId given(m.givens.size());
  const ExprId left = reference_to(m, GivenRef{given, indices}), right = reference_to(m, VariableRef{id, indices});
  p.value = reference_to(m, Binary{BinaryOp::multiply, left, right});
  m.givens.push_back(std::move(g));
  m.potentials.push_back(std::move(p));
  data.givens.push_back({std::vector<double>(static_cast<std::size_t>(numbers), 0.0), false});
  return {id, given, family};
}

/// A fit that can be pulled.
class Pulls {
 public:
  Pulls(const Analysed& analysed, BoundData data, Instance& instance, const CaviOptions& ascent)
      : analysed_(analysed), data_(std::move(data)), instance_(instance), ascent_(ascent) {}

  /// To the optimum from where the factors are; whether it converged.
  bool settle() {
    const Outcome out = run_cavi(instance_.engine(), ascent_, [](const SweepReport&) { return true; });
    return out.status == Status::converged;
  }

  std::optional<Moments> numbers(const Pulled& p) const {
    const auto all = by_variable(instance_.posterior(false));
    const auto v = all.find(analysed_.model[p.variable].name);
    return v == all.end() ? std::nullopt : moments(*p.family, v->second, nullptr);
  }

  /// d E[x_k] / dt, NaN where a fit fails.
  double response(const Pulled& p, std::size_t k, double sd, std::int64_t& unsettled) {
    const double t = kPull / sd;
    double difference = 0;
    const std::vector<std::vector<double>> before = instance_.engine().save();
    for (const double sign : {1.0, -1.0}) {
      data_.givens[p.pull.index()].values[k] = sign * t;
      const bool placed = static_cast<bool>(instance_.replace(data_));
      instance_.engine().load(before);
      const bool settled = placed && settle();
      unsettled += settled ? 0 : 1;
      const std::optional<Moments> there = numbers(p);
      difference += sign * (there && placed ? there->mean[k] : std::nan(""));
    }
    data_.givens[p.pull.index()].values[k] = 0;
    instance_.replace(data_);
    instance_.engine().load(before);
    return difference / (2 * t);
  }

 private:
  const Analysed& analysed_;
  BoundData data_;
  Instance& instance_;
  CaviOptions ascent_;
};

/// The numbers that are left, the first variables before the others.
void respond(Pulls& pulls, const Pulled& p, const std::string& name, std::int64_t& left, LinearResponse& to) {
  const std::optional<Moments> m = pulls.numbers(p);
  if (!m || m->sd.empty()) return;
  Response r{name, m->elements, m->mean, m->sd, std::vector<double>(m->mean.size(), std::nan(""))};
  r.shape.insert(r.shape.end(), m->event.begin(), m->event.end());
  std::size_t k = 0;
  for (; k < r.mean.size() && left > 0; ++k, --left) {
    const double variance = pulls.response(p, k, r.sd[k], to.unsettled);
    r.response[k] = variance > 0 ? std::sqrt(variance) : std::nan("");
  }
  if (k < r.mean.size())
    to.left_out.push_back(fmt::format("{} numbers of '{}': no more were asked for", r.mean.size() - k, name));
  if (k > 0) to.variables.push_back(std::move(r));
}

}  // namespace

Result<LinearResponse> linear_response(const Solution& s, const LinearResponseOptions& options) {
  LinearResponse out;
  // The model without auxiliary variables, which the pulled one gets anew.
  Model model = s.bound->resolved;
  BoundData data = s.data();
  data.givens.resize(model.givens.size());  // without masks, which the pulled one gets anew too
  const Masks masks = find_barren(model, data);
  std::vector<Pulled> pulled;
  const schedule::Schedule& schedule = s.analysed().schedule;
  for (std::size_t k = 0; k < schedule.conditionals.blocks.size(); ++k) {
    const Block& b = schedule.conditionals.blocks[k];
    const Variable& v = s.model()[b.variable];
    if (v.auxiliary || schedule.stage_of[k]) continue;
    const std::string why = unpullable(s, b);
    const std::string name = b.mean ? s.model()[*b.mean].name + "', '" + v.name : v.name;
    if (!why.empty()) out.left_out.push_back(fmt::format("'{}': {}", name, why));
    else pulled.push_back(pull(model, data, b.variable, b.family));
  }
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
  for (const NamedArray& a : s.instance->posterior(false, Origin::reference))
    global.push_back(a);
  if (Result<bool> r = instance.set(global, "posterior.npz"); !r) return r.error();
  if (Result<double> r = infer_items(instance, options.ascent, machine::Which::local); !r) return r.error();
  Pulls pulls(*analysed, std::move(data), instance, options.ascent);
  pulls.settle();
  std::int64_t left = options.most;
  for (const Pulled& p : pulled) {
    respond(pulls, p, s.model()[p.variable].name, left, out);
  }
  return out;
}

}  // namespace lehr
