// Steps ahead for a run that creeps: the squared extrapolation of three successive solutions (SQUAREM: Varadhan &
// Roland 2008), after which a sweep must not have lost anything.
#pragma once
#include "runtime/methods/engine.h"

namespace lehr {

struct Leaps {
  std::int64_t taken = 0, refused = 0;

  Leaps& operator+=(const Leaps& more) {
    taken += more.taken;
    refused += more.refused;
    return *this;
  }
};

class Leap {
 public:
  /// `after` sweeps at first; 0: never.
  Leap(const Engine& e, std::int64_t after) : e_(e), after_(after) {}

  /// After every sweep, and after hold().
  void saw();
  /// When the global parameters have crept for a while they are moved ahead, and true is returned: the next sweep is
  /// one from there.
  bool ahead(const Elbo& elbo);
  /// After that sweep: what was there before is put back, and its ELBO, unless the sweep did not fail and ended with as
  /// good a one.
  void hold(bool succeeded, Elbo& elbo);

  /// The last one, few sweeps ago, gained more than this with them: the run may have settled in its fast directions
  /// only.
  bool gained(double elbo, double least) const {
    return count_.taken + count_.refused > 0 && since_ < kAfter && elbo - elbo_.value > least;
  }

  const Leaps& count() const { return count_; }

 private:
  static constexpr std::int64_t kAfter = 10;
  bool creeps() const;
  /// How much longer than its last step the next one may be.
  double length() const;
  bool move(double length);

  const Engine& e_;
  std::int64_t after_;
  std::vector<Held> last_;     // parameters after the last sweeps, newest at the end
  std::vector<double> moved_;  // how far each of them was
  Held before_;
  Elbo elbo_;
  double longest_ = 32;
  bool at_longest_ = false;
  std::int64_t sweeps_ = 0, since_ = 0;  // in all, after the last one
  Leaps count_;
};

}  // namespace lehr
