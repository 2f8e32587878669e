// Whether a run that settles can still become better than another.
#pragma once
#include <deque>

namespace lehr {

/// The ELBOs of a run, sweep by sweep, whose gains fall geometrically near its end.
class Outlook {
 public:
  /// False when even thirty times what the gains of the last ten sweeps have left to go does not lead to `target`;
  /// gains that do not fall promise everything.
  bool may_reach(double target, double elbo);

 private:
  std::deque<double> recent_;
};

}  // namespace lehr
