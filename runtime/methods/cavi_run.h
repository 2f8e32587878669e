// Coordinate ascent that can be left and gone on with.
#pragma once
#include "runtime/methods/cavi.h"

namespace lehr {

/// One run of coordinate ascent, in pieces: with the state that a piece left put back before the next, its sweeps are
/// those of a run that was never left. The start is in place when it is made.
class CaviRun {
 public:
  CaviRun(const Engine& engine, const CaviOptions& options);

  /// Sweeps until so many were made in all pieces, or the run has ended. The outcome is that of all pieces; its ELBO is
  /// that of the last sweep.
  const Outcome& go_on(std::int64_t until, const OnSweep& on_sweep);
  const Outcome& outcome() const { return out_; }
  bool converged() const { return ended_ && out_.status == Status::converged; }

 private:
  void advance(bool last, const OnSweep& on_sweep);
  /// After a sweep that the run judges: whether it has settled.
  bool judge(double temperature, double noise, double objective, bool leaping);
  void end(Status status);

  const Engine& e_;
  const CaviOptions o_;
  Outcome out_;
  Settling settling_;
  Leap leap_;
  Elbo elbo_;              // of the last sweep that was judged
  bool may_leap_ = false;  // from there
  std::optional<double> previous_temperature_;
  double previous_ = 0;  // objective
  bool prepared_ = false, stops_ = false, ended_ = false;
};

}  // namespace lehr
