// Stochastic arithmetic in the manner of CESTAC (Vignes 1993): the same sums over data whose last bits differ have
// other rounding errors of the same size. The spread of the results shows how many digits are correct.
#include "compiler/fit/checks/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/fit/checks/coupling.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/moments.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

/// How many perturbed sweeps are compared with the plain one.
constexpr std::uint64_t kPerturbations = 3;
/// A perturbed sweep that moves everything by less than this share of the limit for a warning is the last: that the
/// others move something by so many times as much is next to impossible.
constexpr double kFarBelow = 1e-3;
/// Factors that far data couple more strongly than this are reported: their sds are below 0.44 of the true ones.
constexpr double kTied = 0.9;

/// Returns true for real numbers and vectors.
bool is_real(math::Support s) { return s == math::Support::real || s == math::Support::vector; }
/// Returns true for data (not constants) that are real numbers or vectors.
bool is_real(const model::Given& g) {
  return !g.constant && (g.type == model::GivenType::real || g.type == model::GivenType::vector);
}

/// Returns by GivenId whether it is a limit. A censored value may equal its limit, so neither is perturbed.
std::vector<bool> limits_of(const model::Model& m) {
  std::vector<bool> out(m.givens.size());
  for (const model::Statement& s : m.statements) {
    for (const std::optional<model::ExprId>& limit : {s.limits.above, s.limits.below}) {
      if (!limit) continue;
      for (const model::ExprId id : model::nodes_under(m, {*limit})) {
        if (const auto* g = std::get_if<model::GivenRef>(&m[id].node)) out[g->given.index()] = true;
      }
    }
  }
  return out;
}

/// Returns the data with the last bit of every real number changed at random; `perturbation` is the stream of random
/// numbers.
BoundData perturbed(const model::Model& m, const BoundData& data, std::uint64_t perturbation) {
  BoundData out = data;
  Rng rng(perturbation, 0x0DD);
  const auto change = [&](std::vector<double>& values) {
    for (double& x : values)
      x *= 1 + std::numeric_limits<double>::epsilon() * (2 * draw_uniform(rng) - 1);
  };
  const std::vector<bool> is_limit = limits_of(m);
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const model::Variable& v = m.variables[k];
    if (v.observed && is_real(v.support) && !m[v.statement].limits.any()) change(out.observed[k].values);
  }
  for (std::size_t k = 0; k < m.givens.size(); ++k)
    if (is_real(m.givens[k]) && !is_limit[k]) change(out.givens[k].values);
  return out;
}

/// Changes the last bit of sums of the data. A sum of few terms is rounded so coarsely that changes of the terms
/// vanish.
void nudge_sums(const Engine& engine, std::uint64_t perturbation) {
  Rng rng(perturbation, 0x50D);
  const machine::Model& m = engine.model();
  for (std::int64_t k = 0; k < m.summed_count; ++k) {
    for (double& x : engine.reals(m.summed[k]))
      x *= 1 + std::numeric_limits<double>::epsilon() * (draw_uniform(rng) < 0.5 ? -1 : 1);
  }
}

/// Factors by name of the variable.
using ByVariable = std::map<std::string, SavedVariable>;

/// The result of one sweep.
struct Swept {
  ByVariable factors;
  double elbo = 0;
};

/// Makes one sweep from `state`, over perturbed data and sums of them; with no `perturbation`, over the data in place.
/// Returns nullopt if the sweep fails.
std::optional<Swept> swept(Instance& instance, const Analysed& analysed, const Arrays& state, const BoundData& data,
                           bool locals, const SweepOptions& options, std::optional<std::uint64_t> perturbation) {
  const Engine& engine = instance.engine();
  engine.load(state);
  if (perturbation ? !instance.replace(perturbed(analysed.model, data, *perturbation)) : engine.prepare() != 0)
    return std::nullopt;
  if (perturbation) nudge_sums(engine, *perturbation);
  // A window contains the factors of other items, so statistics are formed by a sweep over the items.
  const bool in_memory =
      std::ranges::none_of(machine::parameters_of(engine.model()),
                           [&](const machine::ParameterRow& row) { return engine.is_partial(row.buffer); });
  const std::int32_t begun = in_memory ? prepare_statistics(engine) : sweep(engine, options, {.items_only = true});
  if (begun != 0 || sweep(engine, options) != 0) return std::nullopt;
  Elbo elbo;
  if (engine.elbo(elbo) != 0) return std::nullopt;
  return Swept{by_variable(instance.posterior(locals, LocationOrigin::reference)), elbo.value};
}

/// Returns the largest difference in units of `unit`; NaN if a number is NaN on one side only.
double most(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& unit) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    const double x = same ? 0 : std::abs(a[i] - b[i]) / std::abs(unit[i]);
    if (!(x <= out)) out = x;
    if (std::isnan(out)) return out;
  }
  return out;
}

