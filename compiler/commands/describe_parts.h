// What descriptions of variables are made of.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/files/saved_fit.h"

namespace lehr {

using Row = std::vector<std::string>;

/// Lines of columns: names on the left, numbers on the right of theirs.
std::string table(const std::vector<Row>& rows);

/// A line for rows that are not shown, or nothing.
std::string more(std::size_t all, std::size_t shown);

/// A row for each number of a variable that was sampled: mean, sd, Monte Carlo standard error of the mean, effective
/// sizes and R-hat; at most `rows`.
std::string describe_draws(const SavedFit& fit, const SavedVariable& v, std::size_t rows);

}  // namespace lehr
