// Schedule: the order of the updates in a sweep, which blocks are updated item by item, and which sums over items are
// formed once and reused.
//
// The log joint is regrouped. An item stage has local blocks (theta[doc], z[doc, token]). Each of their terms is
// divided into an inner part (data and local atoms) and an outer part (the other atoms). Then
//     log joint = sum over statistics s, over its axes: S_s[axes] * G_s[axes]   + local terms + outer terms,
//     S_s[axes] = sum over items of the inner part: expected sufficient statistics (Hoffman et al. 2013),
//     G_s[axes] = the outer part under q: a table of expected natural parameters.
// The item stage reads tables and adds up statistics; all other updates read statistics. So a sweep visits the data
// once. In LDA, S[term, topic] are expected counts and G[term, topic] is E[log beta[topic][term]]. A statistic without
// local atoms is a sum of data alone and is computed once.
//
// A term that visits items without an item stage (factors that the data name, as in matrix factorisation) is divided as
// well: into the sum of what depends on the item, and the rest. Updates in the rest and the ELBO read the sum, which is
// cached until a factor in it changes; the factors in the sum read the whole term. If the data name no more elements
// than there are items, the data are instead summed once into a table of these elements. No sweep then visits the
// items.
#pragma once
#include <variant>
#include <vector>

#include "compiler/conditionals/conditionals.h"
#include "runtime/threshold.h"

namespace lehr::schedule {

using conditionals::BlockId;
using density::ArrayId;
using density::Term;

/// Whether the variational factor of a block of latent variables is stored in arrays, or formed and used within an item
/// stage without being stored (fused).
enum class Storage {
  stored,  // parameters and expected statistics are arrays in memory
  fused    // fused responsibilities of a local category: formed, used and not stored
};

/// A sum over items of data and statistics of their factors (an expected sufficient statistic), with the table that it
/// is multiplied by in the log joint. The sum is formed once and read by many updates.
struct Statistic {
  /// The array S of the sums, and the array G of the table: the expected natural parameters that item stages read in
  /// place of the global factors. Both have the same axes.
  ArrayId sums, table;
  /// The plates that S and G are indexed by, in logical order.
  std::vector<model::PlateId> axes;
  /// The position in `axes` of the axis that is contiguous in memory, because the innermost loops run along it.
  std::size_t contiguous = 0;
  /// The item stage that accumulates the sums, as an index into Schedule::steps. None if of_data() or is_cached().
  std::optional<std::size_t> stage;
  /// The term that is summed over the items to form S. Its atoms are of the stage's blocks only, in a cached sum of
  /// blocks outside the stages. A sum of data has none. Its index variables include those of the axes.
  Term inner;
  /// The entry of S that each value is added to, one index for each axis.
  std::vector<density::IndexId> at;
  /// Two axes along which the sums are symmetric, as positions in `axes`. The inner part is then formed only where the
  /// index of the first is not below that of the second; a guard says so. The entry serves for both orders.
  std::optional<std::pair<std::size_t, std::size_t>> symmetric = {};

