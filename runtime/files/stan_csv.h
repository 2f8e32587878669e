// Draws as CmdStan writes them: a line a draw, `lp__` first, then every number of every variable, `mu.2.1` counted
// from 1.
#pragma once
#include <string>
#include <vector>

#include "runtime/files/labelled.h"
#include "runtime/result.h"

namespace lehr {

/// The columns of arrays over [draw] and further axes.
std::vector<std::string> column_names(const std::vector<NamedArray>& draws);

/// Without a log joint density there is no `lp__`. `comments` are lines before the table, without their `#`.
std::string format_stan_csv(const std::vector<NamedArray>& draws, const std::vector<double>& log_joint,
                            const std::vector<std::string>& comments);

/// The groups `posterior` and, where it is there, `lp` of `sample_stats`, over chain and draw: one chain after another.
Result<std::string> format_stan_csv(const LabelledArrays& arrays);

}  // namespace lehr
