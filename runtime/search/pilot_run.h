// A pilot run: estimates how well a model can explain its data, before a full run is spent on it.
#pragma once
#include "runtime/inference/svi.h"

namespace lehr {

/// Estimates how well the model can explain its data, before a full run; variational tempering warns if that is too
/// little for temperature 1. Writes to `nats` the expected log density of the data and their local variables after ten
/// full steps from the present factors, in nats for all items. If the model takes minibatches, it uses a sample of at
/// most 1000 items, which is explained better than all of them would be. Afterwards factors and sums are as before,
/// except factors of items that are in a window or out of core. Returns 0 or a status of the generated code; after a
/// failure nothing is restored.
std::int32_t pilot_energy(const Engine& engine, const SviOptions& options, double& nats);

}  // namespace lehr
