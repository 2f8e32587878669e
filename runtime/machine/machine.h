// A compiled model in memory, and the one sweep over it. Fits, built objects and all methods run generated code through
// these functions. The code is freestanding: it allocates nothing, throws nothing and needs libm alone. The same source
// is compiled into lehr and, as bitcode, into built objects, so both give the same bits.
//
// Functions that return std::int32_t give 0 if they succeed, or a failure status of the generated code: kFailBlock +
// block for a factor that is not proper, kFailData + given for a data matrix that is not positive definite
// (compiler/lower/lower.h).
//
// A sweep runs the steps of Model::steps in order. A stage, for instance, does:
//
//     tables()                      natural-parameter tables of the global factors
//     update(0, items)              local factors, item by item; adds up statistics (on all threads)
//     finalise()                    completes the statistics, from which blocks outside the items are then updated
//
// All items may be in memory. With a window, the factors of a few items only are in memory (minibatches). Items may
// also be out of core: a loader then loads the data of a few at a time.
#pragma once
#include "runtime/machine/model.h"

namespace lehr::machine {

/// Factors by which generated code multiplies natural parameters (loops::Weight in the compiler); all 1, with `memory`
/// 0, is plain coordinate ascent. An annealed sweep sets some of them to 1 / temperature.
struct Weights {
  double local_data = 1,    // factor on the terms of the data, in the natural parameters of local blocks
      global_data = 1,      // factor on the terms of the data, in the natural parameters of the other blocks
      local = 1,            // factor on all natural parameters of local blocks
      global = 1,           // factor on all natural parameters of the other blocks
      step = 1,             // natural-gradient step of the other blocks: step * new + (1 - step) * old
      memory = 0,           // weight of the last natural gradient in its running mean; 0: gradients are not measured
      item_parameters = 1;  // 0: per-item parameters that no sweep reads need not be written
};

/// The ELBO of the present factors and its parts, in nats (loops::ElboPart in the compiler).
struct Elbo {
  double value = 0;          // the ELBO at temperature 1; latent temperatures of items divide their terms all the same
  double data_energy = 0;    // part of the ELBO: expected log density of the data and their local variables
  double local_entropy = 0,  // part of the ELBO: entropies of the factors of local variables
      entropy = 0;           // part of the ELBO: entropies of all factors
  double discrete_entropy = 0;  // the part of local_entropy that belongs to categories and bits
  double local_prior = 0;       // part of the ELBO: expected log prior of local variables that data_energy leaves out
};
/// The smallest ELBO of possible data. Generated code writes a huge negative number for the logarithm of 0. So below
/// this value, no value of the variables could have produced the data.
inline constexpr double kImpossible = -1e200;

/// When to stop the iteration over the local blocks of one item, which depend on each other.
struct Accuracy {
  std::int64_t iterations = 100;  // most iterations over the local blocks of an item
  double tolerance = 1e-4;        // mean relative change of the item's parameters at which the iteration stops
};

/// A half-open range of consecutive items (elements of the outermost plate that the data size), or of iterations of a
/// parallel region.
struct ItemRange {
  std::int64_t begin = 0,  // the first
      end = 0;             // one past the last
};

/// Executes the functions that have no address in Model::functions: an interpreter, or a compiler that makes their code
/// when they are first called.
struct Code {
  void* context;    // first argument of `call`
  bool one_thread;  // true if only one thread may call functions at a time
  /// Executes the function with this index; the other arguments and the result are those of lehr_function.
  std::int32_t (*call)(void* context, std::int64_t function, lehr_buffer const* table, const std::int64_t* sizes,
                       const std::int64_t* integers, const double* reals);
};

/// Memory for the local factors of a few items at a time, for models with all local blocks in one stage. Such an item
/// is inferred from its prior whenever it is visited.
struct Window {
  void* context;       // first argument of the functions below
  std::int64_t items;  // how many items a visit of all items assigns at a time
  /// Gives the factors of these runs of items their memory in the window; earlier contents are lost.
  void (*assign)(void* context, const ItemRange* runs, std::size_t count);
  /// Returns the first row of an assigned run in a factor buffer, with the alignment it would have in the whole buffer.
  double* (*first_row)(void* context, std::size_t run, std::int64_t buffer);
};

/// A source of the data of out-of-core items, which loads a few at a time. It is for models whose items are visited by
/// batched stages alone. Loaded items replace those before; they get the indices 0, 1, ..., run after run, while
/// Machine::outer has the sizes of all items.
struct ItemLoader {
  void* context;       // first argument of the functions below
  std::int64_t items;  // how many items a visit of all loads at a time
  /// Loads the data of these runs. Returns their new index ranges, one a run, valid until the next call.
  const ItemRange* (*load_items)(void* context, const ItemRange* runs, std::size_t count);
  /// Returns, in the numbering of all items, the first element that belongs to `item` of the nested plate whose size
  /// has this slot.
  std::int64_t (*row)(void* context, std::int64_t slot, std::int64_t item);
  /// True: Machine::workers load the items of a visit of all, so that sums have the bits of items in memory. False: the
  /// machine visits all items in slices of `items`.
  bool loads_by_chunks;
};

struct DeferredValues;  // start.h: assignments of start values that are deferred until their items are loaded
struct Machine;         // defined below

/// What a thread does with a range of items (or of iterations of a parallel region): the generated function that it
/// calls, and whether the items first return to their priors.
struct ItemWork {
  std::int64_t function;     // generated function (begin, end, ...) to call, see run_items()
  bool from_priors = false;  // true: the local factors are set to their priors first
};

/// Work that can be distributed over threads: the items of a stage, or the iterations of a parallel region.
struct ParallelWork {
  Extent items;                        // number of items or iterations
  std::span<const std::int64_t> sums,  // buffers that the work adds to, one private copy for each chunk
      scratch;                         // buffers without lasting contents, one private copy for each thread
  std::int64_t operations;             // estimated operations of one item or iteration
  bool of_stage;                       // true: items of a stage; false: a region that all threads wait for
};
/// Returns the items of a stage as work for threads: their number, the statistics that they add to, their scratch
/// buffers and their operations.
ParallelWork items_of(const Model& m, const StepRow& stage);
/// Returns the iterations of a parallel region as work for threads: their number, the sums that they add to, their
/// scratch buffers and their operations.
ParallelWork iterations_of(const Model& m, const PrerequisiteRow& phase);

/// Threads (and processes) that divide work among them. A machine without them does all work in one call.
struct Workers {
  void* context;  // first argument of `run`
  /// Does `work` on these ascending runs of items and adds the sums to the machine's buffers. Returns 0 or a failure
  /// status of the generated code.
  std::int32_t (*run)(void* context, const Machine& m, const ParallelWork& loop, const ItemRange* runs,
                      std::size_t count, const ItemWork& work);
};

/// A compiled model with memory, sizes and the optional ways of executing it. It owns nothing and is cheap to copy.
struct Machine {
  const Model* model;         // the tables of the compiled model
  lehr_buffer* table;         // pointer to each buffer
  const std::int64_t* sizes;  // run-time sizes, by slot, of the data that are in memory
  const std::int64_t* outer;  // run-time sizes with all items, in memory or not: code outside the items counts these
  const std::int64_t* stored_sizes;  // run-time sizes with the items whose factors are in `table`; with a window or a
                                     // loader, these are 0 items
  lehr_buffer* run_table;      // scratch memory for a second table of buffers, used while a run of items is processed
  std::int64_t* run_sizes;     // scratch memory for run-time sizes, used while a run of items is processed
  Accuracy accuracy = {};      // when the iteration over the local blocks of an item stops
  const Code* code = nullptr;  // executes the functions without an address; null: all have one
  const Window* window = nullptr;      // memory for a few items; null: the table has the factors of all items in memory
  const Workers* workers = nullptr;    // threads that divide work among them; null: the caller does all work
  const ItemLoader* loader = nullptr;  // source of out-of-core items; null: all data are in memory