  /// Returns true if this is a sum of data alone, computed once.
  bool of_data() const { return !stage && inner.atoms.empty(); }
  /// Returns true if this is a cached sum over factors outside the item stages. It is formed when it is read and a
  /// factor in it has changed since.
  bool is_cached() const { return !stage && !inner.atoms.empty(); }
};

/// One summand of the log joint outside the items, read by updates of single blocks and by the ELBO: term *
/// S_statistic[at], or the term alone.
struct OuterTerm {
  /// The term without the statistic. Its atoms are of blocks outside the stages, except in a term with local atoms that
  /// could not be divided.
  Term term;
  /// The statistic that the term is multiplied by, as an index into Schedule::statistics.
  std::optional<std::size_t> statistic;
  /// The entry of the statistic that the term is multiplied by, one index for each axis.
  std::vector<density::IndexId> at;
  /// If the term is a sum over pairs that has a residual form, that form, as an index into Schedule::residuals.
  std::optional<std::size_t> residual = {};
  /// If the statistic is a cached sum: the whole term, not divided into `term` and the statistic. Updates of factors
  /// inside the sum read it; all others read `term` times the statistic.
  std::optional<Term> undivided = {};
};

/// The residual form of a sum over pairs: c(e, e') * A(e, r) * B(e', r') over r != r', or over r < r', computed from
/// the sums S(e) = sum_r E A(e, r) and T(e') = sum_r E B(e', r).
///
/// Elements are independent under q. So the expectation of the pairs over r != r' is c(e, e') * (S(e) * T(e') - sum_r E
/// A(e, r) * E B(e', r)). The coefficient of a factor of A(e, r) is c(e, e') * (the rest of A(e, r)) * (T(e') - E B(e',
/// r)); for r < r' only the later elements are summed in T, and only the earlier ones in S. Both take work linear in
/// the number of r, where the pairs themselves take quadratic work. Examples are a matrix factorisation and a block
/// model:
///     (sum(r) U[user[e], r] * V[item[e], r])^2 has the pairs A(e, r) A(e, r') with A(e, r) = U[user[e], r] V[item[e],
///     r];
///     sum(i, j | i < j) [z[i] = k] [z[j] = l] log p[k, l] has the pairs A(k, i) A(l, j) with A(k, i) = [z[i] = k].
struct Residual {
  /// The factor c of the pairs: what depends on neither r nor r'.
  Term common;
  /// One of the two factors A and B of the pairs, with its sum.
  struct Side {
    /// A(e, r), one summand of the sum S(e). Its index variables are those of S, then r.
    Term summand;
    /// The term c A(e, r), or 2 c A(e, r) in a square, from which the coefficients of single factors of A are taken.
    Term gradient;
    /// The index variable r of the sum S(e) = sum_r E A(e, r).
    density::IndexVarId along;
    /// The array that stores the sum S(e) = sum_r E A(e, r) for each e.
    ArrayId sums;
    /// The plates that the array S is indexed by.
    std::vector<model::PlateId> axes;
    /// The entry of S that belongs to e, one index for each axis.
    std::vector<density::IndexId> at;
  };
  /// The two factors of the pairs; one of them if the pairs are those of a square, where both are equal.
  std::vector<Side> sides;
  /// True if the pairs have r < r', and not r != r'.
  bool ordered = false;
  /// The blocks that are in A and in B and whose updates maintain the sums while they go along r. Updates of other
  /// blocks in A or B read the pairs themselves.
  std::vector<BlockId> maintained_by;

