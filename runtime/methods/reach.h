// How well a model can explain its data, before a run is spent on it.
#pragma once
#include "runtime/methods/svi.h"

namespace lehr {

/// The expected log density of the data and their local variables, in nats for all items, after ten full steps from the
/// present factors. A sample of the items stands for many, and is explained better than all of them would be. The
/// factors stay as they are; sums over items do not. Nonzero: a status of the generated code.
std::int32_t energy_within_reach(const Engine& engine, const SviOptions& options, double& nats);

}  // namespace lehr
