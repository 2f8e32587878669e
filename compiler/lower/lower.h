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
  /// The name under which it is saved, of variable and parameter: "beta.concentration".
  std::string name;
  /// The variable whose factor has the parameter. If a mean and its precision have one joint factor (NormalGamma), it
  /// is the mean for parameters of the mean, and the precision for the others.
  model::VariableId variable;
  /// The block whose factor has the parameter.
  conditionals::BlockId block;
  /// The name of the parameter in the family row: "concentration".
  std::string parameter;
  /// The number of event axes of one element's parameter: 0 of a number, 1 of a vector, 2 of a matrix.
  int event_rank = 0;
  /// The buffer of the program that has its numbers.
  BufferId buffer;
  /// The plates of the array's axes: those of the variable, then event axes (of a category: the plate of its values).
  std::vector<model::PlateId> axes;
  /// True if an item stage updates the block. Such arrays have numbers for every item, and a fit saves them only with
  /// --save-locals.
  bool local = false;
  /// True if the responsibilities are fused (Storage::fused): the code writes the array for the caller and never reads
  /// it.
  bool fused = false;
};

/// The functions of one item stage, by position in Program::functions; the brackets have their parameters. A range
/// (begin, end) is one of items. `statistics` and `data_sums` are added to, so the caller zeroes them before.
struct StageFunctions {
  model::PlateId item;  // the plate of the items
  /// (): forms the tables of the stage from the current expectations of global factors, before the items are updated.
  std::size_t tables = 0;
  /// (begin, end, iterations; tolerance): updates local blocks, adds up statistics. If the stage iterates, an item gets
  /// at most `iterations` passes. The pass after one in which the parameters' relative change is at most `tolerance` is
  /// the last.
  std::size_t update = 0;
  /// (begin, end): starts the items: sets their categories to the values in `picks`, forms the blocks in `seeded`, and
  /// adds up statistics. None without categories, unless LowerOptions::item_starts is set.
  std::optional<std::size_t> seed;
  /// (begin, end): adds up statistics of the stored factors of these items as they are; it updates none. None if a
  /// category is fused.
  std::optional<std::size_t> sum;
  /// (begin, end): forms auxiliary sources and fused categories of these items anew from the current factors, leaves
  /// all other factors as they are, and adds up statistics. None unless schedule::ItemStage::refresh is set.
  std::optional<std::size_t> refresh;
  /// (): subtracts from the entropies of discrete blocks the means of log odds that the items left out. The caller runs
  /// it once `update` or `refresh` has visited all items. None if the items leave nothing out.
  std::optional<std::size_t> finalise;
  /// (begin, end): forms the stored local factors of these items from their priors. None unless LowerOptions::new_items
  /// is set and this stage has all local blocks, some of them stored.
  std::optional<std::size_t> initialise;
  /// (begin, end): recomputes the expected statistics of the local factors of these items from their parameters. Exists
  /// if `initialise` does.
  std::optional<std::size_t> expectations;
  /// (begin, end): adds up the sums of the data alone, for these items, in `data_sums`. None unless
  /// LowerOptions::batches is set and the model has such sums.
  std::optional<std::size_t> data;
  /// The arrays of sums of the data that `data` adds to. Interface::prepare fills them with the sums over all items.
  std::vector<BufferId> data_sums;
  /// The arrays of sums over items that `update`, `seed`, `sum` and `refresh` add to: statistics and partial sums of
  /// the ELBO. Each worker has a copy.
  std::vector<BufferId> statistics;
  /// For each category of the items that is neither a chain nor auxiliary: i64 [item], the value that `seed` gives it,
  /// or -1 to leave the item out.
  std::vector<BufferId> picks;
  /// For each of `picks`: the plate of the values of the category.
  std::vector<model::PlateId> pick_plates;
  /// For each of `picks`: i64 [item], the observed values of the category, -1 where missing. Invalid unless the
  /// category may be observed and an item has one element of it.
  std::vector<BufferId> observed_picks;
  /// The blocks without picks that `seed` forms from the data of the items, as theta in theta[n] ~ Normal(mu[z[n]],
  /// tau) with a pick of z.
  std::vector<conditionals::BlockId> seeded;
};

