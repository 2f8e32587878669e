// Predicts the peak memory of a run on out-of-core items. The prediction is printed before the run begins.
#pragma once
#include "runtime/inference/engine.h"

namespace lehr {

/// Returns the predicted peak of memory of a run on out-of-core items in bytes, to tell the user before the first
/// start. It adds up the peak of the process so far, the items in memory at a time (text, parsed and bound data,
/// factors), the sums of every thread, and copies for the output files.
double peak_memory(const Engine& engine, std::int64_t items_at_a_time, std::size_t threads);

}  // namespace lehr
