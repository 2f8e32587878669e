// Schedule -> Loops: the program of one model at the sizes of one data set, and what a driver needs to run it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/loops/loops.h"
#include "compiler/model/bind.h"
#include "compiler/schedule/schedule.h"

namespace lehr::loops {

/// One array of the posterior: `variable.parameter`, over the variable's axes and event axes.
struct ParameterSlot {
  std::string name;            // "beta.concentration"
  model::VariableId variable;  // whose axes it has
  conditionals::BlockId block;
  std::string parameter;  // name in the family row
  int event_rank = 0;
  BufferId buffer;
  std::vector<model::PlateId> axes;  // plates, then event axes (a category's probabilities: its plate)
  bool local = false;                // lives on the items of the data: written with --save-locals only
  bool streamed = false;             // written by the code, never read back
};

/// The functions of one item stage; all take (begin, end) of the items.
struct StageFunctions {
  model::PlateId item;
  std::size_t tables = 0;              // (): tables from the current expectations
  std::size_t update = 0;              // (begin, end, iterations; tolerance): local blocks, statistics added up
  std::optional<std::size_t> seed;     // (begin, end): categories set to the picks of the driver, statistics added up
  std::optional<std::size_t> sum;      // (begin, end): statistics of the stored factors, nothing updated
  std::optional<std::size_t> refresh;  // (begin, end): auxiliary sources formed again, statistics added up
  std::optional<std::size_t> close;    // (): after `update` or `refresh` of all items, with their sums in place
  std::optional<std::size_t> fresh;    // (begin, end): as Interface::initialise, of these items; where asked for
  std::optional<std::size_t> expectations;  // (begin, end): as Interface::expectations, of these items; with `fresh`
  std::optional<std::size_t> data;   // (begin, end): sums of the data of these items alone, added up; where asked for
  std::vector<BufferId> data_sums;   // of `data`: to be zero before, and as `prepare` leaves them after all items
  std::vector<BufferId> statistics;  // to be zero before, one copy a worker
  std::vector<BufferId> picks;       // i64 [item]: value of each category block at `seed`, or -1 to leave the item out
  std::vector<model::PlateId> pick_plates;    // whose elements they are
  std::vector<BufferId> known_picks;          // data of the same that is -1 where missing; invalid: there are none
  std::vector<conditionals::BlockId> seeded;  // blocks that `seed` forms from the data of the items with picks
};

struct UpdateFunction {
  conditionals::BlockId block;
  std::size_t function = 0;  // ()
  BufferId gradient;         // [2]: squared norms of the running mean of natural gradients and of the last one, where
                             // Weight::memory is above 0; to be zero before. Invalid: not measured
};

/// What temperatures of single items need, or the choice of a start for each item.
struct ItemEnergies {
  model::PlateId item;
  BufferId energies;  // [item], added to by item stages and by `outer`: 1 / T times the energy, or with
                      // LowerOptions::item_starts what the item's factors contribute to the ELBO
  BufferId inverse;   // [item], 1 / T; invalid with item_starts
  std::optional<std::size_t> outer = {};  // (begin, end): terms without blocks of item stages; where there is `inverse`
};

/// What coupling from the past asks of a model of spins and bits (lower_envelope.cpp).
struct EnvelopeFunctions {
  std::size_t couplings = 0;       // (): the least coefficient of a pair of latent variables (0 at most) and the number
                                   // of terms with more of them into `elbo_value`
  std::size_t open = 0;            // (): every element could be anything
  std::size_t undecided = 0;       // (): how many elements have bounds that differ into `elbo_value`
  std::vector<std::size_t> turns;  // () by turn of a sweep, one after another: bounds from bounds; values are left at
                                   // the upper ones
};

/// What a driver calls, in order.
struct Interface {
  std::size_t prepare = 0;                    // (): sums and inverses of the data alone, once
  std::size_t initialise = 0;                 // (): every stored factor from its prior, parents first
  std::size_t expectations = 0;               // (): expected statistics from parameters
  std::size_t global_expectations = 0;        // (): the same of the blocks that are not Schedule::local
  std::size_t elbo = 0;                       // (): fills `elbo_value`
  std::optional<EnvelopeFunctions> envelope;  // where asked for
  std::optional<std::size_t> states;          // (): the log of the number of values that the auxiliary sources have
                                              // together into `elbo_value`; where asked for
  std::vector<std::variant<StageFunctions, UpdateFunction>> steps;
  std::vector<schedule::Turn> sweep;            // one sweep: turns of `steps`
  std::optional<std::size_t> initialise_local;  // (): as `initialise`, of the blocks that are Schedule::local; where
                                                // asked for and not all of them are in one stage, which has its own
  std::vector<ParameterSlot> parameters;
  std::vector<BufferId> sums;  // by Schedule::statistics
  BufferId elbo_value;         // [6], see ElboPart
  BufferId weights;            // [8], see Weight; all 1 for plain coordinate ascent
  std::optional<ItemEnergies> item_energies;
  BufferId random_key;  // [3] of random numbers: seed, chain, step; invalid where nothing is drawn
};

/// What `elbo` computes. The terms of the data are those of Schedule::tempered, unweighted.
/// discrete_entropy is that part of local_entropy which has a largest value; local_prior the expected log prior of
/// local variables that are not among the terms of the data.
enum class ElboPart { elbo, data_energy, local_entropy, entropy, discrete_entropy, local_prior };

/// Factors that the generated code reads from `weights`. With b = 1 / T: annealing the data sets local_data and
/// global_data to b, annealing entropies sets local and global to b; a natural-gradient step sets step to rho.
enum class Weight {
  local_data,   // on the terms of the data, in the naturals of local blocks
  global_data,  // the same in the naturals of the other blocks
  local,        // on all naturals of local blocks
  global,       // on all naturals of the other blocks
  step,         // naturals of global blocks: step * new + (1 - step) * those of the parameters as they are
  memory,       // share of this natural gradient (new - those as they are) in their running mean; 0: not measured
  rows,         // 0: parameters of items that no sweep reads need not be written (passes/unread.h)
  bound         // 0: sums over items that the bound alone reads need not be formed
};

/// Where the data go: buffers by given, observed variable and nested plate (offsets).
struct DataBuffers {
  std::vector<BufferId> givens, observed, offsets;
};

struct Lowered {
  Program program;
  Interface interface;
  DataBuffers data;
  std::vector<model::GivenId> definite;   // data matrices that must be symmetric positive definite
  std::vector<SizeId> plate_sizes;        // by PlateId
  std::vector<SizeId> longest;            // by PlateId: elements in the longest row; invalid where nothing asks
  std::vector<std::int64_t> size_values;  // by slot of Program::sizes; -1 where no data gave the size
  /// The program before the passes, where there were some: what there is to do, and not how.
  std::shared_ptr<const Program> before = {};
};

struct LowerOptions {
  bool save_locals = false;                                 // streamed factors are written as they are used
  bool gradients = false;                                   // natural gradients of global blocks can be measured
  std::optional<model::GivenId> inverse_temperatures = {};  // of schedule::temper_items: energies by item are kept
  bool new_items = false;    // items come and go: StageFunctions::fresh or Interface::initialise_local
  bool item_starts = false;  // where one stage holds all local blocks: the bound of each item in ItemEnergies, and
                             // `seed` updates all blocks of the items but discrete ones, of which the stored ones stay
                             // and the others take the picks
  bool envelope = false;     // Interface::envelope
  bool states = false;       // Interface::states
  bool batches = false;      // only some of the items are there at a time: StageFunctions::data
  bool single = false;       // 32 bits do where items are worked on: Function::single
};

/// status codes of the generated functions: kFailBlock + BlockId when that block's factor is not proper.
inline constexpr std::int32_t kFailBlock = 100;
/// A data matrix that must be positive definite is not: kFailData + GivenId.
inline constexpr std::int32_t kFailData = 10000;

}  // namespace lehr::loops

namespace lehr {

/// `data` gives sizes and constants; of values, if there are any, only how many counts are above zero. Plates sized by
/// `= K` and event axes become constants of the code; item plates, what is nested in them and plates without a size are
/// read at run time.
loops::Lowered lower(const model::Model& model, const schedule::Schedule& schedule, const BoundData& data,
                     const loops::LowerOptions& options);

}  // namespace lehr
