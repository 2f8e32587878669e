// How much memory a run on items from files comes to have at most.
#pragma once
#include "runtime/methods/engine.h"

namespace lehr {

/// Bytes, from what the process has had by now, before the first start: the items that are worked on at a time (their
/// files' text, what it is read into, data and factors), sums on every thread, and copies of what is written.
double peak_memory(const Engine& engine, std::int64_t items_at_a_time, std::size_t threads);

}  // namespace lehr