  /// Returns the position in `sides` of the other factor of the pairs; of a square, the same position.
  std::size_t other(std::size_t side) const { return sides.size() - 1 - side; }
};

/// A step that visits the items of a plate one after another, updates the local blocks of each, and adds up statistics.
/// Given all other factors, the items are independent, so threads can work on different ones.
struct ItemStage {
  /// The plate whose elements are the items of the stage.
  model::PlateId item;
  /// The blocks of latent variables that the stage updates for each item, in order.
  std::vector<BlockId> blocks;
  /// True if the blocks of an item are updated repeatedly until they converge (--local-tol) or --local-iters is
  /// reached. That is so if two of them share a term and the model has no `guide order`.
  bool iterate = false;
  /// True if the stage has sources: auxiliary categories that say from which summand of a rate each count came. Their
  /// factors are computed once more after those of the other local blocks.
  bool refresh = false;
  /// A term that the updates of the stage read: an inner part times its table, or a term with local atoms alone.
  struct LocalTerm {
    /// The term, without the table that it is multiplied by. Its index variables include the item.
    Term term;
    /// The statistic whose table the term is multiplied by, as an index into Schedule::statistics.
    std::optional<std::size_t> statistic;
    /// The entry of the table that the term is multiplied by, one index for each axis.
    std::vector<density::IndexId> at;
    /// The index variable of `term` that ranges over the items; the stage sets it to the item that it visits.
    density::IndexVarId item;
    /// If the term could not be divided, the outer term that is the same, as an index into Schedule::outer.
    std::optional<std::size_t> outer = {};
  };
  /// The terms of the log joint that the updates of the stage read.
  std::vector<LocalTerm> terms;
};

/// A step of a sweep that updates all elements of one block of latent variables outside the item stages.
struct BlockUpdate {
  BlockId block;  // the block that is updated
};

/// A step of a sweep: an item stage, or the update of one block.
using Step = std::variant<ItemStage, BlockUpdate>;

/// One entry of a sweep: a step, or a refresh of the sources in a step (auxiliary categories that say from which
/// summand of a rate each count came). A refresh recomputes their factors after factors that they depend on have
/// changed, so that no update reads outdated ones.
struct SweepEntry {
  /// The step that is executed or refreshed, as an index into Schedule::steps.
  std::size_t step = 0;
  /// True for a refresh of the sources in that step (auxiliary categories of counts); false if the whole step is
  /// executed.
  bool refresh = false;
  /// True for a refresh that only the ELBO needs: the next sweep recomputes the sources before any update reads them.
  bool for_elbo = false;
};

/// Which terms of the log joint a temperature divides in annealing and tempering: those of the data with the priors of
/// some local variables, or the likelihood alone.
enum class Tempering {
  data,       // terms of the data, and priors of those local variables that can be integrated out
  likelihood  // observed statements and potentials; priors keep temperature 1
};

/// What a caller of plan() wishes of the schedule: which terms a temperature divides, for which sizes of the data it
/// is, whether it has changes of basis and shifts, and thresholds.
struct PlanOptions {
  /// The terms that a temperature divides. With Tempering::likelihood, no block is Storage::fused.
  Tempering tempering = Tempering::data;
  /// The size of each plate, by PlateId. With them, and if no step is an item stage, data are summed once by the
  /// elements that they name. (Processes that share items could decide differently, so item stages stay as they are.)
  /// Empty for data that change from step to step (minibatches), whose sums would have to be formed again every time.
  std::vector<std::int64_t> sizes = {};
  /// True if Schedule::invariances and Schedule::shifts are wanted, for steps along them between the sweeps of
  /// coordinate ascent. They may need further statistics.
  bool invariances = false;
  /// The thresholds by which the schedule chooses between ways to compute the same sums.
  Thresholds thresholds = thresholds_of_environment();
};

/// A term in the prior of a variable that a change of basis (Invariance) transforms: one or two components of an
/// element of the variable, times what is the same for all elements.
struct PriorTerm {
  /// What is the same for all elements: the term without the statistic, without the `scale`, and without the sum over
  /// the elements.
  Term coefficient;
  /// The indices of the components that the statistic multiplies: one for x_k, two for x_k x_l and for the square of a
  /// number, whose two are equal.
  std::vector<density::IndexId> components;
  /// The scale that multiplies the term and whose factor is computed anew after the change of basis, as an index into
  /// Invariance::scales. None if no such scale does.
  std::optional<std::size_t> scale = {};
};

/// A variable that a change of basis (Invariance) transforms, W or z in W z. It has the sums over its elements from
/// which the ELBO after a change is computed.
struct Transformed {
  /// The block of the variable that is transformed.
  BlockId block;
  /// True if the transposed inverse of the change of basis transforms it; false if the change of basis itself does.
  bool inverse = false;
  /// The axis of the variable that runs over the components, as in W[d, k]; none if the variable is a vector over the
  /// components, or a number without.
  std::optional<std::size_t> axis = {};
  /// A sum of 1 over the elements, which counts them (the components of an axis are one element).
  Term count = {};
  /// The sums over the elements of the statistic with one component, and of that with two: a term, or for the variables
  /// of items a statistic. Their index variables are `component` and, for the second, `other`.
  OuterTerm first = {}, second = {};
  /// The index variables of the components in `first` and `second`; invalid without components.
  density::IndexVarId component = {}, other = {};
  /// The terms of the variable's prior, whose expectations a change of basis changes.
  std::vector<PriorTerm> priors = {};

