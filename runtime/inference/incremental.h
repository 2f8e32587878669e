// Incremental sweeps (Neal & Hinton 1998; memoized variational inference, Hughes & Sudderth 2013). The items are
// divided into batches ("parts"); after each batch, everything outside the items is updated. The sums over all items
// stay current: the new sums of the batch replace its old ones, total += new - old. Every update is coordinate
// ascent on the same ELBO, and one pass over the items gets about as far as several sweeps.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/machine/machine.h"

namespace lehr {

/// The state of incremental sweeps over the items of one engine: the number of batches of items, and the statistics
/// that each batch last contributed. Engine::parts() returns it; pass() replaces the statistics batch by batch.
class IncrementalBatches {
 public:
  /// Returns the number of batches that is expected to save time. It is 1 if the updates outside the items are costly,
  /// if the items are little work, or if the model cannot be divided.
  static std::int64_t choose(const machine::Machine& m);
  /// Returns true if the items of a model can be visited in batches: all are in one stage that takes minibatches, the
  /// machine has no window (memory for the factors of a few items only), and nothing is drawn, as a sampler does.
  static bool can_divide(const machine::Machine& m);

  /// Makes `count` batches, whose sums are not computed yet.
  explicit IncrementalBatches(std::int64_t count) : count_(count) {}

  /// Returns the number of batches.
  std::int64_t count() const { return count_; }
  /// Returns true if the statistics stored for the batches were computed from the present factors of the items. Then
  /// pass() can make an incremental sweep.
  bool is_valid() const { return valid_; }
  /// Marks the stored statistics of the batches as invalid, so that the next pass() is an ordinary sweep that stores
  /// them anew. Call it after changing factors of items by other means than pass(). A change of the engine's statistics
  /// themselves is detected without this call.
  void invalidate() { valid_ = false; }
  /// Sets whether the statistics stored for the batches are valid. A caller that changes factors for a while uses it to
  /// restore what is_valid() returned before.
  void set_valid(bool valid) { valid_ = valid; }

  /// Serialises the state, for a checkpoint.
  template <class Archive>
  friend void fields(Archive& a, IncrementalBatches& p) {
    a(p.valid_, p.sums_, p.total_);
  }

  /// Makes one pass over all items. If the statistics stored for the batches are valid, it is an incremental sweep: one
  /// sweep of `plan` for each batch, which visits the items of that batch alone. Otherwise it is one ordinary sweep
  /// that stores them. Returns 0 or a status of the generated code; after a failure the statistics are not valid.
  std::int32_t pass(const machine::Machine& m, machine::Plan plan);

 private:
  /// Replaces the stored statistics of one batch by the new ones, which are in the machine's buffers. Then writes the
  /// total over all batches to these buffers, for the updates outside the items.
  void merge(const machine::Machine& m, const machine::StepRow& stage, std::int64_t part);
  /// Returns true if the machine's statistics are the stored total over all batches, bit for bit. Otherwise something
  /// else has changed them, and the stored statistics of the batches cannot be used.
  bool are_total(const machine::Machine& m, const machine::StepRow& stage) const;

  std::int64_t count_;                     // number of batches
  bool valid_ = false;                     // true: `sums_` belongs to the present factors of the items
  std::vector<std::vector<double>> sums_;  // by batch: all statistics of the stage, one after another
  std::vector<double> total_;              // the sums over all batches
};

}  // namespace lehr
