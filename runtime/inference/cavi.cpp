// Coordinate ascent: the stopping rule (StoppingRule) and the loop of sweeps (CaviRun). After each sweep with an ELBO
// the run checks that the objective has not fallen, and asks the stopping rule. It also notes whether the next sweep
// may follow an extrapolation.
#include "runtime/inference/cavi.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/abi.h"
#include "runtime/inference/cancelled.h"
#include "runtime/inference/cavi_run.h"
#include "runtime/inference/geometric.h"
#include "runtime/parallel/snapshot_checks.h"

namespace lehr {

std::string_view name_of(Status s) {
  switch (s) {
    case Status::converged:
      return "converged";
    case Status::max_iter:
      return "max_iter";
    case Status::numerical_failure:
      return "numerical_failure";
    case Status::interrupted:
      return "interrupted";
  }
  return "";
}

StoppingRule::StoppingRule(const Engine& e, const CaviOptions& options)
    : engine_(e), tolerance_(options.tolerance), slack_(options.slack), before_(e.snapshot_parameters()) {}

/// Returns the largest relative movement of an array: its mean absolute change over its mean absolute value. Entries of
/// kPointPrecision, which stand for infinite ones, do not count in the latter.
double movement_between(const Parameters& before, const Parameters& now) {
  using ArrayMap = Eigen::Map<const Eigen::ArrayXd>;
  expect_same_lengths(before, now);
  double largest = 0;
  for (std::size_t k = 0; k < now.size(); ++k) {
    const auto count = static_cast<Eigen::Index>(now[k].size());
    const ArrayMap x(before[k].data(), count), y(now[k].data(), count);
    const double moved = (y - x).abs().sum();
    if (!(moved > 0)) continue;
    double size = y.abs().sum();
    if (!(size < kPointPrecision)) size = (y.abs() < kPointPrecision).select(y.abs(), 0).sum();
    largest = std::max(largest, moved / (size + 1e-12 * static_cast<double>(count)));
  }
  return largest;
}

double StoppingRule::movement() {
  const std::shared_ptr<Arrays> before = std::exchange(before_, engine_.snapshot_parameters(std::move(spare_)));
  const double out = engine_.recorded([&] { return movement_between(*before, *before_); });
  spare_ = std::move(*before);
  return out;
}

/// Sums the tail of the geometric series that the movements of the last ten sweeps suggest. A ratio near 1 counts as
/// 1 - 1e-4, so that rounding cannot keep a fit running for ever.
double StoppingRule::remaining_movement(double moved) {
  constexpr std::size_t kSweeps = 10, kFewest = 3;
  constexpr double kSlowest = 1 - 1e-4;
  recent_.push_back(moved);
  if (recent_.size() > kSweeps + 1) recent_.erase(recent_.begin());
  if (moved <= slack_.movement) return moved;
  const std::size_t sweeps = recent_.size() - 1;
  if (sweeps < kFewest) return INFINITY;  // too few to extrapolate
  const double ratio = std::min(kSlowest, factor_of(recent_.front(), moved, sweeps));
  return tail_after(moved, ratio);
}

/// Returns the relative change of the ELBO that counts as none: the tolerance, but no less than what sums of numbers in
/// single precision resolve where items have that.
static double least_change(double tolerance, const RoundingSlack& slack) {
  constexpr double kSingleResolution = 0x1p-23;
  const bool single = slack.movement >= kSingleSlack.movement;
  return single && tolerance > 0 ? std::max(tolerance, kSingleResolution) : tolerance;
}

bool StoppingRule::converged(double elbo, double share) {
  const double moved = movement(), left = remaining_movement(moved), root = share * std::sqrt(tolerance_);
  const bool still = !first_ && std::abs(elbo - previous_) <= least_change(tolerance_, slack_) * (1 + std::abs(elbo));
  first_ = false;
  previous_ = elbo;
  return still && moved <= root && left <= root;
}

Outcome failure(const Engine& e, std::int32_t status, Outcome so_far) {
  so_far.status = Status::numerical_failure;
  so_far.failure = e.describe(status);
  return so_far;
}

bool check_elbo(double elbo, Outcome& out) {
  if (machine::is_possible(elbo)) return true;
  out.status = Status::numerical_failure;
  out.failure = std::isfinite(elbo) ? "the data have probability 0 under the model, or where factors exclude each other"
                                    : "the ELBO is not finite";
  return false;
}

/// Replaces the parameters of one block by those in `by`, an array for each global parameter.
void replace(const Engine& e, const StepRow& block, const Parameters& by) {
  std::size_t k = 0;
  for (const machine::ParameterRow& row : machine::parameters_of(e.model())) {
    if (row.by_stage) continue;
    if (row.block == block.block) std::ranges::copy(by[k], e.reals(row.buffer).begin());
    ++k;
  }
  e.invalidate_sums();
}

/// Makes the sweep with this number at its temperature, and computes the ELBO unless `elbo` is null.
std::int32_t annealed_sweep(const Engine& e, const CaviOptions& options, std::int64_t iteration, Elbo* elbo) {
  const double t = options.annealing.temperature(iteration), noise = options.annealing.noise(iteration);
  Weights weights = weights_at(options.annealing, t);
  if (omits_item_parameters(e, options)) weights.item_parameters = 0;
  Parameters random;
  // While the temperature falls, incremental sweeps follow it more closely. At temperature 1, ordinary sweeps with
  // extrapolation converge faster.
  SweepPlan plan{.bound = elbo != nullptr, .parts = options.annealing.active(iteration) && noise == 0};
  if (noise > 0) {
    const std::int32_t status = e.recorded(
        [&] { return draw_noise(e, options.annealing, options.seed + static_cast<std::uint64_t>(iteration), random); });
    if (status != 0) return status;
    weights.step = 1 - noise;
    plan.update = [&](const StepRow& block) {
      replace(e, block, random);
      return e.call(block.update);
    };
  }
  e.set(weights);
  const std::int32_t status = sweep(e, options, plan);
  return status != 0 || !elbo ? status : e.elbo(*elbo);
}

CaviRun::CaviRun(const Engine& e, const CaviOptions& options)
    : e_(e),
      o_(options),
      stopping_rule_(e, o_),
      extrapolation_(e, o_.leap_after),
      invariances_(e, o_.uses_invariances()),
      damping_(e, o_) {}

void CaviRun::end(Status status) {
  out_.status = status;
  ended_ = true;
}

const Outcome& CaviRun::go_on(std::int64_t until, const OnSweep& on_sweep) {
  const WeightsGuard plain{e_};
  until = std::min(until, o_.max_iterations);
  if (!std::exchange(prepared_, true)) {
    std::int32_t status = prepare_statistics(e_, o_);
    if (status == 0) status = damping_.start();
    if (status != 0) {
      out_ = failure(e_, status, out_);
      ended_ = true;
    }
  }
  while (!ended_ && out_.iterations < until)
    advance(out_.iterations + 1 == until, on_sweep);
  return out_;
}

/// The last sweep of a piece always has an ELBO. The stopping rule looks at it only if the sweep would also have one in
/// a run without pieces. So pieces do not change the run.
void CaviRun::advance(bool last, const OnSweep& on_sweep) {
  const Annealing& a = o_.annealing;
  const std::int64_t now = out_.iterations;
  const double t = a.temperature(now), noise = a.noise(now);
  const bool may_move = std::exchange(may_extrapolate_, false);
  // A change of basis or a shift belongs to the sweep before. An extrapolation starts at the changed factors.
  const bool rotated = may_move && invariances_.try_change(elbo_, least_gain());
  if (rotated) extrapolation_.note_change();
  const bool extrapolating = may_move && extrapolation_.try_extrapolation(elbo_);
  const bool plain = !extrapolating && !rotated && noise == 0;
  const bool judged = damping_.active() || extrapolating || rotated || stops_ || now + 1 == o_.max_iterations ||
                      (now + 1) % o_.elbo_every == 0;
  Elbo elbo;
  if (plain) damping_.begin();
  std::int32_t status = annealed_sweep(e_, o_, now, judged || last ? &elbo : nullptr);
  if (plain) status = damping_.end(status, elbo, [&](const Elbo& x) { return annealed_objective(a, t, x); });
  if (status != 0 && !extrapolating && !rotated) {
    out_ = failure(e_, status, out_);
    ended_ = true;
    return;
  }
  ++out_.iterations;
  if (extrapolating) {
    extrapolation_.accept_or_undo(status == 0 && machine::is_possible(elbo.value), elbo);
    out_.tried.extrapolations = extrapolation_.count();
  }
  bool undone = false;
  if (rotated && extrapolating && extrapolation_.undone()) {
    invariances_.withdraw();
    extrapolation_.note_change();
  } else if (rotated) {
    undone = !invariances_.accept_or_undo(status == 0 && machine::is_possible(elbo.value), elbo);
  }
  out_.tried.basis_changes = invariances_.basis_changes();
  out_.tried.shifts = invariances_.shifts();
  damping_.note(elbo);
  // After an undone change, the state is that which the rule has judged before.
  if (undone || (plain && damping_.shortened())) extrapolation_.forget();
  if (!a.active(now)) extrapolation_.note_sweep();
  if (!judged && !last) {
    // The last sweep must have an ELBO: if the callback wants to stop now, one more sweep follows.
    stops_ = !on_sweep({out_.iterations, std::nan(""), t, std::nan("")});
    return;
  }
  out_.elbo = elbo.value;
  if (!check_elbo(out_.elbo, out_)) {
    ended_ = true;
    return;
  }
  const double objective = annealed_objective(a, t, elbo);
  const bool converged = judged && !undone && judge(t, noise, objective, elbo);
  const bool keep = on_sweep({out_.iterations, out_.elbo, t, objective}) && !stops_;
  if (converged || !keep) return end(converged ? Status::converged : Status::interrupted);
  if (!judged) return;
  elbo_ = elbo;
  may_extrapolate_ = !a.active(out_.iterations) && out_.iterations + 1 < o_.max_iterations;
}

double CaviRun::least_gain() const {
  constexpr double kShare = 1e-2, kRounding = 1e-11;  // of the tolerance, and of the ELBO
  return std::max(kShare * o_.tolerance, kRounding) * (1 + std::abs(elbo_.value));
}

bool CaviRun::judge(double t, double noise, double objective, const Elbo& elbo) {
  const Annealing& a = o_.annealing;
  // Objectives can be compared if both sweeps had the same temperature and the objective is one that ascent increases.
  const bool comparable = previous_temperature_ == t && noise == 0 && (t == 1 || a.scope == Annealing::Scope::all);
  if (comparable && objective < previous_ - allowed_fall(o_.slack.elbo, objective, elbo)) ++out_.decreases;
  // Where parts of the ELBO cancel, sweeps tell nothing more once ten have moved it by its rounding only.
  const double lost = lost_to_cancellation(elbo);
  const bool rises = !comparable || lost == 0 || objective > highest_ + lost;
  since_highest_ = rises ? 0 : since_highest_ + 1;
  if (rises) highest_ = objective;
  previous_ = objective;
  previous_temperature_ = noise > 0 ? std::optional<double>() : t;
  // After an extrapolation that was undone, the state is that which the rule has judged before.
  if (extrapolation_.undone()) return false;
  // A sweep that was undone as a whole says nothing of the distance to a maximum, unless it lost next to nothing.
  const double least = std::max(o_.tolerance * (1 + std::abs(objective)), lost);
  if (damping_.undone() > least) return false;
  constexpr int kEnough = 10;
  if (since_highest_ >= kEnough && !a.active(out_.iterations - 1)) return true;
  // Of two sweeps one may follow an extrapolation, so that their movements say less of the distance to the fixed point.
  constexpr double kShare = 0.25;
  const bool extrapolates = out_.tried.extrapolations.all() > 0;
  const bool still = stopping_rule_.converged(out_.elbo, extrapolates ? kShare : 1),
             before = std::exchange(still_, still);
  if (!still || a.active(out_.iterations - 1)) return false;
  return !extrapolates || (before && !extrapolation_.gained(out_.elbo, least));
}

Outcome run_cavi(const Engine& e, const CaviOptions& options, const OnSweep& on_sweep) {
  return CaviRun(e, options).go_on(options.max_iterations, on_sweep);
}

Outcome run_on(const Engine& e, CaviOptions options, const Outcome& before, const OnSweep& on_sweep) {
  options.annealing = {};
  options.max_iterations -= before.iterations;
  if (options.max_iterations <= 0) return before;
  Outcome out = run_cavi(e, options, [&](SweepReport s) {
    s.iteration += before.iterations;
    return on_sweep(s);
  });
  out.iterations += before.iterations;
  out.decreases += before.decreases;
  out.tried += before.tried;
  out.saddles = before.saddles;
  return out;
}

}  // namespace lehr
