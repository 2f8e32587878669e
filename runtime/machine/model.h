// A compiled model as constant tables: its sizes, buffers and data, the turns of a sweep, the parameters of its
// factors, and where its generated functions are. `lehr build` writes them into the object file, so every member is a
// 64-bit integer or a pointer; a fit reads the same tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/abi.h"

namespace lehr::machine {

/// An extent: the number itself, or -(slot + 1) of the table of run-time sizes.
using Extent = std::int64_t;

/// How a run-time size comes to be known.
enum class SizeRule : std::int64_t {
  fixed,    // given once, with the sizes of a state
  items,    // given with every data set, up to what the state has room for
  nested,   // the last of its row offsets, up to what the state has room for
  longest,  // elements of a row of a nested plate, given once: the most there is room for
  one_more  // than another extent
};
struct SizeRow {
  SizeRule rule;
  Extent base;           // one_more: of what; nested: the most in one row, 0: any number
  std::int64_t offsets;  // nested: position among the arrays
  std::int64_t least;    // what the model's constant indices need; nested: in each row
};

/// data: the caller's; factors (parameters and expectations) and statistics are the state: what makes up q; prior: the
/// posterior of earlier data; scratch: without a meaning between calls.
enum class Role : std::int64_t { data, factor, statistic, work, prior, scratch };
struct BufferRow {
  std::int64_t integers;  // 1: int64, 0: double
  Role role;
  std::int64_t first_axis, axes;
  std::int64_t on_items;  // 1: some axis changes with the data set
};

/// Where values of data must lie.
enum class Domain : std::int64_t {
  real,
  positive,
  unit,
  count,
  bit,
  spin,
  category,
  simplex,       // rows with entries of at least 0 that sum to 1
  open_simplex,  // the same, above 0
  symmetric,     // matrices
  positive_definite,
  offsets  // of rows: from 0, ascending
};
inline constexpr std::int64_t kMissingEntries = 2;
struct ArrayRow {
  std::int64_t buffer;
  Domain domain;
  std::int64_t may_be_missing;  // NaN; of categories -1; kMissingEntries: of a vector single entries too
  Extent limit;                 // category: number of elements of its plate; offsets: size of the nested plate
  Extent width;                 // of the event axis, 1 for scalars
  Extent rows;                  // offsets, and categories of a nested plate: elements of the parent
  std::int64_t offsets = -1;    // categories that are numbers within the rows of a nested plate: buffer of its offsets
  std::int64_t row = -1;        // of the rows of the values, one for each; -1: the first axis is the parent
};

inline constexpr std::int64_t kForBound = 2;
/// One turn of a sweep (see StageFunctions and UpdateFunction in the compiler). Functions by position, -1: none.
struct StepRow {
  std::int64_t stage;  // 0: a block outside the items, updated by `update` alone
  std::int64_t
      refresh;         // 1: a second turn of a stage: auxiliary variables alone are formed again; 2: only for the bound
  std::int64_t local;  // 1: of the items, stage or not
  std::int64_t seeded;   // 1: a chain of categories: its start is what the others are updated from
  std::int64_t chains;   // 1: a stage with such a chain
  std::int64_t batched;  // 1: its items are those of minibatches
  std::int64_t bound;    // 1: a stage of points where bounds touch alone
  std::int64_t forms;    // 1: `seed` forms blocks from data, with `tables` in place
  std::int64_t steps;    // 1: a point that a bound lets move by steps, in the prior of what `seed` forms; or that bound
  Extent items;
  std::int64_t tables, update, close, seed, sum, fresh, expectations, data;
  std::int64_t first_statistic, statistics;  // buffers to be zero before `update`, `seed` or `sum`
  std::int64_t first_data_sum, data_sums;    // before `data`; both among Model::statistics
  std::int64_t first_scratch, scratch;       // that a worker of its own needs; also among them
  std::int64_t operations;                   // of an item, about; 0: items cannot be shared out
  std::int64_t outside;                      // operations of `tables`, or of the update of a block outside the items
  std::int64_t first_pick, picks;
  std::int64_t block;     // updated by the step; -1: a stage
  std::int64_t gradient;  // buffer of the norms that Weights::memory measures, -1: none
  std::int64_t subject;   // the items of a stage, -1
};
/// What comes before function `of`, in order: sums that it reads, where a number is 0 (loops::Kept in the compiler),
/// and loops that may run in ranges of their turns (loops::Phase).
struct PhaseRow {
  std::int64_t of, function;
  std::int64_t fresh;  // the buffer of that number, -1: loops
  Extent turns;
  std::int64_t first_sum, sums, first_scratch, scratch;  // among Model::statistics
  std::int64_t operations;                               // of a turn, about
};
struct PickRow {
  std::int64_t buffer;
  Extent values;
  std::int64_t known;  // buffer of values that the data have for some items, -1 for the others; -1: there is none
};

/// Parameters of factors that starts know how to displace.
enum class Parameter : std::int64_t { value, mean, precision, df, probs, p, rate, shape_like, other };
enum class Support : std::int64_t {
  real,
  positive,
  unit,
  count,
  bit,
  spin,
  category,
  simplex,
  vector,
  counts,
  spd_matrix
};

struct ParameterRow {
  std::int64_t buffer, block;
  Parameter parameter;
  std::int64_t event_rank;
  Support support;
  std::int64_t of_items, local, streamed, chain, auxiliary;  // 0 or 1; of_items: updated in an item stage
  Extent event;                                              // of the variable's event axis, 1 for scalars
  std::int64_t partner;  // parameter row of a mean's precision and of a precision's mean, -1: none
  std::int64_t subject;  // the elements of its variable
};

/// A parameter of the factor that was the posterior when it became the prior.
struct PriorRow {
  std::int64_t buffer, parameter;
};

/// What was observed of the elements of a subject: see runtime/methods/columns.h.
enum class ColumnForm : std::int64_t {
  rows,    // as many values for each element
  ragged,  // a row of a nested plate for each
  named    // values whose data name the element, by what else they name there
};
struct ColumnsRow {
  ColumnForm form;
  std::int64_t buffer;               // of the values
  std::int64_t by;                   // ragged: row offsets; named: which element; -1
  std::int64_t other;                // named: the other element, -1: none
  Extent others;                     // elements of its plate
  std::int64_t covariate;            // 1: given beside what was observed, not observed itself
  std::int64_t first_inner, inners;  // axes of a value, among Model::axes
};
/// Elements over some axes (among Model::axes).
struct SubjectRow {
  std::int64_t first_axis, axes;
  std::int64_t first_columns, columns;
};

/// The values of a category that could change places: see runtime/methods/components.h.
enum class ComponentKind : std::int64_t {
  statistic,       // sums over items
  responsibility,  // probabilities of a stored category, over [..., component]
  pair,            // of neighbours in a chain of them
  proportion,      // concentrations of a factor of the items over the components
  factor           // anything else of q
};
struct ComponentArrayRow {
  ComponentKind kind;
  std::int64_t buffer;
  std::uint64_t axes;  // a bit for each axis over the components
};
struct HeadRow {
  std::int64_t most, all;  // buffers of sums over all components but the last, and over all
};
struct AllocationRow {
  std::int64_t step, buffer, sums;  // see runtime/methods/components.h
  std::int64_t subject;
};
struct ComponentsRow {
  Extent count;
  std::int64_t ordered;
  std::int64_t first_array, arrays, first_count, counts;  // among Model::component_arrays
  std::int64_t first_head, heads, first_allocation, allocations;
};

/// Of these tables: a library that reads them must be of the same version.
inline constexpr std::int64_t kLayout = 6;

/// What an object was built from, as text.
enum class BuiltFrom : std::int64_t { model, settings };

struct Model {
  std::uint64_t hash;  // of everything that the layout of a state depends on
  std::int64_t layout;
  std::int64_t prepare, initialise, initialise_local, expectations, global_expectations, elbo;
  std::int64_t elbo_buffer, weights_buffer;
  std::int64_t item_energies, item_inverse, item_outer;  // see loops::ItemEnergies in the compiler; -1: none
  std::int64_t couplings, open_envelope, undecided, first_envelope;  // loops::EnvelopeFunctions; -1: none
  std::int64_t states;                                               // see loops::Interface, -1: none
  std::int64_t random_key;                // of draws, see runtime/machine/random.h; -1: nothing is drawn
  std::int64_t batch_slot;                // of the size that minibatches scale, -1: no minibatches
  std::int64_t own_prior, carried_prior;  // where there are `priors`: buffers of a weight, 1 or 0
  std::int64_t size_count, axis_count, buffer_count, array_count, step_count, pick_count, statistic_count,
      parameter_count, summed_count, function_count, failure_count, block_count, column_count, subject_count,
      component_array_count, head_count, allocation_count, components_count, phase_count, prior_count;
  const SizeRow* sizes;
  const Extent* axes;
  const BufferRow* buffers;
  const ArrayRow* arrays;
  const StepRow* steps;
  const PickRow* picks;
  const std::int64_t* statistics;
  const ParameterRow* parameters;
  const std::int64_t* summed;  // buffers that `prepare` fills with sums over the items of a minibatch
  const lehr_function* functions;
  const char* const* failures;  // what the statuses of the generated functions mean: of blocks, then of data
  const ColumnsRow* columns;
  const SubjectRow* subjects;
  const ComponentArrayRow* component_arrays;
  const HeadRow* heads;
  const AllocationRow* allocations;
  const ComponentsRow* components;
  const char* const* component_names;  // of their plates
  const PhaseRow* phases;
  const PriorRow* priors;
  // Of built objects alone, in the words of the model:
  const char* const* built_from;       // by BuiltFrom: the text of the model; constants and sizes, as JSON
  const char* const* size_names;       // plates, by slot
  const char* const* array_names;      // by array
  const char* const* parameter_names;  // "mu.mean", by parameter
};

/// A model and its memory.
struct View {
  const Model& model;
  lehr_buffer const* table;
  const std::int64_t* sizes;

