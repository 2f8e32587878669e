#pragma once
#include "compiler/model/bind.h"
#include "compiler/report/markup.h"

namespace lehr::report {

/// A row for every array that the model got: its axes, how many numbers are there and missing, their mean, standard
/// deviation and ends.
Markup data_summary(const model::Model& m, const BoundData& data);

}  // namespace lehr::report
