// A compiled model in memory, and the one sweep over it. Everything that runs generated code goes through here: fits,
// built objects, whatever the method. Freestanding: no allocation, no exceptions, no library but libm; the same source
// is compiled into lehr and to bitcode for built objects, so that both give the same bits.
//
// Functions return 0 or a status of the generated code (kFailBlock + block, kFailData + given).
#pragma once
#include "runtime/machine/model.h"

namespace lehr::machine {

/// Factors on the naturals, see loops::Weight in the compiler; with b = 1 / temperature.
struct Weights {
  double local_data = 1, global_data = 1, local = 1, global = 1, step = 1, memory = 0, rows = 1;
};

/// What the generated code makes of the factors as they are, in nats: loops::ElboPart in the compiler.
struct Elbo {
  double value = 0;        // at temperature 1
  double data_energy = 0;  // of it: expected log density of the data and their local variables
  double local_entropy = 0, entropy = 0;
  double discrete_entropy = 0;  // of local_entropy: that of categories and bits
  double local_prior = 0;       // expected log density of the other local variables
};
/// Logarithms of 0 stand as a huge negative number: an ELBO below is that of data that no value of the variables could
/// have given.
inline constexpr double kImpossible = -1e200;

/// When the local blocks of an item, which depend on each other, have been updated often enough.
struct Accuracy {
  std::int64_t iterations = 100;
  double tolerance = 1e-4;  // mean relative change of the item's parameters
};

/// Consecutive items.
struct ItemRange {
  std::int64_t begin = 0, end = 0;
};

/// Calls a generated function in place of Model::functions: the interpreter's.
struct Code {
  void* context;
  std::int32_t (*call)(void* context, std::int64_t function, lehr_buffer const* table, const std::int64_t* sizes,
                       const std::int64_t* integers, const double* reals);
};

/// Keeps the factors of few items at a time, for models whose local blocks are all in one stage: an item is then
/// inferred afresh whenever it is visited.
struct Window {
  void* context;
  std::int64_t items;  // kept at a time at least
  /// Makes these runs the ones that are kept.
  void (*place)(void* context, const ItemRange* runs, std::size_t count);
  /// Where the rows of a kept run begin, of a buffer of factors; aligned as rows of the whole buffer would be.
  double* (*rows)(void* context, std::size_t run, std::int64_t buffer);
};

/// Brings the data of items that are elsewhere, few at a time, for models whose items are visited by batched stages
/// alone. What is brought takes the place of what was there, as items 0, 1, ..., run after run; Machine::outer has the
/// sizes of all.
struct Supply {
  void* context;
  std::int64_t items;  // at a time, in visits of all
  /// Where the runs are then.
  const ItemRange* (*bring)(void* context, const ItemRange* runs, std::size_t count);
  /// Among all items: the first element of a nested plate, by the slot of its size, that belongs to an item.
  std::int64_t (*row)(void* context, std::int64_t slot, std::int64_t item);
  /// Visits of all items are those of Machine::workers, which bring them: the sums are then those of items in memory.
  /// Otherwise they are those of a window, part by part.
  bool by_shares;
};

struct Taken;  // runtime/machine/start.h
struct Machine;

/// What is done with items.
struct ItemWork {
  std::int64_t function;  // (begin, end, iterations; tolerance)
  bool formed = false;    // from their priors before
};

/// What can be shared out: items of a stage, turns of a phase.
struct Shareable {
  Extent items;
  std::span<const std::int64_t> sums, scratch;  // buffers that a worker has for itself
  std::int64_t operations;                      // of an item, about
  bool of_stage;                                // in the way of no other work
};
Shareable items_of(const Model& m, const StepRow& stage);
Shareable turns_of(const Model& m, const PhaseRow& phase);

/// Shares out; without, all is worked on in one go.
struct Workers {
  void* context;
  std::int32_t (*run)(void* context, const Machine& m, const Shareable& what, const ItemRange* runs, std::size_t count,
                      const ItemWork& work);
};

struct Machine {
  const Model* model;
  lehr_buffer* table;
  const std::int64_t* sizes;  // of the data that are there
  const std::int64_t* outer;  // the same with the items that they stand for: what code outside the items counts
  const std::int64_t* kept;   // the same with the items whose factors are in `table`: none where there is a window
  lehr_buffer* run_table;     // room for a table and its sizes, while a run of items is at work
  std::int64_t* run_sizes;
  Accuracy accuracy = {};
  const Code* code = nullptr;
  const Window* window = nullptr;
  const Workers* workers = nullptr;
  const Supply* supply = nullptr;

