// What the parts of a lowering share: the model, the program under construction, and where everything is in its memory.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/loops/builder.h"
#include "compiler/loops/lower.h"
#include "compiler/model/roles.h"

namespace lehr::loops {

using conditionals::BlockId;
using density::Algebra;
using density::ArrayId;
using density::Atom;
using density::BoundId;
using density::CoefId;
using density::Guard;
using density::IndexId;
using density::Term;

/// The e with source[e] = i are order[first[i]] .. order[past[i] - 1], ascending; missing values are nowhere.
struct InverseLookup {
  BufferId first, past, order;
};

/// Of one factor over a sequence.
struct Chain {
  std::map<conditionals::Lags, BufferId> together;  // E[product of the statistics of elements], over the steps of the
                                                    // last of them in the sequence or all axes
  bool local = false;   // these hold the one sequence of the current item: nothing of the item
                        // reads them before the chain is updated
  bool summed = false;  // local, and they have no [t]: they are sums over it, and no reader asks for more
  BufferId entropy;     // [1] of the current item, or over the leading axes
};

/// Sums of the same factors, which are formed together.
struct KeptSums {
  std::set<BlockId> blocks;
  std::vector<const schedule::Statistic*> sums;
  Kept kept = {};
};

/// Parts of the bound that an item stage adds up.
struct LocalSums {
  BufferId energy, prior;      // of local terms, tempered and other
  BufferId entropy, discrete;  // of local factors on continua, and of the others
};

/// Buffers by what they hold.
struct Layout {
  std::vector<SizeId> size;     // by plate set
  std::vector<SizeId> longest;  // the same, once asked for
  DataBuffers data;
  std::map<std::string, std::pair<BufferId, BufferId>> data_inverse;  // of data matrices: inverse, log determinant
  std::map<density::DataSource, InverseLookup> inverse;
  std::map<std::pair<BlockId, std::string>, BufferId> parameter;
  std::map<std::pair<BlockId, math::Stat>, BufferId> expectation;
  std::map<BlockId, std::map<std::string, BufferId>> logdet;  // of parameters, where entropies of globals have them
  std::map<BlockId, Chain> chains;
  std::map<BlockId, BufferId> picks;
  std::map<BlockId, BufferId> marginal;  // probabilities of the chains of the item at hand, by step, while it is summed
  std::map<ArrayId, BufferId> array;
  std::map<ArrayId, const schedule::Statistic*> statistic;
  std::map<ArrayId, const schedule::Residual*> residual;
  std::vector<KeptSums> kept;
  std::map<ArrayId, BufferId> exp_table, exp_shift;                  // of tables read by factored streams
  std::map<ArrayId, BufferId> exp_columns;                           // the same, column by column, for full rows
  std::map<std::size_t, LocalSums> local_sums;                       // by item stage
  std::map<std::pair<BlockId, math::Stat>, BufferId> mean_gradient;  // parameter axes, then event
  std::map<BlockId, BufferId> gradient_norms;
  std::vector<std::int64_t> size_values;  // by slot
  std::vector<model::GivenId> definite;
};

struct Shared {
  const model::Model& model;
  const schedule::Schedule& schedule;
  const BoundData& data;
  const LowerOptions& options;
  Builder builder = {};
  Layout layout = {};
  Interface interface = {};
  /// Work arrays of constant size: those of one function are different, functions share them.
  struct WorkArrays {
    std::size_t function = 0;   // the one that is open
    std::int64_t on_stack = 0;  // entries of its local arrays
    std::map<std::vector<SizeId>, std::size_t> taken = {};
    std::map<std::vector<SizeId>, std::vector<BufferId>> buffers = {};
  } work = {};
};

/// A part of the lowering; all of them write one program.
class Part {
 protected:
  explicit Part(Shared& x)
      : m_(x.model),
        s_(x.schedule),
        options_(x.options),
        a_(x.schedule.conditionals.density.algebra),
        b_(x.builder),
        at_(x.layout),
        interface_(x.interface),
        shared_(x) {}

  /// Extents in memory: a nested axis is packed with the rows it is nested in.
  std::vector<SizeId> packed(const std::vector<model::PlateId>& plates) const;
  std::vector<model::PlateId> event_axes(const model::Variable& v, int rank) const;
  /// Event indices of a statistic of the variable.
  static int rank_of(const model::Variable& v, math::Stat stat);
  SizeId runtime_size(const std::string& name, std::int64_t value);
  /// Elements along a plate where the code knows how many there are, or else a negative number.
  std::int64_t constant_length(model::PlateId plate) const {
    return b_.program()[at_.size[m_[plate].set.index()]].constant;
  }
  /// Elements of the longest sequence along the last axis.
  SizeId longest(const model::Variable& var);
  BufferId work_array(const std::string& name, const std::vector<SizeId>& sizes);
  /// A category that is formed where it is used stands in the term.
  bool has_streamed_atom(const Term& t) const;
  /// One term of the stage reads the table: its sums are those of that term.
  bool adds_up_alone(const schedule::ItemStage& stage, ArrayId table) const;
  /// Sums of factors are kept; envelopes put bounds in the place of factors, and temperatures of items are data that
  /// change.
  bool keeps() const { return !options_.envelope && !options_.inverse_temperatures; }
  bool stored(BlockId b) const { return s_.storage[b.index()] == schedule::Storage::stored; }
  /// The factor has a place in memory: it is stored, or formed where it is used and asked for. Nobody asks for sources.
  bool is_written(BlockId b) const {
    return stored(b) || (options_.save_locals && !model::is_source(m_[s_.conditionals[b].variable]));
  }
  BufferId parameter_of(BlockId b, math::ParameterRole role) const {
    return at_.parameter.at({b, find_role(*s_.conditionals[b].factor, role)->name});
  }
  ExprId weight(Weight w) { return b_.load(interface_.weights, {b_.i(static_cast<std::int64_t>(w))}); }

  const model::Model& m_;
  const schedule::Schedule& s_;
  const LowerOptions& options_;
  const Algebra& a_;
  Builder& b_;
  Layout& at_;
  Interface& interface_;
  Shared& shared_;
};

}  // namespace lehr::loops
