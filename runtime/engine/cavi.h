// Coordinate ascent: sweeps over the steps of an engine until the ELBO and the parameters have settled.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"

namespace lehr {

enum class Status { converged, max_iter, numerical_failure, interrupted };
std::string_view name_of(Status s);

struct CaviOptions {
  std::int64_t max_iterations = 1000;
  /// Converged when the ELBO moves by at most tolerance * (1 + |ELBO|) and every global parameter array moves, and has
  /// left to go as far as the last sweeps tell, at most sqrt(tolerance) of its mean size.
  double tolerance = 1e-8;
  std::int64_t local_iterations = 100;   // per item, where local blocks depend on each other
  double local_tolerance = 1e-4;         // mean relative change of the item's parameters
};

struct Outcome {
  Status status = Status::max_iter;
  std::int64_t iterations = 0;
  double elbo = 0;
  std::string failure;                   // numerical_failure: what happened
  std::int64_t decreases = 0;            // sweeps after which the ELBO was lower beyond rounding
};

/// Called after each sweep with (iteration from 1, ELBO); false stops the run (interrupted).
using OnSweep = std::function<bool(std::int64_t iteration, double elbo)>;

/// Statistics of the stored local factors as they are, nothing updated.
std::int32_t sum_statistics(Engine& engine);
/// Items take the values of the pick buffers; statistics are those of the items with picks.
std::int32_t seed_statistics(Engine& engine);
/// All blocks outside the items, but chains that were seeded.
std::int32_t update_globals(Engine& engine);

/// The ELBO of the global factors as they are, every local factor at its optimum: items updated, nothing else.
/// Nonzero: a status of the generated code.
std::int32_t evaluate(Engine& engine, const CaviOptions& options, double& elbo);

Outcome run_cavi(Engine& engine, const CaviOptions& options, const OnSweep& on_sweep);

}  // namespace lehr