/// The generated function that updates a block outside the item stages. It is one of Interface::steps, which the driver
/// calls in the order of a sweep.
struct UpdateFunction {
  conditionals::BlockId block;  // the block that is updated
  /// (): updates all elements of the block.
  std::size_t function = 0;
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
  /// f64 [item]: 1 / T of each item, T its temperature. Invalid with several starts for each item.
  BufferId inverse;
  /// (begin, end): adds, to the energies of these items, their tempered terms that no block of an item stage is in.
  /// None unless items have temperatures.
  std::optional<std::size_t> outer = {};
};

/// The functions of exact sampling by coupling from the past, for models of spins and bits (stages/envelope.h).
struct EnvelopeFunctions {
  /// (): writes what decides whether the model is attractive, so that interval ends are runs of the sampler themselves.
  /// To `elbo_value`[0] goes the least coefficient of a pair of latent variables, or 0 if none is negative; to
  /// `elbo_value`[1] the number of terms with more than two latent variables.
  std::size_t couplings = 0;
  std::size_t open = 0;  // (): sets the interval of every element to its whole support
  /// (): writes to `elbo_value`[0] the number of elements whose two interval ends still differ. At 0 the state is an
  /// exact sample.
  std::size_t undecided = 0;
  /// For each visit of a sweep (Schedule::sweep), called in this order: (): updates the intervals of the elements from
  /// the intervals of all others. The values of the elements become the upper ends.
  std::vector<std::size_t> visits;
};

/// The function and buffers through which generated code gives the driver what an invariance (schedule::Invariance)
/// does to the ELBO. E x_j stands for the sum, over the elements of a variable, of the expectation of component x_j; E
/// x_j x_l for that of the product. Invalid buffers stand for zeros. Arrays have an axis over the plate of the
/// components for each j and l.
struct InvarianceFunction {
  /// What the function writes of one variable that the change of basis transforms, with components x_j.
  struct Variable {
    /// f64 [1]: the number of elements of the variable.
    BufferId count;
    /// `first`: E x_j of each component. `second`: E x_j x_l of each pair of components. If the variable has an axis
    /// over the components, as W[d, k], rather than being a vector of them, only the E x_j^2 are there, on the
    /// diagonal.
    BufferId first, second;
    /// The coefficients of x_j and of x_j x_l in those priors of the variable that have no scale.
    BufferId linear, quadratic;
  };
  /// What the function writes of one scale: a Gamma variable t that multiplies the components or their squares in
  /// priors. One scale for all components has one element.
  struct Scale {
    /// From the terms outside the priors that the scale multiplies: 1 plus the coefficient of log t; minus the
    /// coefficient of t.
    BufferId shape, rest;
    /// By variable, from its priors: minus the coefficients of t x_j and of t x_j^2.
    std::vector<BufferId> linear, quadratic;
  };
  /// What the function writes of one quadratic form: a sum of products with coefficients (schedule::QuadraticForm).
  struct Form {
    /// [j, l]: the sum of the expected products of factors j and l.
    BufferId moments;
    /// The coefficients of these products: [j, l], or with followers [i], one for each row.
    BufferId coefficients;
  };
  /// What the function writes of one follower, a matrix with Normal rows that multiplies such products (A in Normal(A
  /// x[t-1], 1)): the natural parameters of its rows, without those that forms give.
  struct Follower {
    /// The natural parameters of entry j of row i, at [i, j]; of the product of entries j and l of row i, at [i, j, l].
    BufferId linear, quadratic;
  };
  /// (): fills all buffers below from the current factors.
  std::size_t function = 0;
  /// What the function writes of each of Invariance::variables, in their order.
  std::vector<Variable> variables;
  /// What the function writes of each of Invariance::scales, in their order.
  std::vector<Scale> scales;
  /// What the function writes of each of Invariance::forms, in their order.
  std::vector<Form> forms;
  /// What the function writes of each of Invariance::followers, in their order.
  std::vector<Follower> followers;
};