  View view() const { return {*model, table, sizes}; }
  /// Of all items, wherever their data are.
  View whole() const { return {*model, table, supply ? outer : sizes}; }
  /// The factors of all items are in the table.
  bool keeps_items() const { return !window && !supply; }
};

/// A function that visits the factors outside the items, or the data as what they stand for.
std::int32_t call(const Machine& m, std::int64_t function);
/// One that visits all data that are there.
std::int32_t call_on_data(const Machine& m, std::int64_t function);
/// One that visits all factors that are in the table.
std::int32_t call_on_kept(const Machine& m, std::int64_t function);

/// By whoever replaces factors outside the stages but by calls of functions.
void forget_sums(const Machine& m);

/// Sums and inverses of the data alone.
std::int32_t prepare(const Machine& m);
void set(const Machine& m, const Weights& w);
/// What the next draws are a function of (machine/random.h), and of the steps that were made since; of models that
/// draw.
void set_key(const Machine& m, std::uint64_t seed, std::uint64_t chain, std::int64_t steps = 0);
/// The bound of the factors as they are.
std::int32_t elbo(const Machine& m, Elbo& out);
bool is_possible(double elbo);

/// Updates a block outside the items in place of its function.
struct Update {
  void* context;
  std::int32_t (*run)(void* context, const StepRow& step);
};

/// Items of the batched stage part by part: parts first, ..., last - 1 of `count` equal ones in one turn. After each,
/// its statistics are in place, which `merge` makes those of all items.
struct Division {
  void* context;
  void (*merge)(void* context, const StepRow& stage, std::int64_t part);
  std::int64_t count, first, last;
};

enum class Which {
  all,
  ascent,  // all but what nothing reads before the next sweep forms it, save the bound: `elbo` gives no number then
  local,   // blocks of the items
  stages,  // those of them that item stages update
  sources  // auxiliary ones of them that no stage updates: bounds at predictors of global variables alone
};

/// One sweep: what is visited, and how.
struct Plan {
  Which which = Which::all;
  std::span<const ItemRange> batch = {};  // of the batched stages, ascending; none: all items
  double scale = 1;                       // of the statistics of batched stages: what they stand for / what is visited
  bool form = false;                      // items begin at their priors, where one stage holds all local blocks
  const Update* update = nullptr;
  const Division* division = nullptr;  // without a batch and without a window
};

/// Every step in order. With `form`, stages whose second turn would change nothing are passed over unless all is swept.
std::int32_t sweep(const Machine& m, const Plan& plan = {});

/// The part of a sweep from `step` on that comes before items which can be shared out; `stage` is theirs, with its
/// tables in place and its statistics zero, and `step` the one after it. Null: the sweep is done.
std::int32_t sweep_to_stage(const Machine& m, std::int64_t& step, const StepRow*& stage);

/// Statistics of the stored local factors as they are, nothing updated.
std::int32_t sum_statistics(const Machine& m);
/// Items take the values of the pick buffers; statistics are those of the items with picks. Stages without picks are
/// summed as they are stored, but those that `touch` forms next. In a window items are formed from their priors, and
/// take what `taken` has for them.
std::int32_t seed_statistics(const Machine& m, const Taken* taken);
/// Sums of the data alone from these items, scaled, in place of those of all items: beside noisy sums over the factors,
/// exact ones would make naturals of no factor. `prepare` brings those of all items back.
std::int32_t sum_data(const Machine& m, std::span<const ItemRange> batch, double scale);
/// A block that comes before the items of some stage reads the statistics of their factors.
bool reads_statistics_first(const Model& m);

/// One stage holds all local blocks, and stores some.
bool one_stage(const Model& m);
/// The first stage, from whose items minibatches are drawn; null without.
const StepRow* batch_stage(const Model& m);
/// The factors of all items from their priors; of a window's, nothing is there to be formed.
std::int32_t form_items(const Machine& m);
/// A start is its global factors, where one stage holds all others: those of the items are formed, and inferred where
/// the blocks outside the items come first.
std::int32_t follow_items(const Machine& m);
/// Local factors at their optimum, the global ones as they are: several rounds where there are several local steps,
/// until the bound moves by at most 1e-12 of itself or `accuracy.iterations` were made.
std::int32_t infer_items(const Machine& m, Which which, double scale = 1);
/// Bounds of items that have stages of their own touch where the factors are. Those of one stage are formed with the
/// items.
std::int32_t touch(const Machine& m);
/// All blocks outside the items, but chains that were seeded; points that move by steps until those are done.
std::int32_t update_globals(const Machine& m);

/// Work on consecutive runs of those that were placed (machine/items.h), of which the first is the k-th.
std::int32_t work_on(const Machine& m, std::size_t k, std::span<const ItemRange> runs, const ItemWork& work);

/// Runs a function over items whose factors are in the table.
std::int32_t run_items(const Machine& m, std::int64_t function, ItemRange run, lehr_buffer const* table);

}  // namespace lehr::machine
