// Improvement bounds. The gains of the last sweeps are taken as a geometric series, whose tail is the gain still to
// come.
#include "runtime/inference/improvement_bound.h"

#include <algorithm>
#include <cmath>

#include "runtime/inference/geometric.h"

namespace lehr {

bool ImprovementBound::may_reach(double target, double elbo) {
  constexpr std::size_t kSpan = 10, kLate = 3;
  recent_.push_back(elbo);
  if (elbo >= target || recent_.size() < kSpan + 2) return true;
  if (recent_.size() > kSpan + 2) recent_.pop_front();
  const double first = recent_[1] - recent_[0], last = recent_[kSpan + 1] - recent_[kSpan];
  if (!(first > last)) return first > 0 || last > 0;
  if (last <= 0) return false;
  // Near a plateau the last few gains shrink more slowly than the earlier ones; the slower ratio counts.
  const double before = recent_[kSpan + 1 - kLate] - recent_[kSpan - kLate];
  if (last >= before) return true;
  const double factor = std::max(factor_of(first, last, kSpan), factor_of(before, last, kLate));
  return elbo + doubt_ * tail_after(last, factor) >= target;
}

double objective_at(const std::vector<CoolingPoint>& run, double temperature) {
  const auto below = std::ranges::find_if(run, [&](const CoolingPoint& p) { return p.temperature <= temperature; });
  if (below == run.end()) return NAN;
  if (below->temperature == temperature) return below->objective;
  if (below == run.begin()) return NAN;
  const CoolingPoint& above = below[-1];
  const double weight = (temperature - below->temperature) / (above.temperature - below->temperature);
  return std::lerp(below->objective, above.objective, weight);
}

}  // namespace lehr
