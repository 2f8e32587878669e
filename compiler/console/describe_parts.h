// Building blocks of the text descriptions in describe.h: aligned tables, the line that counts hidden rows, and the
// table for sampled variables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/output/saved_fit.h"

namespace lehr {

/// One line of a text table: a cell for each column, for table().
using Row = std::vector<std::string>;

/// Returns the rows as an indented text table for the terminal: the first column is left-aligned, all others
/// right-aligned to the widest cell. Widths count UTF-8 characters. Rows may have different lengths.
std::string table(const std::vector<Row>& rows);

/// Returns the line "... and N more" that ends a shortened table: `all` rows exist, of which `shown` are printed. Empty
/// if all are.
std::string omitted_elements_line(std::size_t all, std::size_t shown);

/// Returns the table that `lehr show` prints of a variable whose posterior was sampled, with a row for each scalar, at
/// most `max_elements`. Columns are mean, sd, Monte Carlo standard error of the mean, bulk and tail effective sample
/// size, and R-hat.
std::string describe_draws(const SavedFit& fit, const SavedVariable& v, std::size_t max_elements);

}  // namespace lehr
