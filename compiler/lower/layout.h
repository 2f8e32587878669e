// What the parts of a lowering share: the inputs, the program under construction, and its memory layout. The layout
// maps what the schedule names (parameters, statistics, chains, data) to buffers of the program.
//
// A part is a class derived from Part; all parts write one program through one Builder. Whatever a part computes that
// another one reads is in a buffer, and Layout has its id.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/loops/builder.h"
#include "compiler/lower/lower.h"
#include "compiler/model/roles.h"

namespace lehr::loops {

using conditionals::BlockId;
using density::Algebra;
using density::ArrayId;
using density::Atom;
using density::CoefId;
using density::Guard;
using density::IndexId;
using density::IndexVarId;  // an index variable of a sum
using density::Term;

/// The inverse of a map `source` in the data, as after a counting sort. The e with source[e] = i are
/// order[first[i]] .. order[past[i] - 1], in ascending order. Entries with a missing value are in none of these ranges.
struct InverseLookup {
  /// i64. `first` and `past`: by value i, where its range in `order` begins and ends. `order`: the positions e, those
  /// with equal source[e] together.
  BufferId first, past, order;
};

/// The buffers of a chain: a block with one factor for each whole sequence (forward-backward or Kalman smoother). They
/// have the expectations of products of elements that stand in one term, and the entropy.
struct Chain {
  /// By lags: expectations of products of the statistics of several elements that stand in one term. The first indices
  /// are those of the last of these elements: all axes, or the step alone if `local` (none if `summed`). Then come the
  /// event indices of all elements in order of time.
  std::map<conditionals::Lags, BufferId> products;
  bool local = false;   // `products` has the sequence of the current item only, in work arrays: no function reads them
                        // before the chain is updated
  bool summed = false;  // `local`, and `products` has sums over the steps, without the axis of the steps
  BufferId entropy;     // entropy of the sequence: a number if `local`, otherwise over the leading axes
};

/// Cached sums over items (schedule::Statistic::is_cached) that read the same blocks. One function forms them all, and
/// one flag says that they are valid.
struct CachedGroup {
  std::set<BlockId> blocks;  // the blocks whose expected statistics are in the sums
  /// The statistics whose sums these are; owned by the schedule.
  std::vector<const schedule::Statistic*> sums;
  /// The function that forms the sums anew, and the flag that is 1 while they are valid.
  CachedSums cached = {};
};

/// The partial sums of the ELBO that an item stage adds up, each an array of one number, in nats.
struct LocalSums {
  /// The expected log density of the terms that a temperature divides in annealing (Schedule::tempered); that of the
  /// other terms.
  BufferId energy, prior;
  /// The entropies of local factors of continuous variables; those of discrete ones.
  BufferId entropy, discrete;
};

/// Names one running sum of a residual form (a sum over pairs that is computed by the sums of its two factors): the
/// form and which of its sums. If both factors are the same, it has one sum, otherwise two.
struct ResidualSum {
  /// The residual form that the sum belongs to; owned by the schedule.
  const schedule::Residual* of;
  /// Which of the sums it is: an index into Residual::sides.
  std::size_t side;
};

/// The map from what the schedule names (sizes, data, parameters, statistics, chains) to the buffers and sizes of the
/// program. All parts of the lowering read it.
struct Layout {
  /// By PlateId (an alias has the size of its set): number of elements; of a nested plate, in all rows together.
  std::vector<SizeId> size;
  /// By plate set: number of elements in the longest row of a nested plate; invalid unless Part::longest has declared
  /// it.
  std::vector<SizeId> longest;
  /// The buffers of the data: givens, observed variables, offsets of nested plates, patterns of sparse precisions.
  DataBuffers data;
  /// By name of a data matrix: the buffers of its inverse and of its log determinant.
  std::map<std::string, std::pair<BufferId, BufferId>> data_inverse;
  /// By data array: the buffers by which code finds all entries of the array that name a given element.
  std::map<density::DataSource, InverseLookup> inverse;
  /// The buffers of the parameters of factors, by block and name of the parameter.
  std::map<std::pair<BlockId, std::string>, BufferId> parameter;
  /// The buffers of expected statistics under the factors, by block and statistic; none for statistics that no term
  /// reads.
  std::map<std::pair<BlockId, math::Stat>, BufferId> expectation;
  /// The buffers of log determinants that the update of a block outside the item stages stores for its entropy, by
  /// matrix parameter. Only for matrices of which the entropy needs no more; none for chains and clamped variables.
  std::map<BlockId, std::map<std::string, BufferId>> logdet;
  /// The buffers of products and entropies of chains: blocks with one factor for a whole sequence.
  std::map<BlockId, Chain> chains;
  /// i64 by item, for each category that starts give a value: that value, or -1 to leave the item out of the start.
  std::map<BlockId, BufferId> picks;
  /// By chain of categories of an item: the work array with the probabilities of its elements by step, from which code
  /// loads them instead of from the stored factor. Set only while the code of the item's sums is emitted.
  std::map<BlockId, BufferId> marginal;
  /// The buffers of the arrays that the schedule derives: statistics, their tables, residual sums, and the
  /// constants of shifts.
  std::map<ArrayId, BufferId> array;
  /// The statistic to which a sum or table belongs.
  std::map<ArrayId, const schedule::Statistic*> statistic;
  /// The residual form to which a running sum belongs, and its position there.
  std::map<ArrayId, ResidualSum> residual;
  /// The cached sums over items, in groups that become invalid together.
  std::vector<CachedGroup> cached_groups;
  /// `exp_table`: the exponentials exp(b (entry - top)) of the entries of a table, which code for fused categories and
  /// chains multiplies instead of adding logarithms. `exp_shift`: the b top of each row. `top` is the largest entry of
  /// the row, b the run-time weight Weight::local.
  std::map<ArrayId, BufferId> exp_table, exp_shift;
  /// The arrays `exp_table` transposed, which code for full rows of counts reads; only for tables that need them.
  std::map<ArrayId, BufferId> exp_columns;
  /// By item stage (an index into Schedule::steps): the partial sums of the ELBO that its items add up.
  std::map<std::size_t, LocalSums> local_sums;
  /// The buffers of running means of natural gradients, over the axes of the variable and the event axes of the
  /// statistic (LowerOptions::gradients).
  std::map<std::pair<BlockId, math::Stat>, BufferId> mean_gradient;
  /// The buffers of two numbers to which the update of a global block adds the squared norms of its running mean and of
  /// its natural gradient (UpdateFunction::gradient).
  std::map<BlockId, BufferId> gradient_norms;
  /// The value of each size that the code reads at run time, with the data of this lowering, or -1 if they do not give
  /// it. In the order of their slots (Size::slot).
  std::vector<std::int64_t> size_values;
  /// The data matrices that the code inverts, so that they must be symmetric positive definite.
  std::vector<model::GivenId> positive_definite;
};

/// The state of one lowering: its inputs, the program under construction and its memory layout. All parts of the
/// lowering refer to it, and the inputs must outlive it.
struct Shared {
  /// The model whose program is written.
  const model::Model& model;
  /// The schedule that is lowered; it has the density and the conditionals.
  const schedule::Schedule& schedule;
  /// The data: their sizes, offsets and constants. Of values only observed counts are read.
  const BoundData& data;
  const LowerOptions& options;  // what the program must be able to do beyond a plain fit
  Builder builder = {};         // the program under construction
  Layout layout = {};           // which buffers have parameters, statistics and data
  /// The functions and buffers that the driver will use. Each part adds those that it emits.
  Interface interface = {};
  /// The allocation of work arrays. Small ones of constant size are on the stack of a function. Larger ones of constant
  /// size are buffers: those of one function differ, other functions reuse them. Those of run-time size are buffers
  /// that nothing reuses.
  struct WorkArrays {
    /// Position, in the program, of the function that is being written.
    std::size_t function = 0;
    /// How many numbers the arrays of that function on the stack have so far. Arrays that would exceed kOnStack become
    /// buffers.
    std::int64_t on_stack = 0;
    /// By shape: how many of `buffers` this function uses already.
    std::map<std::vector<SizeId>, std::size_t> used = {};
    /// By shape: the buffers for work arrays of constant size that are too large for the stack. Functions reuse them.
    std::map<std::vector<SizeId>, std::vector<BufferId>> buffers = {};
  } work = {};
};

/// The base class of the parts of the lowering. It has short names for the shared state, and functions that all parts
/// use.
class Part {
 protected:
  explicit Part(Shared& x)
      : m_(x.model),
        s_(x.schedule),
        options_(x.options),
        a_(x.schedule.conditionals.density.algebra),
        b_(x.builder),
        layout_(x.layout),
        interface_(x.interface),
        shared_(x) {}

