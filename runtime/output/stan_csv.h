// Draws in the CSV format of CmdStan: a line for each draw, `lp__` first, then a column for every element of every
// variable. Elements are named from 1, row-major: `mu.2.1`.
#pragma once
#include <string>
#include <vector>

#include "runtime/files/labelled.h"
#include "runtime/result.h"

namespace lehr {

/// Returns the names of CmdStan's columns for arrays whose first axis is the draw: "mu.2.1" for element (2, 1) of mu.
std::vector<std::string> column_names(const std::vector<NamedArray>& draws);

/// Formats draws as a table. `draws` are arrays over [draw] and further axes; `log_joint` is the log joint density of
/// each draw, the column `lp__`. `comments` are lines before the table, without their `#`.
std::string format_stan_csv(const std::vector<NamedArray>& draws, const std::vector<double>& log_joint,
                            const std::vector<std::string>& comments);

/// Formats the group `posterior`, over chain and draw, one chain after another. The group `sample_stats`, if there is
/// one, gives `lp__`.
Result<std::string> format_stan_csv(const LabelledArrays& arrays);

}  // namespace lehr
