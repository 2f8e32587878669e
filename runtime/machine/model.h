// A compiled model as constant tables: its sizes, buffers and data, the steps of a sweep, the parameters of its
// factors, and the positions of its generated functions. The compiler (compiler/machine/tables.cpp) writes the tables;
// a fit reads them in memory, and `lehr build` puts them into the object file. So every member is a 64-bit integer or a
// pointer, and no table owns memory.
//
// Conventions: a "row" is one record of a table. A buffer, function, step or parameter is named by its index in its
// table. -1 means none unless a comment says otherwise. `first_x, xs` is the range [first_x, first_x + xs) of another
// table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/abi.h"

namespace lehr::machine {

/// The length of an axis: the number itself, or -(slot + 1) if the length is entry `slot` of the run-time sizes.
using Extent = std::int64_t;

/// Says where the value of a run-time size comes from.
enum class SizeRule : std::int64_t {
  fixed,    // given once, when a state is made
  items,    // given with every data set, at most the capacity of the state
  nested,   // elements of a nested plate: the last entry of its row offsets, at most the capacity of the state
  longest,  // capacity of one row of a nested plate, given once, when a state is made
  one_more  // another extent plus 1, as for row offsets
};
/// Says how one run-time size, such as the number of elements of a plate, follows from a data set. The index in
/// Model::sizes is its slot.
struct SizeRow {
  SizeRule rule;         // where the value of the size comes from
  Extent base;           // one_more: the other extent; nested: the largest length of one row, 0: unlimited
  std::int64_t offsets;  // nested: index in Model::arrays of its row offsets
  std::int64_t least;  // smallest value that the constant indices of the model allow; nested: smallest length of a row
};

/// What the contents of a buffer are.
enum class Role : std::int64_t {
  data,       // arrays of the caller
  factor,     // parameters and expectations of q
  statistic,  // sums of expected statistics; with the factors they are the state, all that a fit saves of q
  work,       // other arrays that keep their contents between calls
  prior,      // parameters of the posterior of earlier data, where that is the prior
  scratch     // arrays whose contents have no meaning between calls
};
/// The type and shape of one buffer, by which an engine allocates it: an array of 8-byte elements in row-major order.
struct BufferRow {
  std::int64_t integers;    // 1: elements are int64, 0: double
  Role role;                // what the buffer contains, such as data, factors or statistics
  std::int64_t first_axis,  // index in Model::axes of the length of its first axis
      axes;                 // number of its axes, whose lengths are consecutive in Model::axes
  std::int64_t on_items;    // 1: the extent of some axis changes with the data set
};

/// The set in which values of a data array must lie; a built object checks it (runtime/embedded/check.cpp).
enum class Domain : std::int64_t {
  real,               // finite numbers
  positive,           // numbers above 0
  unit,               // numbers in the open interval (0, 1)
  count,              // integers from 0 to 2^53 - 1
  bit,                // 0 or 1
  spin,               // -1 or 1
  category,           // indices of elements of a plate
  simplex,            // rows with entries of at least 0 that sum to 1
  open_simplex,       // rows with entries above 0 that sum to 1
  symmetric,          // symmetric matrices
  positive_definite,  // symmetric positive definite matrices; the check looks at the symmetry only
  offsets             // row offsets of a nested plate: start at 0, never fall
};
/// The value of ArrayRow::may_be_missing if single entries of a vector may be missing.
inline constexpr std::int64_t kMissingEntries = 2;
/// One array that a data set must have, and what its values must satisfy. It is an observed variable, a given, or the
/// row offsets of a nested plate.
struct ArrayRow {
  std::int64_t buffer;          // position of the array in the table of buffers
  Domain domain;                // the set in which its values must lie
  std::int64_t may_be_missing;  // 0: no; 1: whole elements (NaN, -1 for categories); kMissingEntries: single entries
  Extent limit;                 // category: number of elements of its plate; offsets: that of the nested plate
  Extent width;                 // length of the event axis, 1 for scalars
  Extent rows;                // offsets, and categories that count within rows: number of elements of the parent plate
  std::int64_t offsets = -1;  // categories that count within a row of a nested plate: buffer of its row offsets
  std::int64_t row = -1;  // categories that count within rows: buffer with the row (parent element) of each; -1: the
                          // position along the first axis of the array determines the row
};

/// The value of StepRow::refresh for a step that only the ELBO needs, because the next sweep recomputes it.
inline constexpr std::int64_t kForElbo = 2;
/// The value of StepRow::tangent_points for points of expectations of links. Sweeps may then lower the ELBO.
inline constexpr std::int64_t kExpectations = 2;
/// The value of StepRow::moves_gradually for a step that a random start repeats, since the block is in the prior of
/// what the start forms from data.
inline constexpr std::int64_t kRepeated = 2;
/// One step of a sweep: an item stage (a loop over items that updates their local blocks and adds up statistics), or
/// the update of one block outside the items. See StageFunctions and UpdateFunction in compiler/lower/lower.h.
struct StepRow {
  std::int64_t stage;    // 1: an item stage; 0: a block outside the items, updated by `update`
  std::int64_t refresh;  // 1: repeats a stage, for its auxiliary variables alone; kForElbo: needed for the ELBO alone
  std::int64_t local;    // 1: updates blocks that are local to the items, in a stage or outside
  std::int64_t seeded;   // 1: updates a chain of categories outside the items; a start assigns the values of the chain,
                         // so it leaves out this step and updates the other blocks from them
  std::int64_t chains;   // 1: a stage that updates a chain of categories
  std::int64_t batched;  // 1: a stage whose items form minibatches
  std::int64_t moments;  // 1: a stage whose sums, at the optimum of its items, depend on the data of the items by their
                         // number, first and second moments alone
  /// 1: a stage whose only blocks are tangent points of local bounds (x.bound). kExpectations: a stage of points of
  /// expectations (x.predictor), or the update of one.
  std::int64_t tangent_points;
  std::int64_t seed_updates;  // 1: `seed` updates blocks from data and needs the stage's tables
  /// 1 or kRepeated: a point that moves gradually because a local bound holds it, or the point of that bound.
  std::int64_t moves_gradually;
  Extent items;         // stage: number of its items
  std::int64_t tables,  // function (): computes the natural-parameter tables that the items read
      update,           // a stage: function (begin, end, iterations; tolerance): updates items and adds up statistics;
                        // a block outside the items: function (): updates the block
      finalise,         // function (): completes the statistics after all items
      seed,             // function (begin, end): sets categories to the values in the pick buffers, adds statistics
      sum,              // function (begin, end): adds up statistics of the stored factors without an update; -1 if
                        // the stage has fused categories, which are not stored
      to_priors,        // function (begin, end): sets the local factors of items to their priors
      expectations,     // function (begin, end): recomputes expected statistics of items from parameters
      data;             // function (begin, end): adds up the sums over the data alone of items
  std::int64_t first_statistic,  // index in Model::statistics of the first buffer that the stage adds statistics to
      statistics;                // number of buffers that the stage adds to; the caller clears them
  std::int64_t first_data_sum,   // index in Model::statistics of the first buffer that `data` adds to
      data_sums;                 // number of buffers that `data` adds to; the caller clears them
  std::int64_t first_scratch,    // index in Model::statistics of the first scratch buffer of the stage
      scratch;                   // number of scratch buffers, of which each thread needs its own
  std::int64_t operations;       // estimated operations of one item; 0: items cannot be distributed over threads
  std::int64_t outside;          // estimated operations of `tables` and `finalise`, or of a block's update
  std::int64_t first_pick,       // index in Model::picks of the first latent category that a start assigns
      picks;                     // number of latent categories of the stage that a start assigns
  std::int64_t block;            // the block that the step updates; -1: a stage
  std::int64_t gradient;         // buffer [2] of the squared norms of the running mean of natural gradients, and of the
                                 // last one; added to if Weights::memory is above 0. -1: not measured
  std::int64_t subject;          // stage: index in Model::subjects of its items; -1: no stage
};
/// Work that must be done before the function `of` is called, in the order of the table. It is a cached reduction: sums
/// that are recomputed if they are not valid (loops::CachedSums in the compiler). Or it is an outlined parallel region:
/// a loop whose iterations may be distributed over threads (loops::ParallelRegion).
struct PrerequisiteRow {
  std::int64_t of,  // position of the generated function that needs this work done before it is called
      function;  // cached sums: function () that computes them; region: function (begin, end) that runs its iterations
  std::int64_t valid;       // buffer of the flag that is nonzero while the cached sums are valid; -1: a region
  Extent trip_count;        // number of iterations of the parallel region
  std::int64_t first_sum,   // index in Model::statistics of the first buffer that the iterations add to
      sums,                 // number of buffers that the iterations add to; the caller clears them
      first_scratch,        // index in Model::statistics of the first scratch buffer of the region
      scratch;              // number of scratch buffers, of which each thread needs its own
  std::int64_t operations;  // estimated operations of one iteration of the parallel region
};
/// A local category of an item stage whose values a random start may assign, with the buffer for these values.
struct PickRow {
  std::int64_t buffer;    // int64 [item]: the assigned value; -1: the item has none and adds nothing to statistics
  Extent values;          // number of values of the category
  std::int64_t observed;  // buffer of the values that the data contain, -1 for missing ones; -1: nothing is observed
};

/// The meaning of a parameter of a factor, by which a start knows how to displace it.
enum class Parameter : std::int64_t {
  value,       // the value of a point factor
  mean,        // a location
  precision,   // a precision (inverse variance), or a matrix of them
  df,          // degrees of freedom
  probs,       // probabilities of the values of a category
  p,           // one probability
  rate,        // a rate or scale
  shape_like,  // a shape, concentration or other pseudo-count
  other        // anything else; a start leaves it at the prior
};
/// The set in which the values of a variable lie.
enum class Support : std::int64_t {
  real,       // real numbers
  positive,   // numbers above 0
  unit,       // numbers between 0 and 1
  count,      // integers of at least 0
  bit,        // 0 or 1
  spin,       // -1 or 1
  category,   // elements of a plate
  simplex,    // vectors of probabilities
  vector,     // real vectors
  counts,     // vectors of integers of at least 0
  spd_matrix  // symmetric positive definite matrices
};

/// One parameter array of the factors of one variable, such as all means. Random starts set these arrays, and the
/// posterior is saved from them.
struct ParameterRow {
  std::int64_t buffer,      // the parameter array: axes of the variable, then those of the parameter
      block;                // the block whose factors have this parameter
  Parameter parameter;      // meaning of the parameter
  std::int64_t event_rank;  // axes of the parameter of one element: 0 scalar, 1 vector, 2 matrix
  Support support;          // set in which the values of the variable lie
  std::int64_t by_stage,    // 1: an item stage updates the parameter
      local,                // 1: its block is local (schedule::Schedule::local), whether a stage updates it or not
      streamed,             // 1: probabilities that are fused into their uses: written on request, never read back
      chain,                // 1: the factor is a chain over the elements
      auxiliary;            // 1: the compiler added the variable
  Extent event;             // length of the variable's event axis, 1 for scalars
  std::int64_t partner;     // for a mean, the row of its precision; for a precision, that of its mean; -1: none
  std::int64_t subject;     // index in Model::subjects of the elements of the variable
};

/// A parameter of the posterior of earlier data, which serves as the prior of the next data (`lehr build --updates`).
struct PriorRow {
  std::int64_t buffer,  // buffer that stores the parameter of the carried prior
      parameter;        // index in Model::parameters of the posterior's parameter that is copied to it
};

/// How an array of data belongs to the elements of a subject; see runtime/search/features.h.
enum class FeatureLayout : std::int64_t {
  rows,    // a matrix: every element has equally many values
  ragged,  // every element has a row of a nested plate
  named    // a list of values; one data array names the element of each (a node of an edge)
};
/// One array of data from which features of the elements of a subject are computed. Random starts cluster elements by
/// their features, and split moves divide components by them.
struct FeatureArrayRow {
  FeatureLayout form;        // how the data array belongs to the elements
  std::int64_t buffer;       // buffer of the values
  std::int64_t by;           // ragged: buffer of row offsets; named: buffer with the element of each value
  std::int64_t other;        // named: buffer with another element that each value belongs to, the feature; -1: none
  Extent feature_count;      // number of elements that `other` may name
  std::int64_t covariate;    // 1: a given, which is left out on request; 0: an observed variable
  std::int64_t first_inner,  // index in Model::axes of the first axis of one value
      inners;                // number of axes of one value
};
/// A subject: elements that share a set of axes (the items, or the elements of a variable), and the arrays of data that
/// describe them. Random starts and split moves cluster the elements by these arrays.
struct ElementSetRow {
  std::int64_t first_axis,     // index in Model::axes of the first axis of the elements
      axes;                    // number of axes of the elements
  std::int64_t first_columns,  // index in Model::columns of the first array that describes the elements
      columns;                 // number of arrays that describe the elements
};

/// What an array with an axis over exchangeable components contains; see runtime/search/components.h.
enum class ComponentKind : std::int64_t {
  statistic,       // sums over items
  responsibility,  // probabilities of a stored category, over [..., component]
  pair,            // joint probabilities of neighbours in a chain of such categories
  proportion,      // concentrations over the components of a simplex of each item
  factor           // any other parameter or expectation of q
};
/// One array of q with a slice for each exchangeable component. A move of components (merge, split, removal, sort)
/// edits these slices.
struct ComponentArrayRow {
  ComponentKind kind;   // what the array contains
  std::int64_t buffer;  // position of the array in the table of buffers
  std::uint64_t axes;   // bit k is set if axis k runs over the components
};
/// A pair of statistics of a stick-breaking prior, which needs the same sums with and without the last component. Moves
/// of components keep the two consistent.
struct StickSumsRow {
  std::int64_t most,  // buffer of sums over all components but the last
      all;            // buffer of the sums over all components, the last included
};
/// A latent category whose values are the components of one plate: it allocates items, or its own elements if they are
/// not those of an item stage, to components. Split moves divide a component by it.
struct AllocationRow {
  std::int64_t step,     // step of the stage whose items have the category; -1: its probabilities are stored
      buffer,            // buffer of the stored probabilities of the category; -1: they are not stored
      sums;              // step of the stage that adds up statistics of the stored category; -1: none
  std::int64_t subject;  // index in Model::subjects of the items or elements that have the category
};
/// One plate of components (clusters, topics, states) that moves may edit.
struct ComponentsRow {
  Extent count;              // number of components
  std::int64_t ordered;      // a ComponentOrder: whether components may be permuted
  std::int64_t first_array,  // index in Model::component_arrays of the first array of q over components
      arrays,                // number of arrays of q with axes over the components
      first_count,           // index in Model::component_arrays of the first array that counts elements
      counts;                // number of arrays that count the elements of each component
  std::int64_t first_head,   // index in Model::stick_sums of the first pair of stick-breaking statistics
      heads,                 // number of pairs of stick-breaking statistics
      first_allocation,      // index in Model::allocations of the first category whose values are the components
      allocations;           // number of categories whose values are the components
};

/// A latent variable that a change of basis transforms (InvarianceRow), and buffers of what the ELBO after the change
/// depends on. InvarianceRow::function fills the last five buffers (InvarianceFunction in compiler/lower/lower.h); -1
/// stands for zeros.
struct TransformedRow {
  std::int64_t inverse,      // 1: it is transformed by the transposed inverse of the change of basis
      axis,                  // position of the axis of its parameters that runs over the components; -1: each element
                             // is a vector over the components
      mean,                  // buffer of the parameter that is transformed as the variable is; -1: none
      precision,             // buffer of the parameter that is transformed as the inverse of its square; -1: none
      count, first, second,  // buffers of the number of elements, and of the sums of their first and second moments
      linear, quadratic;     // buffers of the coefficients of components, and of products of two, in the prior
};
/// A Gamma variable in the priors of variables that a change of basis transforms, such as a precision of automatic
/// relevance determination. Its best factor is computed anew for every change.
struct RescaledRow {
  std::int64_t shape, rate,  // buffers of the parameters of its factor
      new_shape,             // buffer of the shape of its best factor
      rest;                  // buffer of the part of the rate that the transformed variables do not give
  std::int64_t first_part;   // index in Model::statistics of two buffers for each variable: coefficients of its
                             // values, and of its squares; -1 stands for zeros
};
/// A quadratic form of the log density in the elements of variables that a change of basis transforms: coefficients
/// times products of two factors, as in the dynamics x[t] ~ Normal(A x[t-1] + B u[t], 1). With one follower (A or B),
/// entry l of its row j multiplies the product of component j and factor l; with two, entries j and l of one row do.
struct FormRow {
  std::int64_t first, second,  // positions in the invariance of the variables that the two factors are of; -1: data
      moments,                 // buffer of the sums of the products
      coefficients,            // buffer of the coefficients of the products; with followers, one for each row
      follower, other;         // positions of the followers in the invariance; -1: none
};
/// A matrix with Normal rows in quadratic forms of variables that a change of basis transforms (A and B in x[t] ~
/// Normal(A x[t-1] + B u[t], 1)). Its best factors are computed anew for every change.
struct FollowerRow {
  std::int64_t mean, precision,  // buffers of the parameters of its factors
      linear, quadratic;         // buffers of the part of its rows' natural parameters that no form gives
};
/// A change of basis that leaves the likelihood alone; see runtime/inference/invariance.h.
struct InvarianceRow {
  Extent components;            // number of components
  std::int64_t diagonal;        // 1: only scales of single components are allowed
  std::int64_t function;        // function (): fills the buffers of the rows
  std::int64_t first_variable,  // index in Model::transformed of the first variable
      variables,                // number of variables
      first_scale,              // index in Model::rescaled of the first scale
      scales,                   // number of scales
      first_form,               // index in Model::forms of the first form
      forms,                    // number of forms
      first_follower,           // index in Model::followers of the first follower
      followers;                // number of followers
};
/// A shift of a constant, or of the logarithm of a scale, that leaves the likelihood alone; see
/// runtime/inference/invariance.h.
struct ShiftRow {
  Extent components;     // number of constants or logarithms that are shifted, one a component
  std::int64_t measure,  // function (): fills `gradient` and `curvature`; the entries of `step` must be 1
      move,              // function (): moves the means of the factors, or the logarithms of their spreads, by `step`
      step,              // buffer of the step, a constant for each component; the caller writes it
      gradient, curvature,  // buffers of the first and second derivatives of the ELBO by the constants
      power;                // of scales, their largest power in the ELBO; 0: means are shifted
};

/// The version of the layout of these tables. A library that reads the tables of an object must have the same.
inline constexpr std::int64_t kLayout = 11;

/// The texts that `lehr build` stores in an object file, from which liblehr compiles the model again for predictions
/// and scores. The value of an enumerator is the index of its text in Model::built_from, which built objects alone
/// have.
enum class BuiltFrom : std::int64_t {
  model,    // the model file
  settings  // constants and sizes, as JSON
};

/// A compiled model: all of its tables, and the positions of the functions and buffers that a driver needs. The
/// functions without arguments are marked (); each returns 0 or a failure status. See Interface in
/// compiler/lower/lower.h.
struct Model {
  std::uint64_t hash;        // digest of all that the layout of a state depends on; states of another are refused
  std::int64_t layout;       // kLayout of the compiler that wrote the tables
  std::int64_t prepare,      // function (): sums and inverses of the data alone
      initialise,            // function (): sets every stored factor to its prior
      initialise_local,      // function (): sets all local blocks to their priors; -1: none, or StepRow::to_priors does
      expectations,          // function (): expected statistics of all factors from their parameters
      global_expectations,   // function (): expected statistics of the factors that no item stage updates
      elbo;                  // function (): fills `elbo_buffer`
  std::int64_t elbo_buffer,  // buffer of the parts of the ELBO, see Elbo in machine.h
      weights_buffer;        // buffer of the weights, see Weights in machine.h
  std::int64_t item_energies,  // buffer [item]: energy over the item's temperature; of code for several starts of items
                               // (LowerOptions::item_starts), the item's part of the ELBO
      item_inverse,            // buffer [item]: inverse temperatures of the items
      item_outer;              // function (begin, end): adds terms without local blocks to `item_energies`
  // The functions `couplings`, `undecided` and `states` write their results to the beginning of `elbo_buffer`.
  std::int64_t couplings,   // function (): writes the least coupling and the number of terms of more than two variables
      open_envelope,        // function (): sets the interval of every element to all of its values (exact sampling)
      undecided,            // function (): writes how many elements have more than one value left (exact sampling)
      first_envelope;       // first of consecutive functions (), one a step of a sweep, that update the intervals
  std::int64_t states;      // function (): writes the log number of joint values of the auxiliary category variables
  std::int64_t random_key;  // buffer of the key of random draws (random.h); -1: the code does not sample
  std::int64_t batch_slot;  // slot of the size that a minibatch replaces; -1: the model takes no minibatches
  std::int64_t own_prior,   // buffer of the weight (0 or 1) of the model's own priors, if there are `priors`
      carried_prior;        // buffer of the weight of the priors that come from earlier data
  std::int64_t size_count,  // length of `sizes`
      axis_count,           // length of `axes`
      buffer_count,         // length of `buffers`
      array_count,          // length of `arrays`
      step_count,           // length of `steps`
      pick_count,           // length of `picks`
      statistic_count,      // length of `statistics`
      parameter_count,      // length of `parameters`
      summed_count,         // length of `summed`
      function_count,       // length of `functions`
      failure_count,        // length of `failures`
      block_count,          // number of blocks; statuses kFailBlock + block
      column_count,         // length of `columns`
      subject_count,        // length of `subjects`
      component_array_count,                  // length of `component_arrays`
      stick_sum_count,                        // length of `stick_sums`
      allocation_count,                       // length of `allocations`
      components_count,                       // length of `components`
      phase_count,                            // length of `phases`
      prior_count,                            // length of `priors`
      transformed_count,                      // length of `transformed`
      rescaled_count,                         // length of `rescaled`
      form_count,                             // length of `forms`
      follower_count,                         // length of `followers`
      invariance_count,                       // length of `invariances`
      shift_count;                            // length of `shifts`
  const SizeRow* sizes;                       // run-time sizes, by slot
  const Extent* axes;                         // extents; other tables refer to ranges of them
  const BufferRow* buffers;                   // type and shape of each buffer, by position in the table of buffers
  const ArrayRow* arrays;                     // arrays of a data set: observed variables, givens, row offsets
  const StepRow* steps;                       // one sweep, in order
  const PickRow* picks;                       // categories that starts assign
  const std::int64_t* statistics;             // lists of buffers (sums, scratch); other tables refer to ranges of them
  const ParameterRow* parameters;             // parameters of all factors
  const std::int64_t* summed;                 // buffers that `prepare` fills with sums of data over all items in memory
  const lehr_function* functions;             // generated functions, by position; null: Machine::code has it
  const char* const* failures;                // messages of failure statuses: of blocks, of givens, of variables
  const FeatureArrayRow* columns;             // arrays of data from which features of elements are computed
  const ElementSetRow* subjects;              // sets of elements that have features
  const ComponentArrayRow* component_arrays;  // arrays with axes over components
  const StickSumsRow* stick_sums;             // pairs of stick-breaking statistics
  const AllocationRow* allocations;           // categories whose values are components
  const ComponentsRow* components;            // plates of components
  const char* const* component_names;         // names of the plates of components
  const PrerequisiteRow* phases;              // parallel regions and cached reductions
  const PriorRow* priors;                     // parameters of carried priors
  const TransformedRow* transformed;          // variables of invariances
  const RescaledRow* rescaled;                // scales of the priors of these variables
  const FormRow* forms;                       // quadratic forms in these variables
  const FollowerRow* followers;               // matrices in these forms
  const InvarianceRow* invariances;           // changes of basis that leave the likelihood alone
  const ShiftRow* shifts;                     // shifts of constants that leave the likelihood alone
  // Built objects alone have the following tables, which use the names in the model file:
  const char* const* built_from;       // texts from which liblehr compiles the model again, by BuiltFrom
  const char* const* size_names;       // names of plates, by slot
  const char* const* array_names;      // names of arrays
  const char* const* parameter_names;  // names of parameters, such as "mu.mean"
};

/// A model with its memory and sizes; does not own any of them.
struct View {
  const Model& model;         // the tables of the compiled model
  lehr_buffer const* table;   // pointer to each buffer
  const std::int64_t* sizes;  // run-time sizes, by slot