  /// Returns true if some term of the prior has a statistic with so many components (1 or 2).
  bool needs(std::size_t components) const;
};

/// A scale in the priors of transformed variables (a Gamma block that multiplies their squares or values), whose factor
/// is computed anew after a change of basis.
struct RescaledPrior {
  /// The Gamma block of the scale.
  BlockId block;
  /// True if it has an element for each component; else it has one element.
  bool by_component = false;
  /// The occurrences of the scale in terms outside the priors that the invariance changes. Their part of its natural
  /// parameters stays the same after a change of basis.
  std::vector<conditionals::Use> rest = {};
};

/// A matrix with Normal rows that multiplies transformed variables in quadratic forms, and whose factor is computed
/// anew after a change of basis: A and B in Normal(A x[t-1] + B u[t], 1).
struct Follower {
  /// The block of the matrix; its axis runs over the components.
  BlockId block;
  /// The occurrences of the matrix in terms outside the quadratic forms, such as its prior. Their part of its natural
  /// parameters stays the same after a change of basis.
  std::vector<conditionals::Use> rest = {};
};

/// A quadratic form in the elements of variables that a change of basis (Invariance) transforms: coefficients times
/// moments, which are sums of products. A product has two factors: components of elements, where x and x' in x_j x'_l
/// may be neighbours in a chain, or with a follower data such as the inputs u of x_j u_l.
struct QuadraticForm {
  /// The term of the log density that has it, as an index into Density::terms.
  std::size_t term = 0;
  /// The sums of the products over the elements, for all `first` and `second`: a term, or for the variables of items a
  /// statistic.
  OuterTerm moments;
  /// The index variables of the two factors in `moments`; invalid without components.
  density::IndexVarId first = {}, second = {};
  /// For each of the two factors the transformed variable that it is a component of, as an index into
  /// Invariance::variables. None for data.
  std::optional<std::size_t> variables[2] = {};
  /// The coefficient of a product. With a follower it is that of the products with one row of it, without its entries.
  Term coefficient;
  /// The indices of `coefficient`: those of the two factors, or the row of the follower.
  std::vector<density::IndexId> at;
  /// The matrices that multiply the products, as indices into Invariance::followers. With one, entry `second` of its
  /// row `first` multiplies a product; with two, which may be equal, entry `first` of every row of the one and entry
  /// `second` of the same row of the other.
  std::vector<std::size_t> followers = {};
};

/// A change of basis R that leaves the likelihood alone: W -> W R, z -> R^-1 z in sum_k W[d][k] z[n][k]. It changes the
/// ELBO only by the priors of the variables and by their entropies. Numbers, as in c[d] z[n], are scaled. Coordinate
/// ascent takes steps along it, because its sweeps move there slowly.
struct Invariance {
  /// The plate of the components k, which the change of basis mixes; invalid if numbers without components are scaled.
  model::PlateId plate;
  /// True if R must be diagonal: each component is scaled by itself.
  bool diagonal = false;
  /// The variables that are changed: some by R, the others by its transposed inverse.
  std::vector<Transformed> variables = {};
  /// The scales in the priors of the variables whose factors are computed anew after a change.
  std::vector<RescaledPrior> scales = {};
  /// The terms that a change of basis changes and that are no priors of single elements, such as products of neighbours
  /// in a chain.
  std::vector<QuadraticForm> forms = {};
  /// The matrices that multiply the products in `forms`. Their rows are chosen together.
  std::vector<Follower> followers = {};
};

/// A shift of constants c that leaves the likelihood alone: z -> z - c, m -> m + sum_k W[k] c[k]. Means move, and with
/// them the priors and, where W is latent, the expected likelihood: the ELBO is quadratic in c. Coordinate ascent takes
/// steps along it, because its sweeps move there slowly. The constants are an array, which coefficients of terms read.
/// A change of scale is a shift of logarithms, along which the ELBO is a sum of exponentials.
struct Shift {
  /// A term of the derivative of the ELBO along the constants. It has one constant as a factor in the gradient, two in
  /// the curvature.
  struct Derivative {
    OuterTerm term;                            // the term, with the constants as factors
    std::vector<density::IndexId> components;  // which constants those are, as indices into `step`
  };
  /// A variable that a shift changes: the mean of its stored factor moves, or its scale changes.
  struct Moved {
    BlockId block;                        // the block of the variable that is moved
    Term by;                              // what is added to the mean, or to the logarithm of the spread, by element
    std::vector<density::IndexId> axes;   // the element of the variable that `by` moves, one index for each axis
    std::vector<density::IndexId> event;  // of a vector: the number of the element that `by` moves
  };
  /// The plate that numbers the constants c of the shift; none for a single constant.
  std::optional<model::PlateId> components;
  /// The array of the constants c of a trial step, which the caller sets and the terms of `gradient` and `curvature`
  /// read.
  ArrayId step;
  /// The variables whose factors the code of a step changes. Variables of items are left out: the next sweep forms them
  /// from the others.
  std::vector<Moved> moved = {};
  /// The terms of the first and second derivatives of the ELBO with respect to the constants c, at c = 0, from which
  /// the runtime computes the step.
  std::vector<Derivative> gradient = {}, curvature = {};
  /// The shift in words, for `lehr derive`: which variables change how.
  std::string text;
  /// Of a change of scale, the largest power of a scale in the ELBO; the curvature is then diagonal. 0: means move.
  int power = 0;
};

/// The plan of a sweep, from which code is generated: the updates of a model in order, and the sums that they read.
struct Schedule {
  /// The complete conditionals that are scheduled: the blocks of latent variables, and the density, whose terms
  /// `statistics`, `outer` and the item stages divide among them.
  conditionals::Conditionals conditionals;
  /// By BlockId: whether the block's factor is stored in memory, or formed and used within an item stage.
  std::vector<Storage> storage;
  /// By BlockId: true if the block is local, so that it belongs to the items of the data. Local is a block whose first
  /// axis is over items, and a discrete one with any axis over a plate that the data size. All sources of counts and
  /// all tangent points are local, too. A Normal or point block that moves the point of an expectation of a link is
  /// not.
  std::vector<bool> local;
  /// By origin (statement or potential): true if a temperature, where a method has one, divides its terms
  /// (PlanOptions::tempering). It is filled in for every model: without a temperature, it still decides which terms of
  /// the ELBO are in loops::ElboPart::data_energy.
  std::vector<bool> tempered;
  /// By BlockId: the item stage that updates the block, as an index into `steps`; none if a BlockUpdate does.
  std::vector<std::optional<std::size_t>> stage_of;
  /// The item stages and single updates, in the order in which a sweep first takes them. `sweep` refers to them.
  std::vector<Step> steps;
  /// What one sweep does, in order: steps, and refreshes of sources of counts. All sources are up to date at its end.
  std::vector<SweepEntry> sweep;
  /// The sums that the updates share: statistics of the item stages, sums of data, and cached sums.
  std::vector<Statistic> statistics;
  /// All terms of the log joint but those whose atoms are all updated by an item stage.
  std::vector<OuterTerm> outer;
  /// The residual forms that OuterTerm::residual refers to: sums over pairs, computed in linear time.
  std::vector<Residual> residuals;
  /// The changes of basis that leave the likelihood alone; empty unless PlanOptions::invariances is true.
  std::vector<Invariance> invariances;
  /// The shifts and changes of scale that leave the likelihood alone; empty unless PlanOptions::invariances is true.
  std::vector<Shift> shifts;
  /// The number of arrays that the statistics, residual forms and shifts need; their ids are 0 .. arrays - 1.
  std::size_t arrays = 0;
};

}  // namespace lehr::schedule

namespace lehr {

/// Makes the schedule of a model: the order of the updates, which of them go item by item, and which sums over items
/// are formed once. It never fails: a term that has no faster form stays whole in Schedule::outer.
schedule::Schedule plan(const model::Model& model, conditionals::Conditionals conditionals,
                        const schedule::PlanOptions& options = {});

/// Returns the item stage that updates all local blocks (Schedule::local), as an index into Schedule::steps. Returns
/// nothing if no stage has all of them, or if there are none. With such a stage, new items can be inferred one by one
/// from the global factors alone.
std::optional<std::size_t> only_stage(const schedule::Schedule& schedule);

/// Returns the text of `lehr emit --as schedule`: steps, refreshes, statistics, residual forms and outer terms.
std::string print(const model::Model& model, const schedule::Schedule& schedule);

}  // namespace lehr
