// Natural gradients of chains: the natural parameters of a chain are linear in the planes that it is updated from.
#include "runtime/inference/plane_steps.h"

#include <algorithm>

namespace lehr {
namespace {

constexpr int kPlaneRounds = 30;       // most steps
constexpr int kPlaneHalvings = 40;     // most halvings of a step
constexpr double kLastPlaneGain = .1;  // share of the gain of all steps below which a step is the last one

}  // namespace

PlaneSteps::PlaneSteps(const Engine& e, const SweepOptions& o)
    : e_(e),
      o_(o),
      active_(e.machine().stores_all_items() &&
              std::ranges::any_of(machine::parameters_of(e.model()),
                                  [](const machine::ParameterRow& row) { return row.chain && !row.by_stage; })) {}

bool PlaneSteps::infer(Elbo& out) const {
  return infer_items(e_, o_, machine::SweepScope::local, out) == 0 && machine::is_possible(out.value);
}

bool PlaneSteps::update_outside() const {
  return std::ranges::all_of(e_.steps(), [&](const StepRow& step) {
    const bool outside = !step.stage && !step.refresh && !step.local && !step.tangent_points;
    return !outside || machine::call(e_.machine(), step.update) == 0;
  });
}

std::vector<bool> PlaneSteps::arrays_of_items(const Arrays& before) const {
  e_.load(before);
  update_outside();
  const Arrays without = e_.save();
  Elbo ignored;
  infer(ignored);
  const Arrays with = e_.save();
  std::vector<bool> out;
  for (std::size_t k = 0; k < with.size(); ++k)
    out.push_back(with[k] != without[k]);
  return out;
}

bool PlaneSteps::follow(const Arrays& before, const Arrays& planes, Elbo& out) const {
  e_.load(before);
  const std::vector<std::int64_t> buffers = e_.state_buffers();
  for (std::size_t k = 0; k < buffers.size(); ++k)
    if (are_planes_[k]) std::ranges::copy(planes[k], e_.reals(buffers[k]).begin());
  e_.invalidate_sums();
  return update_outside() && infer(out);
}

bool PlaneSteps::climb(const Arrays& before, double least, const Objective& objective, Elbo& out) {
  if (!active_) return false;
  if (are_planes_.empty()) are_planes_ = arrays_of_items(before);
  const auto lengths = [](const std::vector<double>& x) { return x.size(); };
  if (made_ && !std::ranges::equal(*made_, before, {}, lengths, lengths)) throw ReplayMismatch();  // of a checkpoint
  planes_ = made_ ? *made_ : before;
  if (!follow(before, planes_, out)) return false;
  Arrays state = e_.save();
  double value = objective(out), part = 1;
  for (int round = 0; round < kPlaneRounds; ++round) {
    const Arrays ends = state;
    const double begins = value;
    Arrays best;
    Elbo there;
    for (int k = 0; k < kPlaneHalvings; ++k, part /= 2) {
      Arrays to = planes_;
      for (std::size_t a = 0; a < to.size(); ++a)
        for (std::size_t i = 0; are_planes_[a] && i < to[a].size(); ++i)
          to[a][i] += part * (ends[a][i] - to[a][i]);
      const bool better = follow(before, to, there) && objective(there) > value;
      if (!better && !best.empty()) break;
      if (!better) continue;
      value = objective(there);
      out = there;
      best = std::move(to);
      state = e_.save();
    }
    if (best.empty()) break;
    planes_ = std::move(best);
    part = std::min(1.0, 4 * part);
    if (value > least && value - begins < kLastPlaneGain * (value - least)) break;
  }
  if (!(value > least)) return false;
  e_.load(state);
  return true;
}

}  // namespace lehr
