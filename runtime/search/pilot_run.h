// A pilot run: estimates how well a model can explain its data, before a full run is spent on it.
#pragma once
#include "runtime/inference/svi.h"

namespace lehr {

/// Computes the expected log density of the data and their local variables after ten full steps from the present
/// factors, in nats for all items. For many items it uses a sample, which is explained better than all of them would
/// be. The factors are restored; sums over items are not. Returns 0 or a status of the generated code.
std::int32_t pilot_energy(const Engine& engine, const SviOptions& options, double& nats);

}  // namespace lehr
