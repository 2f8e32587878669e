// All numbers of a posterior for other programs: CSV or JSON with one row for each scalar (`lehr show --format`).
#pragma once
#include <string>

#include "compiler/posterior/posterior_numbers.h"

namespace lehr {

/// Returns all numbers of a posterior as CSV (RFC 4180) for `lehr show --format csv`, one row for each scalar:
/// `variable`, one column for each axis, then mean, sd, q5, q50, q95. Cells are empty if a variable has no such axis,
/// or a number no such value. Elements are named by their labels, else by their numbers, counted from Plate::from and
/// within the row of a nested plate. An axis whose column name is in use already is named `NAME_2`.
std::string format_posterior_csv(const SavedFit& fit, const PosteriorTable& table);

/// Returns all numbers of a posterior as JSON for `lehr show --format json`: an array with an object for each scalar,
/// with `variable`, `index`, mean, sd, q5, q50, q95. `index` is an object with the label of the element on each axis
/// or, without labels, its number, counted from Plate::from and within the row of a nested plate. Values that are
/// missing or not finite are null.
std::string format_posterior_json(const SavedFit& fit, const PosteriorTable& table);

}  // namespace lehr
