// Data with many items: how much work sweeps over all of them are, and a random sample of the items on which a
// search finds what it would find on all of them.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/inference/engine.h"

namespace lehr {

/// Estimates the arithmetic operations of a sweep over all items in memory, without repeated (refresh) steps, by which
/// a search decides how many sweeps it makes.
double operations_of_sweep(const Engine& engine);

/// Returns a random sample of the items on which a search begins where sweeps over all are much work; ascending, for
/// SweepOptions::items. It has a sixth of the items, or more if that is needed for 64 items or for ten observed numbers
/// for each global parameter. Empty if a sample is impossible (the items cannot be distributed, see
/// Engine::can_distribute, or are out of core), or if it would have more than 0.3 of all items: there are few items, or
/// many global parameters.
std::vector<std::int64_t> sample_of_items(const Engine& engine, std::uint64_t seed);

}  // namespace lehr
