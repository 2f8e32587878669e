// Counts of the steps between sweeps that a run has tried. A step that lowers the ELBO is undone, so each of them was
// accepted or refused.
#pragma once
#include <algorithm>
#include <cstdint>

namespace lehr {

/// How many steps of one kind between the sweeps of coordinate ascent, such as extrapolations, were accepted, and how
/// many were undone because the ELBO was lower after the next sweep.
struct Attempts {
  std::int64_t accepted = 0,  // the ELBO was not lower after the next sweep
      refused = 0;            // the ELBO was lower, or the sweep failed: the step was undone

  /// Returns how many steps were tried, accepted or not.
  std::int64_t all() const { return accepted + refused; }

  /// Adds the counts of another run.
  Attempts& operator+=(const Attempts& more) {
    accepted += more.accepted;
    refused += more.refused;
    return *this;
  }
};

/// How many steps between the sweeps of coordinate ascent a run has tried, by kind; the report shows them.
struct TriedSteps {
  Attempts extrapolations,  // steps ahead from the last sweeps (extrapolation.h)
      basis_changes,        // changes of basis of latent variables that leave the likelihood alone (invariance.h)
      shifts;               // shifts of constants or of logarithms that leave the likelihood alone (invariance.h)

  std::int64_t sigma_points = 0;  // sigma points that stood for all items (search/sigma_points.h); 0: none

  /// Adds the counts of another run.
  TriedSteps& operator+=(const TriedSteps& more) {
    extrapolations += more.extrapolations;
    basis_changes += more.basis_changes;
    shifts += more.shifts;
    sigma_points = std::max(sigma_points, more.sigma_points);
    return *this;
  }
};

}  // namespace lehr
