// Draws in the CSV format of CmdStan: a line for each draw, with `lp__` first, then a column for every element of every
// variable. The indices of elements count from 1, in row-major order: `mu.2.1`.
#pragma once
#include <string>
#include <vector>

#include "runtime/files/labelled.h"
#include "runtime/result.h"

namespace lehr {

/// Returns the names of CmdStan's columns for arrays whose first axis is the draw: "mu.2.1" for element (2, 1) of mu.
std::vector<std::string> column_names(const std::vector<NamedArray>& draws);

/// Formats the draws of one chain in the CSV format of CmdStan, a line for each draw. `draws` are arrays over [draw]
/// and further axes; `log_joint` is the log joint density of each draw, the column `lp__`; its length is the number of
/// draws. `comments` are lines before the table, without the `#` that they get.
std::string format_stan_csv(const std::vector<NamedArray>& draws, const std::vector<double>& log_joint,
                            const std::vector<std::string>& comments);

/// Formats draws of all chains, one chain after another, in the CSV format of CmdStan. The draws are the arrays of the
/// group `posterior`, which must exist, over chain and draw. The first array of the group `sample_stats` gives the
/// column `lp__`; without the group there is no such column. Attributes become comments. It does not fail.
Result<std::string> format_stan_csv(const LabelledArrays& arrays);

}  // namespace lehr