  /// Returns the model with its memory and the sizes of the data in memory.
  View view() const { return {*model, table, sizes}; }
  /// Returns the model with its memory and the sizes of all items. Out-of-core buffers are shorter than these sizes
  /// say.
  View whole() const { return {*model, table, loader ? outer : sizes}; }
  /// Returns true if the table has the factors of all items.
  bool stores_all_items() const { return !window && !loader; }
};

/// Calls a generated function without arguments that counts all items, in memory or not: an update outside the items,
/// the ELBO. Like call_on_data() and call_on_stored(), it first runs the cached reductions and parallel regions that
/// the function needs.
std::int32_t call(const Machine& m, std::int64_t function);
/// Calls a generated function without arguments that loops over the data in memory, after the cached reductions and
/// parallel regions that it needs. Returns its status.
std::int32_t call_on_data(const Machine& m, std::int64_t function);
/// Calls a generated function without arguments that loops over all factors in the table, such as one that sets them to
/// their priors, after the cached reductions and parallel regions that it needs. Returns its status.
std::int32_t call_on_stored(const Machine& m, std::int64_t function);

/// Marks all cached reductions (sums that generated code reuses until a factor changes) as invalid. Call it after
/// writing factors otherwise than by generated functions.
void invalidate_sums(const Machine& m);

/// Computes sums and inverses of the data alone. Call it once for each data set, and after sum_data() to restore the
/// sums over all items. Out-of-core items are loaded slice by slice.
std::int32_t prepare(const Machine& m);
/// Sets the weights (inverse temperatures, step size) of the following updates.
void set(const Machine& m, const Weights& w);
/// Sets the key of the following random draws (random.h). `steps` is the step number, usually the number of steps made
/// before; every step of a sweep adds 1 to it before it draws. Does nothing for code that does not sample.
void set_key(const Machine& m, std::uint64_t seed, std::uint64_t chain, std::int64_t steps = 0);
/// Computes the ELBO of the present factors and its parts into `out`.
std::int32_t elbo(const Machine& m, Elbo& out);
/// Returns true if an ELBO is finite and belongs to data that the model can produce (at least kImpossible).
bool is_possible(double elbo);

/// A function of the caller that updates blocks outside the items in place of their generated functions, as for
/// adaptive step sizes.
struct Update {
  void* context;  // first argument of `run`
  /// Updates the block of `step`, in place of the generated function for it.
  std::int32_t (*run)(void* context, const StepRow& step);
};

/// An incremental visit of the batched stage: `count` equal parts of its items, one after another.
struct PartedVisit {
  void* context;  // first argument of `merge`
  /// Called after each part, when the statistics of that part alone are in place. It replaces them by those of all
  /// items.
  void (*merge)(void* context, const StepRow& stage, std::int64_t part);
  std::int64_t count,  // number of equal parts
      first,           // first part to visit in this sweep
      last;            // one past the last part to visit
};

/// Which steps of Model::steps a sweep runs.
enum class SweepScope {
  all,     // every step
  ascent,  // every step whose result a later update reads; sums for the ELBO alone are left out, so `elbo` is invalid
  local,   // steps that update local blocks (StepRow::local): the item stages, and local blocks outside of them
  stages,  // the item stages
  sources  // local blocks outside the item stages of variables that the compiler added: sources of counts, and tangent
           // points at global predictors
};

/// What one sweep visits, and how.
struct Plan {
  SweepScope scope = SweepScope::all;     // which steps of the model it runs
  std::span<const ItemRange> batch = {};  // items that batched stages visit, ascending; empty: all
  double scale = 1;                       // factor on statistics of batched stages: all items / items visited
  bool form = false;                      // true: items begin at their priors, if one stage has all local blocks
  const Update* update = nullptr;         // updates blocks outside the items; null: their generated functions do
  const PartedVisit* division = nullptr;  // visits items part by part; not together with a batch or a window
};

/// Makes one sweep: runs the steps of the model that Plan::scope selects, in order, on all items or on a batch. With
/// Plan::form, a sweep of local blocks alone leaves out repeated (refresh) steps, which would change nothing.
std::int32_t sweep(const Machine& m, const Plan& plan = {});

/// Makes a sweep in pieces, between which the caller itself distributes the items of a stage, for example over
/// processes. Runs the steps from `step` on (first 0) up to the next stage whose items can be distributed. Sets `stage`
/// to that stage, with its tables computed and its statistics zero, and `step` to the index after it. Call it again
/// when all items of the stage are updated and their sums added; it then completes the statistics and goes on. `stage`
/// is null at the end of the sweep.
std::int32_t sweep_to_stage(const Machine& m, std::int64_t& step, const StepRow*& stage);

/// Recomputes the statistics of all stages from the stored local factors; updates no factor. Stages with fused
/// categories are left out, because their probabilities are not stored (StepRow::sum).
std::int32_t sum_statistics(const Machine& m);
/// Computes the statistics of a random start. Items get the values in the pick buffers, and only items with such a
/// value are added up; stages without picks add up the stored factors, except those that move_tangent_points() updates
/// next. With a window or a loader, local factors are set to their priors, and `deferred` writes the recorded start
/// values; without either it may be null.
std::int32_t seed_statistics(const Machine& m, const DeferredValues* deferred);
/// Computes the sums of the data alone from the items of a batch, times `scale`, in place of those of all items. Exact
/// sums next to noisy statistics could give natural parameters of no proper factor. prepare() restores all items.
std::int32_t sum_data(const Machine& m, std::span<const ItemRange> batch, double scale);
/// Returns true if a sweep may read statistics before it computes them, so that they must be computed before the first
/// sweep: an item stage that repeats no other (StepRow::refresh) is not its first step.
bool reads_statistics_first(const Model& m);

/// Returns true if one stage has all local blocks and stores some of their factors. Only then can single items be set
/// to their priors, and a window have the factors of a few items.
bool has_single_stage(const Model& m);
/// Returns the first item stage of a sweep, from whose items minibatches are drawn; null if the model has no item
/// stage.
const StepRow* batch_stage(const Model& m);
/// Sets the local factors of all items to their priors. Does nothing for items in a window or out of core, which are
/// set when they are visited.
std::int32_t items_to_priors(const Machine& m);
/// Completes a start that consists of its global factors: sets local factors to their priors, and updates them if a
/// sweep reads their statistics first. Does nothing unless one stage has all local blocks and the factors of all items
/// are stored, or are loaded by chunks (ItemLoader::loads_by_chunks).
std::int32_t finish_item_start(const Machine& m, bool formed = false);
/// Brings the local factors to their optimum while the global ones stay: one sweep of this scope. A scope of several
/// steps is repeated until the ELBO changes by at most 1e-12 * (1 + |ELBO|) or is impossible, `accuracy.iterations`
/// times at most. `scale` is that of Plan.
std::int32_t infer_items(const Machine& m, SweepScope scope, double scale = 1);
/// Updates the tangent points of local bounds and of expectations of links (StepRow::tangent_points) from the present
/// factors, for a random start. Does nothing if one stage has all local blocks, because points are then updated
/// together with the other blocks of their items.
std::int32_t move_tangent_points(const Machine& m);
/// Completes a random start: updates all blocks outside item stages once from the statistics in place, except chains to
/// which the start has assigned values (StepRow::seeded). Then it updates 200 times more the points that a local bound
/// lets move only gradually, and the points of that bound.
std::int32_t update_globals(const Machine& m);

/// Does `work` on consecutive runs of items on this thread. The first of them is the k-th of the runs last passed to
/// assign_window() (items.h).
std::int32_t work_on(const Machine& m, std::size_t k, std::span<const ItemRange> runs, const ItemWork& work);

/// Calls a generated function (begin, end) or (begin, end, iterations; tolerance) on a range of items in memory, with
/// this table of buffers. `iterations` and `tolerance` are those of Machine::accuracy.
std::int32_t run_items(const Machine& m, std::int64_t function, ItemRange run, lehr_buffer const* table);

}  // namespace lehr::machine
