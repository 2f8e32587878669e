// The factors of single items: where they are, and how they are formed from their priors.
#pragma once
#include "runtime/machine/machine.h"

namespace lehr::machine {

/// The row at which an item begins in arrays whose first axis has this size: the items themselves, or a plate nested in
/// them at any depth (by its row offsets); -1 for other sizes. `item` may be one past the last. Items are those of this
/// extent, or of the stage that holds all local blocks.
std::int64_t row_of(const Machine& m, Extent items, Extent size, std::int64_t item);
std::int64_t row_of(const Machine& m, Extent size, std::int64_t item);

/// Whether a buffer holds factors of the items, row by row; then the numbers in a row.
bool is_of_items(const Machine& m, std::int64_t buffer);
std::size_t row_width(const Machine& m, std::int64_t buffer);

/// Makes the runs the ones that a window keeps; nothing without a window.
void place(const Machine& m, std::span<const ItemRange> runs);
/// The factors of the k-th of the runs that were placed.
std::span<double> factors_of(const Machine& m, std::size_t k, ItemRange run, std::int64_t buffer);
/// A table in which the items of that run have their own indices; good until the next run's.
lehr_buffer const* table_of(const Machine& m, std::size_t k, ItemRange run);
/// Their factors from their priors.
std::int32_t form(const Machine& m, std::size_t k, ItemRange run);
std::int32_t run_expectations(const Machine& m, std::size_t k, ItemRange run);

}  // namespace lehr::machine
