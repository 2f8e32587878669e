#include "runtime/methods/outlook.h"

#include "runtime/methods/geometric.h"

namespace lehr {

bool Outlook::may_reach(double target, double elbo) {
  constexpr std::size_t kSpan = 10;
  constexpr double kDoubt = 30;
  recent_.push_back(elbo);
  if (elbo >= target || recent_.size() < kSpan + 2) return true;
  if (recent_.size() > kSpan + 2) recent_.pop_front();
  const double first = recent_[1] - recent_[0], last = recent_[kSpan + 1] - recent_[kSpan];
  if (!(first > last)) return first > 0 || last > 0;
  if (last <= 0) return false;
  return elbo + kDoubt * tail_after(last, factor_of(first, last, kSpan)) >= target;
}

}  // namespace lehr
