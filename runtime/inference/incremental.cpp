// Incremental sweeps. After a batch of items, the machine's statistics are those of the batch; merge() replaces them by
// the total over all batches, with the new sums in place of the old ones. Once a pass, the total is added up afresh, so
// that rounding errors do not accumulate.
#include "runtime/inference/incremental.h"

#include <algorithm>

namespace lehr {
namespace {

using machine::Machine;
using machine::StepRow;

constexpr double kMost = 5;                // batches
constexpr double kLeastRatio = 3;          // least ratio of operations on items to those outside, in each batch
constexpr double kOperations = 4'000'000;  // least operations of a batch
constexpr double kMerge = 4;               // operations of merging one number
constexpr double kMemory = 1e9;            // most bytes of the sums of all batches

/// Returns how many numbers the statistics of a stage have.
double statistics_size(const Machine& m, const StepRow& stage) {
  double out = 0;
  for (const std::int64_t b : machine::statistics_of(*m.model, stage))
    out += static_cast<double>(m.view().length(b));
  return out;
}

/// Calls `body(number, position)` for all numbers of the statistics of a stage; positions count through all buffers.
template <class Body>
void each_number(const Machine& m, const StepRow& stage, const Body& body) {
  std::size_t k = 0;
  for (const std::int64_t b : machine::statistics_of(*m.model, stage)) {
    for (double& x : m.view().reals(b))
      body(x, k++);
  }
}

}  // namespace

bool IncrementalBatches::can_divide(const Machine& m) {
  const auto steps = machine::steps_of(*m.model);
  const auto stages = std::ranges::count_if(steps, [](const StepRow& s) { return s.stage && !s.refresh; });
  const StepRow* const stage = machine::batch_stage(*m.model);
  return stages == 1 && m.model->batch_slot >= 0 && stage->batched && !m.window && m.model->random_key < 0;
}

std::int64_t IncrementalBatches::choose(const Machine& m) {
  if (!can_divide(m)) return 1;
  const StepRow& stage = *machine::batch_stage(*m.model);
  const auto items = static_cast<double>(m.view().extent(stage.items));
  const double work = items * static_cast<double>(stage.operations), sums = statistics_size(m, stage);
  double outside = kMerge * sums;
  for (const StepRow& step : machine::steps_of(*m.model))
    outside += static_cast<double>(step.outside);
  const double worth =
      std::min({work / (kLeastRatio * outside), work / kOperations, items, kMemory / (8 * sums), kMost});
  return worth >= 1 ? static_cast<std::int64_t>(worth) : 1;  // NaN if there is no work at all
}

bool IncrementalBatches::are_total(const Machine& m, const StepRow& stage) const {
  bool same = true;
  each_number(m, stage, [&](double x, std::size_t k) { same = same && k < total_.size() && x == total_[k]; });
  return same;
}

void IncrementalBatches::merge(const Machine& m, const StepRow& stage, std::int64_t part) {
  std::vector<double>& old = sums_[static_cast<std::size_t>(part)];
  each_number(m, stage, [&](double& x, std::size_t k) {
    total_[k] += x - old[k];
    old[k] = x;
  });
  if (part + 1 == count_) {
    // The total is added up afresh: errors of adding and subtracting must not outlast a pass.
    for (std::size_t k = 0; k < total_.size(); ++k) {
      total_[k] = 0;
      for (const std::vector<double>& s : sums_)
        total_[k] += s[k];
    }
  }
  each_number(m, stage, [&](double& x, std::size_t k) { x = total_[k]; });
}

std::int32_t IncrementalBatches::pass(const Machine& m, machine::Plan plan) {
  const StepRow& stage = *machine::batch_stage(*m.model);
  const auto as_total = [&](const std::vector<double>& s) { return s.size() == total_.size(); };
  const bool sweep =
      !valid_ || std::ssize(sums_) != count_ || !std::ranges::all_of(sums_, as_total) || !are_total(m, stage);
  valid_ = false;  // unless this pass succeeds
  if (sweep) {
    total_.assign(static_cast<std::size_t>(statistics_size(m, stage)), 0.0);
    sums_.assign(static_cast<std::size_t>(count_), total_);
  }
  struct Merge {
    IncrementalBatches& parts;
    const Machine& machine;
  } context{*this, m};
  machine::PartedVisit division{&context,
                                [](void* c, const StepRow& at, std::int64_t part) {
                                  const auto& merge = *static_cast<const Merge*>(c);
                                  merge.parts.merge(merge.machine, at, part);
                                },
                                count_, 0, count_};
  plan.division = &division;
  for (std::int64_t k = 0; k < (sweep ? 1 : count_); ++k) {
    // The first pass is one sweep that visits all batches; later ones are a sweep for each batch.
    if (!sweep) division.first = k, division.last = k + 1;
    if (const std::int32_t status = machine::sweep(m, plan)) return status;
  }
  valid_ = true;
  return 0;
}

}  // namespace lehr
