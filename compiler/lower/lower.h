// Lowering from Schedule to Loops: the program of one model at the sizes of one data set, and the interface to run it.
//
// The interface says which functions there are, in which order a sweep calls them, and through which buffers they
// exchange numbers. Functions allocate no memory: the driver owns every buffer.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/loops/loops.h"
#include "compiler/schedule/schedule.h"

namespace lehr::loops {

/// One array of the posterior: a parameter of a variational factor, over the variable's plates and event axes.
struct ParameterSlot {
  std::string name;                  // "beta.concentration": variable, parameter
  model::VariableId variable;        // whose axes it has
  conditionals::BlockId block;       // whose factor it belongs to
  std::string parameter;             // name in the family row
  int event_rank = 0;                // number of event axes
  BufferId buffer;                   // where its numbers are
  std::vector<model::PlateId> axes;  // plates, then event axes (a category: the plate of its values)
  bool local = false;                // of a block that an item stage updates; saved only with --save-locals
  bool fused = false;                // of a fused factor: the code writes it and never reads it
};

/// The functions of one item stage, by position in Program::functions; the brackets have their parameters. A range
/// (begin, end) is one of items. `statistics` and `data_sums` are added to, so the caller zeroes them before.
struct StageFunctions {
  model::PlateId item;     // the plate of the items
  std::size_t tables = 0;  // (): forms the tables from the current expectations
  /// (begin, end, iterations; tolerance): updates local blocks, adds up statistics. If the stage iterates, an item gets
  /// at most `iterations` passes. The pass after one in which the parameters' relative change is at most `tolerance` is
  /// the last.
  std::size_t update = 0;
  /// (begin, end): sets categories to `picks` and adds up statistics; none without categories (unless
  /// LowerOptions::item_starts is set).
  std::optional<std::size_t> seed;
  /// (begin, end): adds up statistics of the factors as they are; no updates. None if a category is fused.
  std::optional<std::size_t> sum;
  /// (begin, end): updates auxiliary sources and fused categories alone, adds up statistics. None unless
  /// schedule::ItemStage::refresh is set.
  std::optional<std::size_t> refresh;
  /// (): completes the entropies, once `update` or `refresh` has visited all items; none if the items leave nothing
  /// out.
  std::optional<std::size_t> finalise;
  /// (begin, end): Interface::initialise for these items (LowerOptions::new_items).
  std::optional<std::size_t> initialise;
  std::optional<std::size_t> expectations;  // (begin, end): Interface::expectations for these items; with `initialise`
  /// (begin, end): adds up the sums of the data alone (LowerOptions::batches); none if the model has no such sums.
  std::optional<std::size_t> data;
  std::vector<BufferId> data_sums;   // what `data` adds to; `prepare` fills them with the sums over all items
  std::vector<BufferId> statistics;  // what the other item functions add to; each worker has a copy
  std::vector<BufferId> picks;       // i64 [item], by category block: value for `seed`, or -1 to leave the item out
  std::vector<model::PlateId> pick_plates;    // by category block: the plate of its values
  std::vector<BufferId> observed_picks;       // by category block: observed values, -1 where missing; invalid: none
  std::vector<conditionals::BlockId> seeded;  // other blocks that `seed` forms from the data of the items with picks
};

/// The generated function that updates a block outside the item stages. It is one of Interface::steps, which the driver
/// calls in the order of a sweep.
struct UpdateFunction {
  conditionals::BlockId block;  // the block that is updated
  std::size_t function = 0;     // (): updates all elements
  /// [2]: squared norms of the running mean of natural gradients, and of the last gradient. The update adds to them
  /// while Weight::gradient_memory is above 0 and Weight::step is not 1, so the caller zeroes them before. Invalid if
  /// gradients are not measured.
  BufferId gradient;
};

/// The buffers and the function through which generated code gives the driver one number for each item, in nats.
///
/// * With a temperature T for each item: its energy divided by T. The energy is the expected log density of the item's
///   data and local variables (the tempered terms). It is not negated.
/// * With several starts for each item: what the item adds to the ELBO. The best start is chosen by it.
struct ItemEnergies {
  model::PlateId item;  // the plate of the items
  /// [item]: the numbers. Updates of items and `outer` add to them, so the caller zeroes them before.
  BufferId energies;
  BufferId inverse;  // [item], 1 / T; invalid with LowerOptions::item_starts
  /// (begin, end): adds the tempered terms without blocks of item stages; with `inverse`.
  std::optional<std::size_t> outer = {};
};

/// The functions of exact sampling by coupling from the past, for models of spins and bits (stages/envelope.h).
struct EnvelopeFunctions {
  /// (): writes to `elbo_value`[0] the least coefficient of a pair of latent variables, or 0 if none is negative.
  /// Writes to `elbo_value`[1] the number of terms with more than two latent variables.
  std::size_t couplings = 0;
  std::size_t open = 0;  // (): sets the interval of every element to its whole support
  /// (): writes to `elbo_value`[0] the number of elements whose two interval ends differ.
  std::size_t undecided = 0;
  /// (), by visit of a sweep (Schedule::sweep), called in this order: updates the intervals of the elements from the
  /// intervals of all others. The values of the elements become the upper ends.
  std::vector<std::size_t> visits;
};

/// The function and buffers through which generated code gives the driver what an invariance (schedule::Invariance)
/// does to the ELBO. E x_j stands for the sum, over the elements of a variable, of the expectation of component x_j; E
/// x_j x_l for that of the product. Invalid buffers stand for zeros. Arrays have an axis over the plate of the
/// components for each j and l.
struct InvarianceFunction {
  /// What the function writes of one variable.
  struct Variable {
    BufferId count;              // [1], number of elements
    BufferId first, second;      // E x_j; E x_j x_l (of numbers E x_j^2, on the diagonal)
    BufferId linear, quadratic;  // coefficients of x_j and of x_j x_l in the priors without a scale
  };
  /// What the function writes of one scale: a Gamma variable t in the priors. One scale for all components has one
  /// element.
  struct Scale {
    /// From the terms outside these priors: 1 plus the coefficient of log t; minus the coefficient of t.
    BufferId shape, rest;
    std::vector<BufferId> linear, quadratic;  // by variable: minus the coefficients of t x_j and of t x_j^2, in priors
  };
  /// What the function writes of one quadratic form.
  struct Form {
    BufferId moments;       // [j, l], sums over the elements of E x_j x'_l
    BufferId coefficients;  // their coefficients: [j, l]; with a follower [i], by its rows
  };
  /// What the function writes of one follower: the natural parameters of its rows, without those that forms give.
  struct Follower {
    BufferId linear, quadratic;  // [i, j], of entry j of row i; [i, j, l], of products of two
  };
  std::size_t function = 0;         // (): fills the buffers
  std::vector<Variable> variables;  // by Invariance::variables
  std::vector<Scale> scales;        // by Invariance::scales
  std::vector<Form> forms;          // by Invariance::forms
  std::vector<Follower> followers;  // by Invariance::followers
};

/// The functions and buffers of a shift (schedule::Shift). Arrays have an axis over its components for each constant.
struct ShiftFunctions {
  /// (): fills `gradient` and `curvature`; the caller sets all entries of `step` to 1 before.
  std::size_t measure = 0;
  /// (): moves the stored factors by the constants in `step`: adds them to means or, for a change of scale, multiplies
  /// spreads by their exponentials. Expected statistics stay as they are, so the caller recomputes them.
  std::size_t move = 0;
  BufferId step;  // the constants, one for each component; the caller writes them
  /// First and second derivatives of the ELBO by the constants, where all of them are 0.
  BufferId gradient, curvature;
};

/// The functions and buffers that a driver uses. Functions are positions in Program::functions; the brackets have their
/// parameters. The driver calls them in about this order.
struct Interface {
  /// (): forms inverse lookups, sums and inverses of the data alone; called after data are set.
  std::size_t prepare = 0;
  std::size_t initialise = 0;                 // (): forms every stored factor from its prior, parents first
  std::size_t expectations = 0;               // (): recomputes expected statistics from parameters
  std::size_t global_expectations = 0;        // (): the same for blocks that no item stage updates
  std::size_t elbo = 0;                       // (): fills `elbo_value`
  std::optional<EnvelopeFunctions> envelope;  // with LowerOptions::envelope
  /// (): writes to `elbo_value`[0] the log of the number of joint values of all auxiliary sources
  /// (LowerOptions::states).
  std::optional<std::size_t> states;
  std::vector<std::variant<StageFunctions, UpdateFunction>> steps;  // by Schedule::steps
  std::vector<schedule::SweepEntry> sweep;                          // the visits of `steps` in one sweep, in order
  /// (): `initialise` for blocks that are Schedule::local (LowerOptions::new_items). None if one stage has all local
  /// blocks; it has StageFunctions::initialise.
  std::optional<std::size_t> initialise_local;
  std::vector<ParameterSlot> parameters;        // the posterior
  std::vector<BufferId> sums;                   // by Schedule::statistics: the arrays of their sums
  BufferId elbo_value;                          // [6], by ElboPart
  BufferId weights;                             // [8], by Weight; all 1 is plain coordinate ascent
  std::optional<ItemEnergies> item_energies;    // with temperatures or starts of single items
  std::vector<InvarianceFunction> invariances;  // by Schedule::invariances
  std::vector<ShiftFunctions> shifts;           // by Schedule::shifts
  BufferId random_key;  // i64 [3]: seed, chain, step of random numbers; invalid if nothing is drawn
};

/// The positions of the numbers that the function `elbo` writes to the array Interface::elbo_value, in nats.
enum class ElboPart {
  elbo,              // the evidence lower bound
  data_energy,       // expected log density of the tempered terms (Schedule::tempered), unweighted
  local_entropy,     // entropy of local factors
  entropy,           // entropy of all factors
  discrete_entropy,  // the part of local_entropy that is of discrete variables, and so has a maximum
  local_prior        // expected log prior of local variables whose terms are not tempered
};

/// The numbers that the generated code reads from Interface::weights. Let b = 1 / T. Annealing the data sets local_data
/// and global_data to b; annealing entropies sets local and global to b. A natural-gradient step sets step to rho.
enum class Weight {
  local_data,   // factor on the tempered terms, in the natural parameters of local blocks
  global_data,  // the same in the natural parameters of the other blocks
  local,        // factor on all natural parameters of local blocks
  global,       // factor on all natural parameters of the other blocks
  /// Step size: natural parameters of global blocks become step * new + (1 - step) * current, values of points too.
  step,
  gradient_memory,  // weight of this natural gradient (new - current) in their running mean; 0: not measured
  item_parameters,  // 0: per-item parameters that no sweep reads need not be written (Demand::item_parameters)
  elbo              // 0: sums over items that the ELBO alone reads need not be formed (Demand::elbo)
};

/// The buffers of the arrays of a math::SparsePattern, by the names that these have there. All are i64.
struct PatternBuffers {
  model::VariableId joint;  // the variable whose precision has the pattern
  BufferId order, first, row, place, filled_first, filled_row, left_first, left, left_column;
};

/// One array of a pattern: its name, its numbers in the pattern, and where PatternBuffers has its buffer.
struct PatternArray {
  const char* name;
  const std::vector<std::int64_t>* values;
  BufferId* buffer;
};
/// Returns all arrays of a pattern. The result points into both arguments.
std::vector<PatternArray> arrays_of(const math::SparsePattern& pattern, PatternBuffers& buffers);

/// The buffers into which a driver puts the data. `givens` is by GivenId. `observed` is by VariableId, invalid for
/// variables without data. `offsets` (of rows) is by PlateId, invalid unless the plate is nested. `patterns` has an
/// entry for each variable with a sparse precision.
struct DataBuffers {
  std::vector<BufferId> givens, observed, offsets;
  std::vector<PatternBuffers> patterns = {};
};

/// The result of lowering a schedule: the Loops program, the interface through which a driver runs it, and its sizes.
/// The passes rewrite the program, then it is compiled or interpreted.
struct Lowered {
  Program program;      // the code
  Interface interface;  // how to run it
  DataBuffers data;     // where to put the data
  /// Givens that the code inverts: matrices that must be symmetric positive definite.
  std::vector<model::GivenId> positive_definite;
  std::vector<SizeId> plate_sizes;  // by PlateId: the number of elements; of a nested plate, in all rows together
  /// By PlateId: the number of elements in the longest row; invalid if the code needs none.
  std::vector<SizeId> longest;
  std::vector<std::int64_t> size_values;  // by slot of Program::sizes; -1 if no data gave the size
  /// The program before the passes, if there were some. Costs are estimated from it, so that they depend on the model
  /// alone and on no pass.
  std::shared_ptr<const Program> unoptimised = {};
};

/// What a lowered program must be able to do beyond a plain fit; each option adds functions or buffers to it, or
/// changes some. Examples are exact sampling, minibatches, temperatures or starts of single items, and item functions
/// in 32 bits. The method and the options of a fit (or a prediction, a score, `lehr build`) decide which are set.
struct LowerOptions {
  bool save_locals = false;                                 // fused factors are written to memory as they are used
  bool gradients = false;                                   // natural gradients of global blocks can be measured
  std::optional<model::GivenId> inverse_temperatures = {};  // the data array of schedule::temper_items; energies are
                                                            // added up by item
  bool new_items = false;  // items come and go: StageFunctions::initialise or Interface::initialise_local
  /// A start is chosen for each item, if one stage has all local blocks. ItemEnergies has the contributions of items to
  /// the ELBO. `seed` updates the continuous blocks of the items; stored discrete blocks stay as they are, fused
  /// categories take the picks.
  bool item_starts = false;
  bool envelope = false;  // Interface::envelope
  bool states = false;    // Interface::states
  /// Sums are formed of some items at a time (minibatches, out-of-core data): StageFunctions::data.
  bool batches = false;
  bool single = false;         // item functions may use 32 bits: Function::f32_allowed
  Thresholds thresholds = {};  // Program::thresholds, which the lowering uses too
};

/// Status of a generated function: kFailBlock + BlockId if that block's factor is not proper.
inline constexpr std::int32_t kFailBlock = 100;
/// Status of a generated function: a matrix of data is not positive definite, kFailData + GivenId for a given, and
/// kFailData + number of givens + VariableId for an observed variable.
inline constexpr std::int32_t kFailData = 10000;

}  // namespace lehr::loops

namespace lehr {

/// Returns true if a program can have the size of a plate set as a constant. Returns false for nested plates, ordered
/// plates and item plates, whose sizes it reads at run time, so that the same code serves data of other sizes. A size
/// that no data give is read at run time in any case.
bool has_constant_size(const model::Model& m, model::PlateId set);

/// Lowers a schedule to a program in Loops. `data` gives sizes and constants; of its values, if there are any, it uses
/// only how many counts are above zero. The sizes of plates with has_constant_size() become constants of the code, if
/// `data` give them. All other sizes are read at run time.
loops::Lowered lower(const model::Model& model, const schedule::Schedule& schedule, const BoundData& data,
                     const loops::LowerOptions& options);

}  // namespace lehr