  std::int64_t extent(Extent e) const { return e >= 0 ? e : sizes[-(e + 1)]; }
  std::size_t length(std::int64_t buffer) const {
    const BufferRow& b = model.buffers[buffer];
    std::size_t n = 1;
    for (std::int64_t k = 0; k < b.axes; ++k)
      n *= static_cast<std::size_t>(extent(model.axes[b.first_axis + k]));
    return n;
  }
  std::span<double> reals(std::int64_t buffer) const { return {static_cast<double*>(table[buffer]), length(buffer)}; }
  std::span<std::int64_t> integers(std::int64_t buffer) const {
    return {static_cast<std::int64_t*>(table[buffer]), length(buffer)};
  }
  /// The key of draws, [kKeyWords] of runtime/machine/random.h; null: nothing is drawn.
  std::int64_t* random_key() const {
    return model.random_key >= 0 ? static_cast<std::int64_t*>(table[model.random_key]) : nullptr;
  }
};

inline std::size_t unsigned_of(std::int64_t n) { return static_cast<std::size_t>(n); }

inline std::span<const StepRow> steps_of(const Model& m) { return {m.steps, unsigned_of(m.step_count)}; }
inline std::span<const PhaseRow> phases_of(const Model& m) { return {m.phases, unsigned_of(m.phase_count)}; }
inline std::span<const PriorRow> priors_of(const Model& m) { return {m.priors, unsigned_of(m.prior_count)}; }
inline std::span<const ParameterRow> parameters_of(const Model& m) {
  return {m.parameters, unsigned_of(m.parameter_count)};
}
inline std::span<const std::int64_t> statistics_of(const Model& m, const StepRow& s) {
  return {m.statistics + s.first_statistic, unsigned_of(s.statistics)};
}
inline std::span<const std::int64_t> scratch_of(const Model& m, const StepRow& s) {
  return {m.statistics + s.first_scratch, unsigned_of(s.scratch)};
}
inline std::span<const std::int64_t> data_sums_of(const Model& m, const StepRow& s) {
  return {m.statistics + s.first_data_sum, unsigned_of(s.data_sums)};
}

}  // namespace lehr::machine
