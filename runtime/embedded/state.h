// The state of one built model: a header, the tables that change with the data, and the buffers of the generated code,
// in one block of memory of the caller. The code is freestanding: it allocates nothing, has no global variables, and
// needs nothing but libm and the memory functions. Arrays of data stay in the caller's memory; the state points to
// them.
#pragma once
#include "runtime/machine/damping.h"

namespace lehr::embedded {

using namespace machine;

/// The results of the functions of a built object; lehr_error() has the messages. Statuses of the generated code are
/// larger numbers.
enum Status : std::int32_t {
  kOk = 0,      // success
  kNull,        // a pointer that must not be null
  kAbi,         // sizes of another header, or another version of it
  kSize,        // a size that is not positive, does not fit, or is less than the model needs
  kShort,       // less memory than needed
  kNotAState,   // not initialised, moved, or of another model
  kData,        // a value outside its domain, NaN included
  kOffsets,     // row offsets that do not start at 0, fall, or do not fit
  kArgument,    // an argument outside its range, or a call that the state of the sweep does not allow
  kNoData,      // no data set was given yet
  kNotStarted,  // no factors yet: `init` had no data, and nothing was loaded
  kNotSwept,    // nothing was inferred from the present data and factors: a step must come first
  kNoBatches,   // the model cannot be fitted from minibatches alone
  kTruncated,   // a saved state that ends too early
  kAltered,     // a saved state whose checksum is wrong, or memory that is no saved state
  kOtherModel,  // a saved state of another model or version
  kNotFinite,   // the bound is not finite, or the data have probability 0
  kNoSweep,     // no sweep is under way whose items the caller works on
  kLibrary,     // of liblehr (compiler/library/predict.h): the model has no such prediction or score
  kStatusCount  // number of these statuses
};

/// The header of a state: what a built object remembers of one model between calls. It is at the first 64-byte boundary
/// of the caller's memory; flags are 0 or 1.
struct State {
  std::uint64_t magic,         // a constant by which memory with a state is recognised
      hash;                    // Model::hash of its model
  const State* self;           // address of this state, by which a moved state is detected
  std::int64_t has_data,       // 1: a data set is present, given by the caller and accepted
      prepared,                // 1: sums of the present data alone are computed
      started,                 // 1: there are factors
      swept,                   // 1: factors were inferred from the present data, so that the ELBO is valid
      statistics_valid,        // 1: statistics are those of the present factors
      expectations_stale;      // 1: a parameter was set, and expectations must be recomputed
  std::int64_t items_changed;  // 1: the items of the data are not those whose factors are stored
  std::int64_t fresh;          // 1: the factors are a start, from which no sweep was made yet
  std::int64_t sweeping;       // 1: a sweep whose items the caller updates is in progress (lehr_step_begin)
  std::int64_t next_step,      // in such a sweep: the step at which it continues
      items,                   // number of items of the sweep's present stage
      items_left,              // items of the present stage whose sums were not added yet
      stage_number;            // number of stages begun so far, by which ranges of other stages are refused
  Accuracy accuracy;           // when the iteration over the local blocks of an item stops
  double scale;                // factor on sums over a minibatch: all items / items of the minibatch
  std::int64_t* sizes;         // by slot: sizes of the present data set
  std::int64_t* outer_sizes;   // by slot: sizes with the number of all items, which code outside the items counts
  std::int64_t* next_sizes;    // by slot: sizes of a data set that is being checked
  std::int64_t* capacity;      // by slot: the largest sizes that fit, from the caller's GivenSizes
  std::int64_t* run_sizes;     // scratch: run-time sizes while a run of items is processed (Machine::run_sizes)
  lehr_buffer *table,          // pointer to each buffer; data are in the caller's memory
      *run_table,       // scratch: a second table of buffers while a run of items is processed (Machine::run_table)
      *copies;          // two tables of copies of q (Copy), if sweeps may lower the ELBO
  Elbo reached;         // ELBO before the present sweep, if sweeps may lower it
  double temperature;   // temperature of a sweep of lehr_step_begin
  std::int64_t* order;  // scratch: permutations that a random start draws (Start::order)
};

/// The sizes that the caller gives when a state is made: the struct NAME_sizes of the generated header. It is the
/// number Model::hash, then one int64 for each slot whose size is given.
struct GivenSizes;
/// A data set of the caller: the struct NAME_data of the generated header. It is one int64 for each slot of rule
/// `items`, then one pointer for each entry of Model::arrays.
struct DataSet;

/// The alignment of the state and of every array in it, in bytes.
inline constexpr std::uint64_t kAlignment = 64;
/// Returns n bytes or an address, rounded up to a multiple of kAlignment.
constexpr std::uint64_t aligned(std::uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

/// Returns true if the buffer belongs to q: a factor or a statistic.
inline bool is_of_q(const BufferRow& b) { return b.role == Role::factor || b.role == Role::statistic; }

/// The limit of all sizes and of the bytes of a state; larger ones are refused, so that products do not overflow.
inline constexpr std::int64_t kLargest = std::int64_t{1} << 44;
/// Returns the bytes of a buffer's elements at the sizes of the view; -1 if they exceed kLargest.
std::int64_t buffer_bytes(const View& v, const BufferRow& row);

/// Returns the bytes of memory that a state of these sizes needs, alignment included; 0 if the sizes are not those of
/// this model or too large.
std::size_t state_bytes(const Model& m, const GivenSizes* sizes);

/// Makes a zeroed state in the caller's memory; `out` is its header. Returns kOk, kNull, kAbi, kSize or kShort.
Status create(const Model& m, void* memory, std::size_t bytes, const GivenSizes* sizes, State*& out);
/// Finds the state that create() made in this memory. Returns kOk, kNull, or kNotAState.
Status open(const Model& m, void* memory, State*& out);

/// Checks a data set of the caller and makes it the present one: the table points to its arrays, which stay in place.
/// Null keeps the present one. Returns kOk, kNull, kSize, kData, kOffsets, or kNoData if `data` is null and there is no
/// present one. After a data set with a wrong array is refused, the state has none, and inferences are invalid. A wrong
/// size (kSize) leaves the present one.
Status adopt(const Model& m, State& s, const DataSet* data);

/// Computes the sizes of a data set that follow from its row offsets or from other sizes, in State::next_sizes. Before
/// the call these sizes are -1, all others are set, and the table of `v` has the row offsets. Returns kOk, or kOffsets
/// for offsets that are wrong.
Status derive_sizes(const View& v, const State& s);
/// Checks the values of one data array of the caller against the domain that the model gives it, so that generated code
/// cannot leave its arrays. Returns kOk or kData.
Status check_array(const View& v, const ArrayRow& row);

/// Returns access to a state's buffers, each as a span with its length for the present data set.
inline View view_of(const Model& m, const State& s) { return {m, s.table, s.sizes}; }
/// Returns the machine that runs sweeps over a state's memory, with all items in memory and no threads.
inline Machine machine_of(const Model& m, const State& s) {
  return {&m, s.table, s.sizes, s.outer_sizes, s.sizes, s.run_table, s.run_sizes, s.accuracy};
}

}  // namespace lehr::embedded
