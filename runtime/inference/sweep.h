// Sweeps over the items of an engine, or over a minibatch of them, for all methods of this folder. Each function here
// is recorded in the engine's journal (journal.h), so that a resumed run can replay it. Functions that return
// std::int32_t give 0 or a failure status of the generated code.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/inference/engine.h"

namespace lehr {

/// How a method infers the items, the same in all of its sweeps.
struct SweepOptions {
  std::int64_t local_iterations = 100;       // most iterations over the local blocks of an item, see machine::Accuracy
  double local_tolerance = 1e-4;             // relative change of an item's parameters at which the iterations stop
  bool item_parameters = true;               // true: per-item parameters that no sweep reads are written, too, so that
                                             // the caller can save them
  bool fresh = false;                        // true: items begin at their priors instead of their last factors, if one
                                             // stage has all local blocks
  std::span<const std::int64_t> items = {};  // a sample of the items, ascending: sweeps visit these alone and scale
                                             // their sums up to those of all, as with a minibatch. Empty: all items
};

/// What one sweep does differently from updating every step in order.
struct SweepPlan {
  bool items_only = false;  // true: only item stages run; blocks outside the items stay
  std::optional<std::span<const std::int64_t>> batch =
      {};  // a minibatch: ascending items; their sums are scaled up to all items. None: all items
  std::function<std::int32_t(const StepRow&)> update =
      {};              // updates the blocks outside the items; empty: their generated functions do
  bool again = false;  // true: items begin at the factors of the sweep before, even if `fresh`
  bool bound = true;   // false: sums for the ELBO alone are left out, so that it is not valid afterwards
  bool parts = false;  // true: an incremental sweep (IncrementalBatches) if there are several parts and neither `batch`
                       // nor SweepOptions::items; it ignores the other members
};

/// Makes one sweep: updates the local factors of the items, their statistics, and every block outside the items once,
/// in the order of the schedule. The weights (temperatures, step size) are those set in the engine. Returns 0 or a
/// failure status of the generated code.
std::int32_t sweep(const Engine& e, const SweepOptions& options, const SweepPlan& plan = {});

/// Replaces the sums of the data alone by those of a minibatch, scaled up to all items, before a stochastic step or a
/// search on a sample of the items. Engine::prepare restores the sums of all items. Returns 0 or a failure status of
/// the generated code.
std::int32_t sum_data(const Engine& e, std::span<const std::int64_t> batch);

/// Updates all items (or SweepOptions::items) with the global factors as they are, and computes the ELBO of the result.
/// Returns 0 or a failure status of the generated code.
std::int32_t evaluate(const Engine& e, const SweepOptions& options, Elbo& out);

/// Brings the local factors of all items to their optimum with the global ones as they are, repeating a scope of
/// several steps (machine::infer_items), and computes the ELBO of the result. Returns 0 or a failure status. It is not
/// recorded: call it inside Engine::recorded.
std::int32_t infer_items(const Engine& e, const SweepOptions& options, machine::SweepScope scope, Elbo& out);

/// Returns true if sweeps need not write per-item parameters: SweepOptions::item_parameters is false, and no block
/// comes before the items, for which statistics would be recomputed from these parameters.
bool omits_item_parameters(const Engine& e, const SweepOptions& options);

/// Computes the statistics of the present factors, if the first sweep reads them before it computes them. Every method
/// calls it before its first sweep. With SweepOptions::items it infers these items anew.
std::int32_t prepare_statistics(const Engine& e, const SweepOptions& options = {});

}  // namespace lehr
