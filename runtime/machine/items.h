// Finds and initialises the factors of single items. An item (document, point, sequence) may own one row of some arrays
// and a range of rows of others, those over plates nested in it. Without a window these rows are in the table of
// buffers; with a window (machine::Window) they are in a small array that holds a few runs of items at a time.
// Functions that return std::int32_t give 0 or the failure status of the generated code.
#pragma once
#include "runtime/machine/machine.h"

namespace lehr::machine {

/// Returns the first row that belongs to `item` in arrays whose first axis has the extent `size`. That axis is the
/// items themselves, or a plate nested in them at any depth, whose row offsets are followed; for any other extent the
/// result is -1. `item` may be one past the last, which gives the end of the rows. `items` is the extent of the items.
std::int64_t row_of(const Machine& m, Extent items, Extent size, std::int64_t item);
/// Returns the first row that belongs to `item` in arrays whose first axis has the extent `size`: the items themselves,
/// or a plate nested in them at any depth. The items are those of the one stage that updates all local blocks. Returns
/// -1 for any other extent, or if there is no such stage.
std::int64_t row_of(const Machine& m, Extent size, std::int64_t item);

/// Returns true if a buffer contains factors (parameters or expectations) of the items, row by row. The items are those
/// of the one stage that updates all local blocks; false if there is no such stage.
bool is_of_items(const Machine& m, std::int64_t buffer);
/// Returns how many numbers one row of a buffer has: the product of all extents but the first.
std::size_t row_width(const Machine& m, std::int64_t buffer);

/// Gives the factors of these runs of items their memory in the window (machine::Window), in this order; earlier
/// contents are lost. Does nothing if there is no window, so that all factors have memory.
void assign_window(const Machine& m, std::span<const ItemRange> runs);
/// Returns the rows of a factor buffer (one for which is_of_items() is true) that belong to `run`, wherever they are
/// stored. `run` must be the k-th of the runs last passed to assign_window(); without a window, k is ignored.
std::span<double> factors_of(const Machine& m, std::size_t k, ItemRange run, std::int64_t buffer);
/// Returns a table of buffers in which the items of `run` have their own indices, although the window stores only some
/// rows. With a window, the table is Machine::run_table and is valid until the next call; otherwise it is
/// Machine::table.
lehr_buffer const* table_of(const Machine& m, std::size_t k, ItemRange run);
/// Sets the local factors of the items of `run` to their priors, and computes their expectations; improper priors
/// become standard factors (see repair()). `run` must be the k-th of the runs last passed to assign_window(). It
/// requires one stage with all local blocks.
std::int32_t form(const Machine& m, std::size_t k, ItemRange run);
/// Recomputes the expected statistics of the local factors of the items of `run` from their parameters. `run` must be
/// the k-th of the runs last passed to assign_window(). It requires one stage with all local blocks.
std::int32_t run_expectations(const Machine& m, std::size_t k, ItemRange run);

}  // namespace lehr::machine
