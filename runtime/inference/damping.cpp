// Halves the way until the objective does not fall, and then while it still rises.
#include "runtime/inference/damping.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/inference/coordinates.h"

namespace lehr {
namespace {

constexpr double kObjectiveRounding = 1e-12;  // falls of the objective relative to it that are rounding
constexpr int kHalvings = 50;                 // most halvings; less of a step is rounding

/// Returns the arrays outside the items, which a shorter step moves.
std::vector<CoordinateArray> arrays_of(const Engine& e) {
  std::vector<CoordinateArray> out;
  for (const machine::ParameterRow& row : machine::parameters_of(e.model()))
    if (!row.by_stage && !row.local) out.push_back({row.buffer, &row});
  return out;
}

}  // namespace

Damping::Damping(const Engine& e, const SweepOptions& o)
    : e_(e),
      o_(o),
      active_(std::ranges::any_of(e.steps(),
                                  [](const StepRow& step) { return step.tangent_points == machine::kExpectations; })),
      planes_(e, o) {}

std::int32_t Damping::infer_items(Elbo& out) const {
  e_.invalidate_parts();
  machine::Machine m = e_.machine();
  m.accuracy = {o_.local_iterations, o_.local_tolerance};
  const std::int32_t status = e_.recorded([&] { return machine::infer_items(m, machine::SweepScope::local); });
  return status != 0 ? status : e_.elbo(out);
}

bool Damping::sweep_from_zero() const {
  const std::int32_t status = e_.recorded([&]() -> std::int32_t {
    const machine::Machine& m = e_.machine();
    std::set<std::int64_t> points;
    for (const machine::ParameterRow& row : machine::parameters_of(e_.model()))
      if (row.local && row.auxiliary && row.parameter == machine::Parameter::value) points.insert(row.block);
    for (const machine::ParameterRow& row : machine::parameters_of(e_.model()))
      if (points.contains(row.block)) std::ranges::fill(e_.reals(row.buffer), 0);
    e_.invalidate_sums();
    if (const std::int32_t failed = machine::call_on_stored(m, e_.model().expectations)) return failed;
    return machine::sum_statistics(m);
  });
  return status == 0 && sweep(e_, o_, {}) == 0;
}

/// The means shrink to 0 as long as the ELBO rises: where a rate is large, a plane at 0 leads far beyond it.
std::int32_t Damping::start() {
  if (!active_) return 0;
  before_ = e_.snapshot_state();
  const std::int32_t status = infer_items(elbo_);
  if (!e_.machine().stores_all_items()) return status;
  const Snapshot begins = e_.snapshot_state();
  e_.load(before_);
  if (!sweep_from_zero()) {
    e_.load(begins);
    return status;
  }
  before_ = e_.snapshot_state();
  Snapshot best = status == 0 ? begins : nullptr;
  double highest = status == 0 && machine::is_possible(elbo_.value) ? elbo_.value : -INFINITY;
  double risen = -INFINITY;
  for (double part = 1; part > 1e-12; part /= 2) {
    e_.load(before_);
    const std::int32_t moved = e_.recorded([&] {
      for (const CoordinateArray& a : arrays_of(e_)) {
        if (a.row->parameter != machine::Parameter::mean) continue;
        for (double& x : e_.reals(a.buffer))
          x *= part;
      }
      e_.invalidate_sums();
      return machine::call(e_.machine(), e_.model().global_expectations);
    });
    Elbo there;
    if (moved != 0 || infer_items(there) != 0 || !machine::is_possible(there.value)) continue;
    if (!(there.value > risen)) break;
    risen = there.value;
    if (!(risen > highest)) continue;
    highest = risen;
    elbo_ = there;
    best = e_.snapshot_state();
  }
  e_.load(best ? best : begins);
  return best ? 0 : status;
}

void Damping::begin() {
  shortened_ = false;
  undone_ = 0;
  if (active_) before_ = e_.snapshot_state();
}

bool Damping::move(const Eigen::ArrayXd& step, double factor, Elbo& out) const {
  e_.load(*before_);
  const std::vector<CoordinateArray> arrays = arrays_of(e_);
  if (!shift(e_, arrays, numbers(e_, arrays), step, factor)) return false;
  e_.invalidate_sums();
  return machine::call(e_.machine(), e_.model().global_expectations) == 0 && infer_items(out) == 0 &&
         machine::is_possible(out.value);
}

Damping::Shortened Damping::shorten(double least, const PlaneSteps::Objective& objective) {
  Shortened out;
  const std::vector<double> ends = coordinates(e_, arrays_of(e_));
  out.moved = out.by_planes = planes_.climb(*before_, least, objective, out.elbo);
  if (out.moved) return out;
  e_.load(*before_);
  const std::vector<double> begins = coordinates(e_, arrays_of(e_));
  using Map = Eigen::Map<const Eigen::ArrayXd>;
  const auto n = static_cast<Eigen::Index>(begins.size());
  const Eigen::ArrayXd step = Map(ends.data(), n) - Map(begins.data(), n);
  double best = least, factor = 0;
  for (int k = 1; k <= kHalvings; ++k) {
    const double part = std::ldexp(1.0, -k);
    const bool better = move(step, part, out.elbo) && objective(out.elbo) > best;
    if (!better && factor > 0) break;
    if (!better) continue;
    best = objective(out.elbo);
    factor = part;
  }
  out.moved = factor > 0 && move(step, factor, out.elbo);
  if (out.moved) return out;
  e_.load(*before_);
  out.elbo = elbo_;
  return out;
}

std::int32_t Damping::end(std::int32_t status, Elbo& elbo, const PlaneSteps::Objective& objective) {
  if (!active_) return status;
  const double reached = objective(elbo_), least = reached - kObjectiveRounding * (1 + std::abs(reached));
  const bool possible = status == 0 && machine::is_possible(elbo.value);
  if (possible && !(objective(elbo) < least)) {
    elbo_ = elbo;
    if (planes_.active()) planes_.made_by(before_);
    before_ = nullptr;
    return 0;
  }
  shortened_ = true;
  const double fall = possible ? reached - objective(elbo) : INFINITY;
  const Shortened to = e_.recorded([&] { return shorten(least, objective); });
  if (to.moved) status = 0;
  else undone_ = fall;
  if (to.by_planes) planes_.made_by(e_.snapshot([&] { return planes_.take_planes(); }));
  elbo = elbo_ = to.elbo;
  before_ = nullptr;
  return status;
}

}  // namespace lehr