  /// Returns the extents in memory of an array over the plates. A nested plate takes no axis of its own: it is packed
  /// with the plate before it.
  std::vector<SizeId> packed(const std::vector<model::PlateId>& plates) const;
  /// Returns the plates of the event indices of a statistic of `v` that has `rank` event indices (0 to 2). Of a vector
  /// they are its plate, once or twice; of a matrix, rows and columns; of a category, its values. Pairs of a sparse
  /// variable have one axis, over its entries. Empty if the values are single numbers.
  std::vector<model::PlateId> event_axes(const model::Variable& v, int rank) const;
  /// Returns the number of event indices of a statistic of the variable. It is 0 if the values are single numbers. A
  /// category has one index, which is its value.
  static int rank_of(const model::Variable& v, math::Stat stat);
  /// Declares a size that the code reads at run time. `value` is the size with the data of this lowering, or -1 if they
  /// do not give it (Lowered::size_values).
  SizeId runtime_size(const std::string& name, std::int64_t value);
  /// Returns the number of elements along a plate if it is a constant of the code, otherwise a negative number.
  std::int64_t constant_length(model::PlateId plate) const {
    return b_.program()[layout_.size[m_[plate].set.index()]].constant;
  }
  /// Returns the number of elements of the longest row along the last axis of the variable, as a size. It is declared
  /// on first use. If the axis is not nested, it is the size of its plate.
  SizeId longest(const model::Variable& var);
  /// Declares an uninitialised array for the function that is open. It is on the stack if its size is constant and the
  /// arrays there stay below kOnStack numbers; otherwise it is a scratch buffer. A suffix makes the name unique.
  BufferId work_array(const std::string& name, const std::vector<SizeId>& sizes);
  /// Returns true if an atom of the term is of a fused category, whose probabilities no function reads from memory.
  bool has_fused_atom(const Term& t) const;
  /// Returns true if exactly one term of the stage reads the table. The table's sums are then those of this term, so
  /// that the mean of the table, a part of the entropy, can be computed from them after the items
  /// (Stages::emit_finalise).
  bool adds_up_alone(const schedule::ItemStage& stage, ArrayId table) const;
  /// Returns true if sums over factors may be cached (schedule::Statistic::is_cached). False for exact sampling, where
  /// intervals replace factors, and for temperatures of items, which are data that change between sweeps.
  bool can_cache_sums() const { return !options_.envelope && !options_.inverse_temperatures; }
  /// Returns true if the parameters and expected statistics of the block are in memory.
  bool stored(BlockId b) const { return s_.storage[b.index()] == schedule::Storage::stored; }
  /// Returns true if the parameters of the block have buffers: the block is stored, or the caller requests fused
  /// factors too (LowerOptions::save_locals). Those of auxiliary sources are never requested.
  bool is_written(BlockId b) const {
    return stored(b) || (options_.save_locals && !model::is_source(m_[s_.conditionals[b].variable]));
  }
  /// Returns the buffer of the parameter with the role; the factor must have one.
  BufferId parameter_of(BlockId b, math::ParameterRole role) const {
    return layout_.parameter.at({b, find_role(*s_.conditionals[b].factor, role)->name});
  }
  /// Returns an expression that loads a number from Interface::weights.
  ExprId weight(Weight w) { return b_.load(interface_.weights, {b_.i(static_cast<std::int64_t>(w))}); }

  /// The model whose program is written.
  const model::Model& m_;
  /// The schedule that is lowered; it has the density and the conditionals.
  const schedule::Schedule& s_;
  const LowerOptions& options_;  // what the program must be able to do beyond a plain fit
  /// The index and coefficient expressions of the terms.
  const Algebra& a_;
  Builder& b_;  // the program under construction
  /// Which buffers and sizes of the program have what the schedule names.
  Layout& layout_;
  /// The functions and buffers that the driver will use.
  Interface& interface_;
  /// The state of the lowering that all parts share: its inputs, the program, its layout, and the work arrays.
  Shared& shared_;
};

}  // namespace lehr::loops
