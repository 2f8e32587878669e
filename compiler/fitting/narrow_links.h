// Which standard deviations the bounds and auxiliary numbers of links make too small.
#pragma once
#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace lehr {

/// Global continuous variables, points excepted, that stand in a term with the point of a bound (logistic, softmax,
/// absolute values) or with the auxiliary number of a probit link or a limit. Members of a joint factor by their names.
std::vector<std::string> narrowed_by_links(const Analysed& analysed);

}  // namespace lehr
