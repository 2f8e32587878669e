// Incremental sweeps (Neal & Hinton 1998; memoized variational inference, Hughes & Sudderth 2013). The items are
// divided into batches ("parts"); after each batch, everything outside the items is updated. The sums over all items
// stay current: the new sums of the batch replace its old ones, total += new - old. Every update is coordinate
// ascent on the same ELBO, and one pass over the items gets about as far as several sweeps.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/machine/machine.h"

namespace lehr {

/// The batches into which the items of one engine are divided, and the statistics that each batch last contributed to
/// the total. pass() replaces them batch by batch.
class IncrementalBatches {
 public:
  /// Returns the number of batches that is expected to save time. It is 1 if the updates outside the items are costly,
  /// if the items are little work, or if the model cannot be divided.
  static std::int64_t choose(const machine::Machine& m);
  /// Returns true if the items of a model can be visited in batches: all are in one stage that takes minibatches,
  /// without a window and without sampling.
  static bool can_divide(const machine::Machine& m);

  /// Makes `count` batches, whose sums are not known yet.
  explicit IncrementalBatches(std::int64_t count) : count_(count) {}

  /// Returns the number of batches.
  std::int64_t count() const { return count_; }
  /// Returns true if the stored sums are those of the present factors of the items.
  bool known() const { return known_; }
  /// Marks the stored sums as invalid. Call it after changing factors of items. (A change of the statistics themselves
  /// is detected.)
  void forget() { known_ = false; }
  /// Sets whether the stored sums are valid, to what known() was before a temporary change.
  void remember(bool known) { known_ = known; }

  /// Serialises the state, for a checkpoint.
  template <class Archive>
  friend void fields(Archive& a, IncrementalBatches& p) {
    a(p.known_, p.sums_, p.total_);
  }

  /// Makes one pass over all items. If the sums of the batches are valid, it is an incremental sweep. Otherwise it is
  /// an ordinary sweep that stores these sums. Returns 0 or a status of the generated code.
  std::int32_t pass(const machine::Machine& m, machine::Plan plan);

 private:
  /// Replaces the sums of a batch, which are in the machine's statistics, and writes the total there.
  void merge(const machine::Machine& m, const machine::StepRow& stage, std::int64_t part);
  /// Returns true if the machine's statistics are the stored total, bit for bit.
  bool are_total(const machine::Machine& m, const machine::StepRow& stage) const;

  std::int64_t count_;                     // number of batches
  bool known_ = false;                     // true: `sums_` belongs to the present factors of the items
  std::vector<std::vector<double>> sums_;  // by batch: all statistics of the stage, one after another
  std::vector<double> total_;              // the sums over all batches
};

}  // namespace lehr
