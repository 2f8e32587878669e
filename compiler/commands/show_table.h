// The posterior in forms that other programs read: a row for each number.
#pragma once
#include <string>

#include "compiler/fitting/posterior_numbers.h"

namespace lehr {

/// RFC 4180: `variable`, a column for each axis, then mean, sd, q5, q50, q95; empty where a variable has no such axis
/// or a number no such value. Elements are called by their label, else by their number from 0. An axis that a variable
/// has twice, or that is called as another column, is called `NAME_2`.
std::string format_posterior_csv(const SavedFit& fit, const PosteriorTable& table);

/// An array of objects with the same names; the axes stand in an object `index`; null where there is no such value or
/// none that is finite.
std::string format_posterior_json(const SavedFit& fit, const PosteriorTable& table);

}  // namespace lehr
