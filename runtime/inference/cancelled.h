// How many nats of an ELBO are rounding because its parts are huge and cancel, as those of points on their way to 0 do:
// expected log densities of 1/a and entropies of -1/a for a concentration a.
#pragma once
#include <cmath>
#include <limits>

#include "runtime/machine/machine.h"

namespace lehr {

/// An ELBO of which more than this part is rounding has lost its digits.
inline constexpr double kMostCancelled = 1e-5;

/// Returns how many nats of an ELBO are rounding because its parts cancel; 0 where they leave nine digits to it.
inline double lost_to_cancellation(const machine::Elbo& e) {
  constexpr double kDigits = 1e-9;
  constexpr double kFunctions = 4;  // errors of log gamma functions, in units of rounding
  const double parts = std::abs(e.data_energy) + std::abs(e.entropy) + std::abs(e.value - e.data_energy - e.entropy);
  const double nats = kFunctions * std::numeric_limits<double>::epsilon() * parts;
  return nats > kDigits * (1 + std::abs(e.value)) ? nats : 0;
}

/// Returns how far an objective may fall by rounding from one sweep to the next, with this slack relative to 1 + its
/// size.
inline double allowed_fall(double slack, double objective, const machine::Elbo& elbo) {
  constexpr double kSums = 4;  // the sums of which two ELBOs consist
  return slack * (1 + std::abs(objective)) + kSums * lost_to_cancellation(elbo);
}

}  // namespace lehr
