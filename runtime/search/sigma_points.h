// Sigma points: a few artificial items with the number, mean and covariance of all items, after the points of the
// unscented transform (Julier & Uhlmann 1997). Where the sums over items depend on the data of the items by these alone
// (machine::StepRow::moments), d + 1 sigma points stand for N items with d numbers each, and a sweep costs d + 1 items
// in place of N. The ELBO is the same.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "runtime/inference/cavi.h"

namespace lehr {

/// Runs a method of coordinate ascent on sigma points in place of the items, and then coordinate ascent with these
/// options on all items from the factors that it has found, which converges in a few sweeps. It does so where sweeps
/// over all items are much work, sigma points are possible, and forming them takes less work than sweeps save.
/// Otherwise, or if the method fails or the ELBO of all items is lower than that of the sigma points, it runs the
/// method on all items from the factors in place.
///
/// `method` gets the items for SweepOptions::items (empty: all), and runs from the factors in place. The outcome counts
/// its sweeps and those on all items.
Outcome run_on_sigma_points(const Engine& e, const CaviOptions& options, const OnSweep& on_sweep,
                            const std::function<Outcome(std::span<const std::int64_t> items)>& method);

}  // namespace lehr