  /// Returns the length of an axis.
  std::int64_t extent(Extent e) const { return e >= 0 ? e : sizes[-(e + 1)]; }
  /// Returns the number of elements of a buffer.
  std::size_t length(std::int64_t buffer) const {
    const BufferRow& b = model.buffers[buffer];
    std::size_t n = 1;
    for (std::int64_t k = 0; k < b.axes; ++k)
      n *= static_cast<std::size_t>(extent(model.axes[b.first_axis + k]));
    return n;
  }
  /// Returns the elements of a buffer of doubles.
  std::span<double> reals(std::int64_t buffer) const { return {static_cast<double*>(table[buffer]), length(buffer)}; }
  /// Returns the elements of a buffer of int64.
  std::span<std::int64_t> integers(std::int64_t buffer) const {
    return {static_cast<std::int64_t*>(table[buffer]), length(buffer)};
  }
  /// Returns the key of random draws, kKeyWords numbers (random.h); null if the generated code does not sample.
  std::int64_t* random_key() const {
    return model.random_key >= 0 ? static_cast<std::int64_t*>(table[model.random_key]) : nullptr;
  }
};

/// Converts a count or index of the tables, which is at least 0, to an unsigned number.
inline std::size_t unsigned_of(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Returns the steps of a sweep, in order.
inline std::span<const StepRow> steps_of(const Model& m) { return {m.steps, unsigned_of(m.step_count)}; }
/// Returns the parallel regions and cached reductions of all functions.
inline std::span<const PrerequisiteRow> prerequisites_of(const Model& m) {
  return {m.phases, unsigned_of(m.phase_count)};
}
/// Returns the parameters of priors that come from earlier data.
inline std::span<const PriorRow> priors_of(const Model& m) { return {m.priors, unsigned_of(m.prior_count)}; }
/// Returns the parameters of all factors.
inline std::span<const ParameterRow> parameters_of(const Model& m) {
  return {m.parameters, unsigned_of(m.parameter_count)};
}
/// Returns the buffers of statistics that a stage adds to.
inline std::span<const std::int64_t> statistics_of(const Model& m, const StepRow& s) {
  return {m.statistics + s.first_statistic, unsigned_of(s.statistics)};
}
/// Returns the buffers of which each thread that works on a stage needs its own.
inline std::span<const std::int64_t> scratch_of(const Model& m, const StepRow& s) {
  return {m.statistics + s.first_scratch, unsigned_of(s.scratch)};
}
/// Returns the buffers of sums over the data alone that StepRow::data of a stage adds to.
inline std::span<const std::int64_t> data_sums_of(const Model& m, const StepRow& s) {
  return {m.statistics + s.first_data_sum, unsigned_of(s.data_sums)};
}

}  // namespace lehr::machine
