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
/// order[first[i]] .. order[past[i] - 1], ascending; entries with a missing value are in none of these ranges.
struct InverseLookup {
  BufferId first, past, order;  // i64: by value i, by value i, by position
};

/// The buffers of a chain: a block with one factor for each whole sequence (forward-backward or Kalman smoother). They
/// have the expectations of products of neighbours, and the entropy.
struct Chain {
  /// Expectations of products of the statistics of several elements that stand in one term. The first indices are those
  /// of the last of these elements: all axes, or the step alone if `local`. Then come the event indices of all elements
  /// in order of time.
  std::map<conditionals::Lags, BufferId> products;
  bool local = false;   // `products` has the sequence of the current item only, in work arrays: no function reads them
                        // before the chain is updated
  bool summed = false;  // `local`, and `products` has sums over the steps, without the axis of the steps
  BufferId entropy;     // entropy of the sequence: a number if `local`, otherwise over the leading axes
};

/// Cached sums over items of products of the same factors: one function forms them all.
struct CachedGroup {
  std::set<BlockId> blocks;                      // whose factors are in the sums
  std::vector<const schedule::Statistic*> sums;  // what is formed
  CachedSums cached = {};                        // the function, and the flag that is 1 while they are valid
};

/// The partial sums of the ELBO that an item stage adds up, each an array of one number.
struct LocalSums {
  BufferId energy, prior;      // expected log density: of tempered terms, of the others
  BufferId entropy, discrete;  // entropies of local factors: of continuous variables, of discrete ones
};

/// A residual form and the position of one of its two sums.
struct ResidualSum {
  const schedule::Residual* of;  // owned by the schedule
  std::size_t side;              // an index into its sides
};

/// The map from what the schedule names (sizes, data, parameters, statistics, chains) to the buffers and sizes of the
/// program. All parts of the lowering read it.
struct Layout {
  std::vector<SizeId> size;     // by plate set: number of elements
  std::vector<SizeId> longest;  // by plate set: elements of the longest row; invalid until Part::longest declares it
  DataBuffers data;             // givens, observed variables, offsets of nested plates
  std::map<std::string, std::pair<BufferId, BufferId>> data_inverse;  // by data matrix: inverse, log determinant
  std::map<density::DataSource, InverseLookup> inverse;               // by data array with categories
  std::map<std::pair<BlockId, std::string>, BufferId> parameter;      // by name of the factor's parameter
  std::map<std::pair<BlockId, math::Stat>, BufferId> expectation;     // expected statistics
  std::map<BlockId, std::map<std::string, BufferId>> logdet;  // by matrix parameter, if the entropy of a global block
                                                              // needs no more of it than its log determinant
  std::map<BlockId, Chain> chains;                            // of blocks with one factor for a whole sequence
  std::map<BlockId, BufferId> picks;     // i64 by item: the value that a start gives a category, or -1
  std::map<BlockId, BufferId> marginal;  // while an item's sums are written: probabilities of its chains by step,
                                         // in work arrays
  std::map<ArrayId, BufferId> array;     // statistics, their tables, residual sums, and steps of shifts
  std::map<ArrayId, const schedule::Statistic*> statistic;  // to which a sum or table belongs
  std::map<ArrayId, ResidualSum> residual;                  // to which a sum belongs
  std::vector<CachedGroup> cached_groups;                   // groups of cached sums
  std::map<ArrayId, BufferId> exp_table, exp_shift;  // exponentials of a table; largest entry of each of its rows
  std::map<ArrayId, BufferId> exp_columns;           // `exp_table` transposed, for full rows of counts
  std::map<std::size_t, LocalSums> local_sums;       // by item stage (an index into Schedule::steps)
  std::map<std::pair<BlockId, math::Stat>, BufferId> mean_gradient;  // running means of natural gradients:
                                                                     // parameter axes, then event axes
  std::map<BlockId, BufferId> gradient_norms;                        // UpdateFunction::gradient
  std::vector<std::int64_t> size_values;                             // by slot
  std::vector<model::GivenId> positive_definite;                     // Lowered::positive_definite
};

/// The state of one lowering: its inputs, the program under construction and its memory layout. All parts of the
/// lowering refer to it.
struct Shared {
  const model::Model& model;           // the model
  const schedule::Schedule& schedule;  // what is lowered
  const BoundData& data;               // sizes and constants
  const LowerOptions& options;         // which functions the program has
  Builder builder = {};                // the program under construction
  Layout layout = {};                  // where everything is in its memory
  Interface interface = {};            // grows as functions are written
  /// The allocation of work arrays. Small ones of constant size are on the stack of a function. Larger ones of constant
  /// size are buffers: those of one function differ, other functions reuse them.
  struct WorkArrays {
    std::size_t function = 0;                                           // position of the function that is open
    std::int64_t on_stack = 0;                                          // numbers in its local arrays
    std::map<std::vector<SizeId>, std::size_t> used = {};               // by shape: buffers that it uses already
    std::map<std::vector<SizeId>, std::vector<BufferId>> buffers = {};  // by shape: all buffers
  } work = {};
};

/// The base class of the parts of the lowering: short names for the shared state, and helpers that all of them use.
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
  /// Returns the plates of the variable's event indices: none, its vector (a category: its values), or rows and columns
  /// of a matrix. `rank` is their number, 0 to 2.
  std::vector<model::PlateId> event_axes(const model::Variable& v, int rank) const;
  /// Returns the number of event indices of a statistic of the variable; 0 for scalar variables.
  static int rank_of(const model::Variable& v, math::Stat stat);
  /// Declares a size that the code reads at run time; `value` is what it is with the data of this lowering, or -1.
  SizeId runtime_size(const std::string& name, std::int64_t value);
  /// Returns the number of elements along a plate if it is a constant of the code, otherwise a negative number.
  std::int64_t constant_length(model::PlateId plate) const {
    return b_.program()[layout_.size[m_[plate].set.index()]].constant;
  }
  /// Returns the size that is the number of elements of the longest sequence along the last axis of the variable.
  SizeId longest(const model::Variable& var);
  /// Declares an uninitialised array for the function that is open. It is on the stack if it is small and of constant
  /// size, otherwise a scratch buffer. A suffix makes the name unique.
  BufferId work_array(const std::string& name, const std::vector<SizeId>& sizes);
  /// Returns true if an atom of the term is of a fused category, whose probabilities are never stored.
  bool has_fused_atom(const Term& t) const;
  /// Returns true if exactly one term of the stage reads the table, so that the table's sums are those of this term.
  bool adds_up_alone(const schedule::ItemStage& stage, ArrayId table) const;
  /// Returns true if sums over factors may be cached. With envelopes, intervals replace factors; temperatures of items
  /// are data that change between sweeps. Neither goes together with caching.
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

  const model::Model& m_;        // the model
  const schedule::Schedule& s_;  // what is lowered
  const LowerOptions& options_;  // which functions the program has
  const Algebra& a_;             // index and coefficient expressions of the terms
  Builder& b_;                   // the program under construction
  Layout& layout_;               // where everything is in its memory
  Interface& interface_;         // functions and buffers for the driver
  Shared& shared_;               // all of these, and the allocation of work arrays
};

}  // namespace lehr::loops
