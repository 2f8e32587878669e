// A table that summarises the data of a fit.
#pragma once
#include "compiler/binding/bind.h"
#include "compiler/report/markup.h"

namespace lehr::report {

/// Returns a table with one row for each array of data. A row has the array's name, role and axes, the counts of
/// present and missing numbers, and their mean, standard deviation, minimum and maximum. For categories it counts the
/// values that occur.
Markup data_summary(const model::Model& m, const BoundData& data);

}  // namespace lehr::report
