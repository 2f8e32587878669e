// The sweep and the stopping rule.
#include "runtime/engine/cavi.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace lehr {
namespace {

void clear(Engine& e, const EngineStage& stage) {
  for (std::size_t b : stage.statistics) {
    for (double& x : e.memory.reals(b))
      x = 0;
  }
}

std::int32_t run_items(Engine& e, const EngineStage& stage, const Generated& f, const CaviOptions* options) {
  clear(e, stage);
  const std::int64_t integers[] = {0, stage.items, options ? options->local_iterations : 1};
  const double reals[] = {options ? options->local_tolerance : 0};
  return f(e.memory.table(), e.sizes.data(), integers, reals);
}

std::int32_t sweep(Engine& e, const CaviOptions& options, bool locals_only = false) {
  for (const auto& step : e.steps) {
    std::int32_t status = 0;
    if (const auto* stage = std::get_if<EngineStage>(&step)) {
      status = e.call(stage->tables);
      if (status == 0) status = run_items(e, *stage, stage->update, &options);
    } else if (!locals_only) {
      status = e.call(std::get<EngineUpdate>(step).function);
    }
    if (status != 0) return status;
  }
  return 0;
}

using Snapshot = std::vector<std::vector<double>>;

/// Largest, over the arrays, of the mean absolute change relative to the mean absolute value; remembers the
/// new values. Infinite the first time; 0 when there is nothing but local factors.
double movement(const Engine& e, std::optional<Snapshot>& snapshot) {
  double largest = snapshot ? 0 : INFINITY;
  if (!snapshot) snapshot.emplace();
  Snapshot& before = *snapshot;
  before.resize(e.settled.size());
  for (std::size_t k = 0; k < e.settled.size(); ++k) {
    const std::span<const double> now = e.memory.reals(e.settled[k]);
    double moved = 0, size = 0;
    before[k].resize(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      moved += std::abs(now[i] - before[k][i]);
      size += std::abs(now[i]);
      before[k][i] = now[i];
    }
    if (moved > 0) largest = std::max(largest, moved / (size + 1e-12 * static_cast<double>(now.size())));
  }
  return largest;
}

/// How far the parameters still have to go, from the largest movement of each sweep: the tail of the geometric series
/// that the last sweeps suggest. Ratios near 1 count as 1 - 1e-4, so that rounding cannot hold a fit up for ever.
class Tail {
 public:
  double after(double moved) {
    constexpr std::size_t kSweeps = 10, kFewest = 3;
    constexpr double kRounding = 1e-14, kSlowest = 1 - 1e-4;
    recent_.push_back(moved);
    if (recent_.size() > kSweeps + 1) recent_.erase(recent_.begin());
    if (moved <= kRounding) return moved;
    const std::size_t sweeps = recent_.size() - 1;
    if (sweeps < kFewest) return INFINITY;
    const double ratio = std::min(kSlowest, std::pow(moved / recent_.front(), 1.0 / static_cast<double>(sweeps)));
    return moved * ratio / (1 - ratio);
  }

 private:
  std::vector<double> recent_;
};

}  // namespace

std::string_view name_of(Status s) {
  switch (s) {
    case Status::converged:
      return "converged";
    case Status::max_iter:
      return "max_iter";
    case Status::numerical_failure:
      return "numerical_failure";
    case Status::interrupted:
      return "interrupted";
  }
  return "";
}

std::int32_t sum_statistics(Engine& e) {
  for (const auto& step : e.steps) {
    const auto* stage = std::get_if<EngineStage>(&step);
    if (!stage || !stage->sum) continue;
    if (const std::int32_t status = run_items(e, *stage, stage->sum, nullptr)) return status;
  }
  return 0;
}

std::int32_t seed_statistics(Engine& e) {
  for (const auto& step : e.steps) {
    const auto* stage = std::get_if<EngineStage>(&step);
    if (!stage || !stage->seed) continue;
    if (const std::int32_t status = run_items(e, *stage, stage->seed, nullptr)) return status;
  }
  return 0;
}

std::int32_t update_globals(Engine& e) {
  for (const auto& step : e.steps) {
    const auto* update = std::get_if<EngineUpdate>(&step);
    if (!update || update->seeded) continue;
    if (const std::int32_t status = e.call(update->function)) return status;
  }
  return 0;
}

std::int32_t evaluate(Engine& e, const CaviOptions& options, double& elbo) {
  if (const std::int32_t status = sweep(e, options, true)) return status;
  if (const std::int32_t status = e.call(e.elbo)) return status;
  elbo = e.memory.reals(e.elbo_buffer)[0];
  return 0;
}

Outcome run_cavi(Engine& e, const CaviOptions& options, const OnSweep& on_sweep) {
  Outcome out;
  const auto failed = [&](std::int32_t status) {
    out.status = Status::numerical_failure;
    out.failure = e.describe(status);
    return out;
  };
  // A block that comes before the items of some stage reads the statistics of their factors as they start.
  const bool later_stage = std::any_of(e.steps.begin() + (e.steps.empty() ? 0 : 1), e.steps.end(), [](const auto& s) {
    const auto* stage = std::get_if<EngineStage>(&s);
    return stage && !stage->refresh;
  });
  if (later_stage) {
    if (const std::int32_t status = sum_statistics(e)) return failed(status);
  }
  std::optional<Snapshot> snapshot;
  movement(e, snapshot);
  Tail tail;
  double previous = -INFINITY;
  while (out.iterations < options.max_iterations) {
    if (const std::int32_t status = sweep(e, options)) return failed(status);
    if (const std::int32_t status = e.call(e.elbo)) return failed(status);
    ++out.iterations;
    out.elbo = e.memory.reals(e.elbo_buffer)[0];
    // Logarithms of 0 stand as a huge negative number: data that no value of the variables could have given.
    constexpr double kImpossible = -1e200;
    if (!std::isfinite(out.elbo) || out.elbo < kImpossible) {
      out.status = Status::numerical_failure;
      out.failure =
          std::isfinite(out.elbo) ? "the data have probability 0 under the model" : "the ELBO is not finite";
      return out;
    }
    if (out.elbo < previous - 1e-9 * (1 + std::abs(out.elbo))) ++out.decreases;
    const double moved = movement(e, snapshot), left = tail.after(moved);
    const bool keep = on_sweep(out.iterations, out.elbo);
    if (std::abs(out.elbo - previous) <= options.tolerance * (1 + std::abs(out.elbo)) &&
        moved <= std::sqrt(options.tolerance) && left <= std::sqrt(options.tolerance)) {
      out.status = Status::converged;
      return out;
    }
    previous = out.elbo;
    if (!keep) {
      out.status = Status::interrupted;
      return out;
    }
  }
  out.status = Status::max_iter;
  return out;
}

}  // namespace lehr
