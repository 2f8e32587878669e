// Incremental passes over the items (Neal & Hinton 1998; memoized, Hughes & Sudderth 2013): items are visited part by
// part, and everything outside them is updated after each part, from sums in which the new terms of the part stand for
// its old ones. Every update is coordinate ascent on the same bound, and a pass makes as much of its way as several
// sweeps.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/machine/machine.h"

namespace lehr {

class Parts {
 public:
  /// How many parts pay for this model and data: 1 where the updates outside the items take long, where there is little
  /// to do with the items, or where they are not all in one stage.
  static std::int64_t choose(const machine::Machine& m);
  /// Whether a model's items can be visited in parts.
  static bool can_divide(const machine::Machine& m);

  explicit Parts(std::int64_t count) : count_(count) {}

  std::int64_t count() const { return count_; }
  bool known() const { return known_; }
  /// Factors of items are no longer those whose sums are known. (Where their sums are other than those of the last
  /// pass, that is noticed.)
  void forget() { known_ = false; }
  void remember(bool known) { known_ = known; }

  template <class Archive>
  friend void fields(Archive& a, Parts& p) {
    a(p.known_, p.sums_, p.total_);
  }

  /// A sweep, after which the sums of all parts are known; from then on an incremental pass.
  std::int32_t pass(const machine::Machine& m, machine::Plan plan);

 private:
  void merge(const machine::Machine& m, const machine::StepRow& stage, std::int64_t part);
  bool are_total(const machine::Machine& m, const machine::StepRow& stage) const;

  std::int64_t count_;
  bool known_ = false;
  std::vector<std::vector<double>> sums_;  // by part: all statistics of the stage end to end
  std::vector<double> total_;
};

}  // namespace lehr
