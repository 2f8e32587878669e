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

/// The label of an element of a plate, or null.
const std::string* find_label(const SavedFit& fit, const std::string& plate, std::size_t index);

/// What an element is called: its label, else its plate and number.
std::string element(const SavedFit& fit, const std::string& plate, std::size_t index);
/// The element at a row-major position, one name an axis.
std::string element(const SavedFit& fit, const std::vector<std::string>& plates,
                    const std::vector<std::int64_t>& extents, std::size_t position);

/// A row for each number of a variable that was sampled: mean, sd, Monte Carlo standard error of the mean, effective
/// sizes and R-hat; at most `rows`.
std::string describe_draws(const SavedFit& fit, const SavedVariable& v, std::size_t rows);

}  // namespace lehr
