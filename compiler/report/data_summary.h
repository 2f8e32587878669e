// A table that summarises the data of a fit.
#pragma once
#include "compiler/binding/bind.h"
#include "compiler/report/markup.h"

namespace lehr::report {

/// Returns the report's table of the data, with one row for each array that has elements. A row has the array's name,
/// role (observed, latent with some values in the data, or given) and axes, the counts of
/// present and missing numbers, and the mean, standard deviation, minimum and maximum of those present. For categories
/// it has in their place how many different values occur. Empty markup if there is no such array.
Markup data_summary(const model::Model& m, const BoundData& data);

}  // namespace lehr::report
