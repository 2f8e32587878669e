// The test of where coordinate ascent ends. A converged run is at a fixed point of its sweeps, which need not be a
// maximum of the ELBO: from a saddle point no sweep leads away, because every block is at its optimum given the others.
//
// Coordinate ascent never lowers the ELBO, so its fixed point is a strict maximum only if the derivative of a sweep has
// no eigenvalue above 1 there. The test finds the largest one by Arnoldi's method: products of the derivative with a
// vector are differences of two sweeps. Along its eigenvector the factors are displaced, and sweeps follow; if the ELBO
// rises, the run goes on from there. Otherwise the factors are put back bit for bit.
#pragma once
#include <cstdint>

#include "runtime/inference/cavi.h"

namespace lehr {

/// Returns true if the end of a run of this engine can be tested for a saddle point: the factors of all items are in
/// memory, and not in files.
bool can_test_end(const Engine& e);

/// Returns true if the factors that all items share have a slice of means next to 0, in standard deviations: a column
/// of W in products W z, say, or all of them. Where products decide, coordinate ascent is stationary there, at a saddle
/// point if the data speak for another value.
bool has_means_at_zero(const Engine& e);

/// Tests whether a converged run, whose outcome is `ended` and whose factors are in place, has ended at a saddle point
/// of the ELBO. It displaces the factors and goes on from each saddle point that can be left, from ten at most, and
/// until the run has made options.max_iterations sweeps. Returns the outcome of the run as a whole, with the saddle
/// points that it met; `ended` itself if the run has not converged. The sweeps of the test are neither reported nor
/// counted. `options` are those of the run; their annealing is ignored.
Outcome leave_saddles(const Engine& e, const CaviOptions& options, Outcome ended, const OnSweep& on_sweep);

}  // namespace lehr
