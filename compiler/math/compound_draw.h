// Draws of compound distributions whose value is known to lie between two limits.
#pragma once
#include <optional>
#include <span>

#include "compiler/math/family.h"

namespace lehr::math {

/// A draw of both numbers of a compound distribution.
struct CompoundDraw {
  double hidden = 0, value = 0;  // the hidden variable, and the value given it
};

/// Draws both numbers given that the value lies between the limits, either of which may be infinite. The row is that of
/// a Normal number whose precision is multiplied by a Gamma variable (Student's t); `parameters` are as for
/// FamilyRow::draw. Returns nothing for other rows, and if the interval has no probability in double precision.
std::optional<CompoundDraw> draw_compound_between(const FamilyRow& row, std::span<const double> parameters,
                                                  double lower, double upper, Rng& rng);

}  // namespace lehr::math
