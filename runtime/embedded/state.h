// The memory of one built model: a header, the tables that change with the data, and the buffers of the generated code,
// all in one piece that the caller owns. Freestanding: no allocation, no globals, nothing but libm and the memory
// functions.
#pragma once
#include "runtime/machine/machine.h"

namespace lehr::embedded {

using namespace machine;

enum Status : std::int32_t {
  kOk = 0,
  kNull,        // a pointer that must not be null
  kAbi,         // sizes of another header, or another version of it
  kSize,        // a size that is not positive, does not fit, or is less than the model needs
  kShort,       // less memory than needed
  kNotAState,   // not initialised, moved, or of another model
  kData,        // a value outside its domain, NaN included
  kOffsets,     // row offsets that do not start at 0, fall, or do not fit
  kArgument,    // a temperature, step or number of items outside its range
  kNoData,      // no data set was given yet
  kNotStarted,  // no factors yet: `init` had no data, and nothing was loaded
  kNotSwept,    // nothing was inferred from the present data and factors
  kNoBatches,   // the model cannot be fitted from minibatches alone
  kTruncated,   // a saved state that ends too early
  kAltered,     // a saved state whose checksum is wrong, or none at all
  kOtherModel,  // a saved state of another model or version
  kNotFinite,   // the bound is not finite, or the data have probability 0
  kNoSweep,     // no sweep is under way whose items the caller works on
  kLibrary,     // compiler/library/predict.h: the model has no such prediction
  kStatusCount
};

/// Lives at the first 64-byte boundary of the caller's memory.
struct State {
  std::uint64_t magic, hash;
  const State* self;  // a state is not moved
  std::int64_t has_data, prepared, started, swept, sums_fresh, expectations_stale;
  std::int64_t other_items;                         // than those whose factors are stored
  std::int64_t sweeping;                            // a sweep is under way whose items the caller works on:
  std::int64_t next_step, items, items_left, turn;  // from where it goes on, the items of the present stage, those
                                                    // that were not added yet, and how many stages there were
  Accuracy accuracy;
  double scale;               // of the sums of data alone: items in all / items in the batch
  std::int64_t* sizes;        // by slot: of the present data set
  std::int64_t* outer_sizes;  // the same with the items in all: what code outside the items counts
  std::int64_t* next_sizes;   // of a data set that is being checked
  std::int64_t* room;         // the largest that fit
  std::int64_t* run_sizes;    // see Machine
  lehr_buffer *table, *run_table;
  std::int64_t* order;  // for starts
};

/// The sizes and data sets of the header: abi and one size per slot that is given; the items, then one pointer an
/// array.
struct GivenSizes;
struct DataSet;

/// Where memory of ours begins and ends.
inline constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t aligned(std::uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

/// More than any state has: of sizes and of bytes.
inline constexpr std::int64_t kLargest = std::int64_t{1} << 44;
/// Bytes of a buffer's elements, -1 when they are more.
std::int64_t buffer_bytes(const View& v, const BufferRow& row);

/// Bytes of a state, 0 when the sizes are not those of this model or too large.
std::size_t state_bytes(const Model& m, const GivenSizes* sizes);

/// Lays out a zeroed state; kOk or why not.
Status create(const Model& m, void* memory, std::size_t bytes, const GivenSizes* sizes, State*& out);
/// The state that `create` made in this memory.
Status open(const Model& m, void* memory, State*& out);

/// Checks a data set, leaves its arrays where they are and takes its sizes; null keeps the present one. After one that
/// is refused there is none, and nothing that was inferred from it.
Status adopt(const Model& m, State& s, const DataSet* data);

/// Sizes of a data set whose numbers of items and row offsets `sizes` and `table` have: nested ones and those that
/// follow from others, which are -1 before.
Status settle_sizes(const View& v, const State& s);
Status check_array(const View& v, const ArrayRow& row);

inline View view_of(const Model& m, const State& s) { return {m, s.table, s.sizes}; }
inline Machine machine_of(const Model& m, const State& s) {
  return {&m, s.table, s.sizes, s.outer_sizes, s.sizes, s.run_table, s.run_sizes, s.accuracy};
}

}  // namespace lehr::embedded
