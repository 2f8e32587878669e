// Sweeps over the items of an engine, or over some of them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/methods/engine.h"

namespace lehr {

struct SweepOptions {
  std::int64_t local_iterations = 100;  // see machine::Accuracy
  double local_tolerance = 1e-4;
  bool rows = true;    // parameters of items that no sweep reads are written, too
  bool fresh = false;  // items are inferred from their priors, not from what was known of them, where one
                       // stage holds all local blocks
};

/// What a sweep does besides updating every step in order.
struct SweepPlan {
  bool items_only = false;  // no block outside the items
  std::optional<std::span<const std::int64_t>> batch =
      {};  // ascending items of the first stage's plate; sums are scaled up
  std::function<std::int32_t(const StepRow&)> update =
      {};              // of a block outside the items, instead of calling its function
  bool again = false;  // the items were formed by the sweep before
  bool bound = true;   // what the ELBO alone reads is formed, too
  bool parts = false;  // an incremental pass, see Parts; what the other members ask for is left out then
};

/// Nonzero: a status of the generated code.
std::int32_t sweep(const Engine& e, const SweepOptions& options, const SweepPlan& plan = {});

/// Sums of the data alone from these items, scaled up, in place of those of all items; Engine::prepare brings those
/// back.
std::int32_t sum_data(const Engine& e, std::span<const std::int64_t> batch);

/// The ELBO of the global factors as they are, every local factor at its optimum: items updated, nothing else.
std::int32_t evaluate(const Engine& e, const SweepOptions& options, Elbo& out);

/// Whether ascent leaves parameters of items as they were. Where blocks come before the items it does not: statistics
/// are then summed up anew from the factors as they are.
bool leaves_rows(const Engine& e, const SweepOptions& options);

/// The statistics of the factors as they are, where the first sweep reads them before it makes them.
std::int32_t prepare_statistics(const Engine& e);

}  // namespace lehr
