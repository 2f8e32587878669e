// Whether a run that settles or cools can still become better than another.
#pragma once
#include <deque>
#include <vector>

namespace lehr {

/// The ELBOs of a run, sweep by sweep, whose gains fall geometrically near its end.
class Outlook {
 public:
  /// `doubt`: how many times what is left to go may be underestimated.
  explicit Outlook(double doubt = 30) : doubt_(doubt) {}

  /// False when even `doubt` times what the gains of the last ten sweeps have left to go does not lead to `target`;
  /// gains that do not fall promise everything.
  bool may_reach(double target, double elbo);

 private:
  double doubt_;
  std::deque<double> recent_;
};

/// The objective of an annealed run at a temperature.
struct CoolingPoint {
  double temperature = 1, objective = 0;
};

/// Of a run that cools, linear between its temperatures; not a number beyond them.
double objective_at(const std::vector<CoolingPoint>& run, double temperature);

}  // namespace lehr