/// The functions and buffers by which the driver steps along a shift (schedule::Shift): a move of latent variables by
/// constants, or of their scales by factors, that leaves the likelihood alone and raises the ELBO. Arrays have an axis
/// over the constants; the curvature has two.
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
  std::size_t initialise = 0;  // (): forms every stored factor from its prior, parents first
  /// (): recomputes the expected statistics of all stored factors from their parameters.
  std::size_t expectations = 0;
  /// (): recomputes, from parameters, the expected statistics of the blocks that no item stage updates.
  std::size_t global_expectations = 0;
  /// (): computes the ELBO of the current factors and its parts in `elbo_value`.
  std::size_t elbo = 0;
  /// The functions of exact sampling; none unless LowerOptions::envelope is set.
  std::optional<EnvelopeFunctions> envelope;
  /// (): writes to `elbo_value`[0] the log of the number of joint values of all auxiliary sources, each counted as
  /// often as its element has copies. Parallel tempering needs it for the evidence. None unless LowerOptions::states is
  /// set.
  std::optional<std::size_t> states;
  /// The functions of each step of Schedule::steps: those of an item stage, or the update of one block.
  std::vector<std::variant<StageFunctions, UpdateFunction>> steps;
  /// The visits of `steps` in one sweep, in the order in which the driver makes them.
  std::vector<schedule::SweepEntry> sweep;
  /// (): forms the stored factors of local blocks (Schedule::local) from their priors, when items are new. None unless
  /// LowerOptions::new_items is set; also none if one stage has all local blocks, since StageFunctions::initialise then
  /// does it.
  std::optional<std::size_t> initialise_local;
  /// The arrays of the posterior: every parameter of a factor that has a buffer.
  std::vector<ParameterSlot> parameters;
  /// By statistic (an index into Schedule::statistics): the array with its sums.
  std::vector<BufferId> sums;
  /// f64 [6]: the ELBO and its parts in nats, at the positions of ElboPart. The functions `couplings`, `undecided` and
  /// `states` also write their results here.
  BufferId elbo_value;
  /// f64 [8]: numbers that the driver sets and the code reads, at the positions of Weight. All 1 is plain coordinate
  /// ascent.
  BufferId weights;
  /// The numbers by item for temperatures or starts of single items; none if the options request neither.
  std::optional<ItemEnergies> item_energies;
  /// The function and buffers of each of Schedule::invariances.
  std::vector<InvarianceFunction> invariances;
  /// The functions and buffers of each of Schedule::shifts.
  std::vector<ShiftFunctions> shifts;
  BufferId random_key;  // i64 [3]: seed, chain, step of random numbers; invalid if nothing is drawn
};

/// The positions of the numbers that the function `elbo` writes to the array Interface::elbo_value, in nats.
enum class ElboPart {
  elbo,  // the evidence lower bound
  /// Expected log density of the tempered terms (Schedule::tempered), not multiplied by weights.
  data_energy,
  /// Entropy of all local factors.
  local_entropy,
  entropy,  // entropy of all factors
  /// The part of local_entropy that is of discrete variables. It has a maximum, which others have not.
  discrete_entropy,
  local_prior  // expected log prior of local variables whose terms are not tempered
};

/// The numbers that the generated code reads from Interface::weights. Let b = 1 / T. Annealing the data sets local_data
/// and global_data to b; annealing entropies sets local and global to b. A natural-gradient step sets step to rho.
enum class Weight {
  /// Factor on the tempered terms, in the natural parameters of local blocks.
  local_data,
  /// Factor on the tempered terms, in the natural parameters of blocks that are not local.
  global_data,
  /// Factor on all natural parameters of local blocks.
  local,
  /// Factor on all natural parameters of blocks that are not local.
  global,
  /// Step size: natural parameters of global blocks become step * new + (1 - step) * current, values of points too.
  step,
  /// Weight of this natural gradient (new - current) in the running mean of gradients that step sizes are chosen by. If
  /// it is 0, gradients are not measured.
  gradient_memory,
  /// 0 if per-item parameters that no sweep reads need not be written (Demand::item_parameters), otherwise 1.
  item_parameters,
  /// 0 if sums over items that the ELBO alone reads need not be formed (Demand::elbo), otherwise 1.
  elbo
};

