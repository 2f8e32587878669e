// A table that summarises the data of a fit.
#pragma once
#include "compiler/model/bind.h"
#include "compiler/report/markup.h"

namespace lehr::report {

/// Returns a table with one row for each array of data: its name and role, its axes, how many numbers are present and
/// missing, and their mean, standard deviation, minimum and maximum. For categories it counts the values that occur.
Markup data_summary(const model::Model& m, const BoundData& data);

}  // namespace lehr::report