/// A variable whose numbers a user reads.
struct Read {
  std::string name, partner;      // of the variable, and of the other member of a joint factor or empty
  const math::FamilyRow* family;  // of its factor
};

/// Lists the continuous variables of the model's text and joint variables.
std::vector<Read> read_by_users(const Analysed& a) {
  std::vector<Read> out;
  for (const conditionals::Block& b : a.schedule.conditionals.blocks) {
    const std::string name = a.model[b.variable].name;
    const std::string mean = b.mean ? a.model[*b.mean].name : "";
    const model::Variable& v = a.model[b.variable];
    if ((v.auxiliary && !model::is_joint(v)) || v.support == math::Support::switched || is_discrete(v.support))
      continue;
    out.push_back({name, mean, b.family});
    if (b.mean) out.push_back({mean, name, b.family});
  }
  return out;
}

/// Returns how far a variable moved between two sets of factors, see Rounding::moved.
double moved(const Read& r, const ByVariable& from, const ByVariable& to) {
  const auto of = [&](const ByVariable& all) -> std::optional<Moments> {
    const auto v = all.find(r.name), partner = all.find(r.partner);
    if (v == all.end()) return std::nullopt;
    return moments(*r.family, v->second, partner == all.end() ? nullptr : &partner->second);
  };
  const std::optional<Moments> a = of(from), b = of(to);
  if (!a || !b) return 0;
  // Points have no sd: they are compared relative to the largest of the variable.
  if (a->sd.empty()) {
    double largest = 0;
    for (const double x : a->mean)
      largest = std::max(largest, std::abs(x));
    return most(a->mean, b->mean, std::vector<double>(a->mean.size(), largest));
  }
  return std::max(most(a->mean, b->mean, a->sd), most(a->sd, b->sd, a->sd));
}

}  // namespace

bool has_real_data(const model::Model& m) {
  return std::ranges::any_of(m.variables, [](const auto& v) { return v.observed && is_real(v.support); }) ||
         std::ranges::any_of(m.givens, [](const model::Given& g) { return is_real(g); });
}

std::optional<Rounding> rounding(Instance& instance, const Analysed& analysed, const BoundData& data, bool locals,
                                 const SweepOptions& options, double digits) {
  const Arrays state = instance.engine().save();
  Rounding out;
  bool failed = false;
  const std::optional<Swept> as_is = swept(instance, analysed, state, data, locals, options, std::nullopt);
  failed = !as_is;
  for (std::uint64_t k = 0; k < kPerturbations && !failed; ++k) {
    const auto rerun = swept(instance, analysed, state, data, locals, options, k);
    failed = !rerun;
    if (failed) break;
    const double nats = std::abs(as_is->elbo - rerun->elbo);
    failed = std::isnan(nats);
    out.nats = std::max(out.nats, nats);
    for (const Read& r : read_by_users(analysed)) {
      const double x = moved(r, as_is->factors, rerun->factors);
      failed = failed || std::isnan(x);
      if (x <= out.moved) continue;
      out.moved = x;
      out.name = r.name;
    }
    if (out.moved < kFarBelow * digits) break;
  }
  failed = !instance.replace(data) || failed;
  instance.engine().load(state);
  if (failed) return std::nullopt;
  return out;
}

std::string far_column_clause(const std::vector<IllScaledColumn>& far) {
  return far.empty() ? "" : "; " + describe(far.front());
}

std::optional<PrecisionProblem> check_precision(Instance& instance, const Analysed& analysed, const BoundData& data,
                                                bool locals, const std::vector<IllScaledColumn>& far,
                                                const SweepOptions& options, const RoundingLimits& bar) {
  const std::optional<Rounding> found =
      rounding(instance, analysed, data, locals, options, far.empty() ? bar.digits : 0);
  if (!found)
    return PrecisionProblem{"the factors are lost in rounding: data that differ in their last digits leave them none" +
                            far_column_clause(far)};
  const std::string moved =
      fmt::format("data that differ in their last digits alone move it by {:.1g} of its standard deviation{}",
                  found->moved, far_column_clause(far));
  if (!(found->moved <= bar.lost))
    return PrecisionProblem{fmt::format("'{}' is lost in rounding: {}", found->name, moved)};
  if (!far.empty()) {
    if (!(found->nats <= kMaxElboChange))
      return PrecisionProblem{fmt::format("the ELBO is lost in rounding: it is only right to about {:.1g} nats{}",
                                          found->nats, far_column_clause(far))};
    for (const CorrelatedPair& c : correlated_pairs(instance, analysed, kTied))
      return PrecisionProblem{fmt::format("{} and {} cannot be told apart ({:.2f}): data are far from zero{}", c.first,
                                          c.second, c.correlation, far_column_clause(far))};
  }
  if (found->moved > bar.digits)
    return PrecisionProblem{fmt::format("digits of '{}' are lost in rounding: {}", found->name, moved), false};
  return std::nullopt;
}

}  // namespace lehr