/// The buffers of the arrays of a math::SparsePattern, by the names that these have there. All are i64.
struct PatternBuffers {
  model::VariableId joint;  // the variable whose precision has the pattern
  /// Numbers that the pattern has for each coordinate (`order`), for its entries by column (`first`, `row`, `place`),
  /// and for the nonzeros of the Cholesky factor by column (`filled_...`) and by row (`left...`).
  BufferId order, first, row, place, filled_first, filled_row, left_first, left, left_column;
};

/// One array of a pattern: its name, its numbers in the pattern, and where PatternBuffers has its buffer.
struct PatternArray {
  /// The name of the array in SparsePattern, for the name of its buffer.
  const char* name;
  /// The numbers of the array, which belong to the pattern.
  const std::vector<std::int64_t>* values;
  /// The member of PatternBuffers that has the buffer of the array.
  BufferId* buffer;
};
/// Returns all arrays of a pattern with the buffers that they are copied to, so that callers can declare or fill these
/// in one loop. The result points into both arguments.
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
  /// The functions, sizes and buffers of the generated code.
  Program program;
  /// Which functions the driver calls, and which buffers it reads and writes.
  Interface interface;
  /// The buffers into which the driver copies the data.
  DataBuffers data;
  /// The data matrices (givens) that the code inverts, so that they must be symmetric positive definite.
  std::vector<model::GivenId> positive_definite;
  std::vector<SizeId> plate_sizes;  // by PlateId: the number of elements; of a nested plate, in all rows together
  /// By PlateId: the number of elements in the longest row; invalid if the code needs none.
  std::vector<SizeId> longest;
  /// The values of the sizes that the code reads at run time, in the order of their slots (Size::slot); -1 if no data
  /// gave the size.
  std::vector<std::int64_t> size_values;
  /// The program before the passes, if there were some. Costs are estimated from it, so that they depend on the model
  /// alone and on no pass.
  std::shared_ptr<const Program> unoptimised = {};
};

/// What a lowered program must be able to do beyond a plain fit; each option adds functions or buffers to it, or
/// changes some. Examples are exact sampling, minibatches, temperatures or starts of single items, and item functions
/// in 32 bits. The method and the options of a fit (or a prediction, a score, `lehr build`) decide which are set.
struct LowerOptions {
  /// The caller wants the responsibilities of fused categories: they get buffers, and the code writes them as it uses
  /// them.
  bool save_locals = false;
  /// The updates of global blocks can measure natural gradients (UpdateFunction::gradient).
  bool gradients = false;
  /// The data array with 1 / T of each item, T its temperature (schedule::temper_items). If there is one, the code also
  /// adds up the energy of each item (ItemEnergies).
  std::optional<model::GivenId> inverse_temperatures = {};
  /// Items come and go while the program is in use, so functions form factors of new items from their priors:
  /// StageFunctions::initialise or Interface::initialise_local.
  bool new_items = false;
  /// A start is chosen for each item, if one stage has all local blocks. ItemEnergies has the contributions of items to
  /// the ELBO. `seed` updates the continuous blocks of the items; stored discrete blocks stay as they are, fused
  /// categories take the picks.
  bool item_starts = false;
  /// The functions of exact sampling by coupling from the past are emitted (Interface::envelope).
  bool envelope = false;
  /// The function that counts the joint values of auxiliary sources is emitted (Interface::states).
  bool states = false;
  /// Items are worked on some at a time (minibatches, out-of-core data), so a function forms the sums of the data of
  /// these items alone: StageFunctions::data.
  bool batches = false;
  /// Functions over items may be compiled to 32-bit arithmetic if no formula in them needs 64 (Function::f32_allowed).
  bool single = false;
  /// The thresholds by which the lowering and, as Program::thresholds, later passes choose between ways of computing
  /// the same.
  Thresholds thresholds = {};
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
