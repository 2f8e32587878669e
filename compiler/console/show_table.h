// All numbers of a posterior for other programs: CSV or JSON with one row for each scalar (`lehr show --format`).
#pragma once
#include <string>

#include "compiler/posterior/posterior_numbers.h"

namespace lehr {

/// Returns the posterior as CSV (RFC 4180): `variable`, one column for each axis, then mean, sd, q5, q50, q95. Cells
/// are empty if a variable has no such axis, or a number no such value. Elements are named by their labels, else by
/// their numbers (first_number), within the row of a nested plate. An axis whose column name is in use already is named
/// `NAME_2`.
std::string format_posterior_csv(const SavedFit& fit, const PosteriorTable& table);

/// Returns the posterior as a JSON array of objects with the names of the CSV columns. The axes are in an object
/// `index`, with labels or, without labels, positions from 0. Values that are missing or not finite are null.
std::string format_posterior_json(const SavedFit& fit, const PosteriorTable& table);

}  // namespace lehr
