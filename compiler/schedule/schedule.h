// Schedule: which blocks are updated together per item of the data, which one after another, and what is summed
// over items once instead of at every use.
//
// The log joint, a sum of terms, is regrouped. For an item stage with local blocks (theta[doc], z[doc, token]),
// each term is (inner part: data and local atoms) * (outer part: the other atoms), and
//     log joint = sum over statistics s, over its axes: S_s[axes] * G_s[axes]   + local terms + outer terms,
//     S_s[axes] = sum over items of the inner part      (expected sufficient statistics)
//     G_s[axes] = sum over outer-only bounds of the outer part under q   (table: expected natural parameters).
// So the item stage reads tables and adds up statistics, and everything outside it reads statistics: the data are
// visited once a sweep. A statistic without local atoms is a sum of data alone and is computed once.
//
// A term that visits items without a stage (factors that the data name) is cut as well, into the sum of what depends on
// the item and the rest. The sum is kept as long as the factors in it stay as they are, for whoever reads it: the
// update of a factor in the rest, the ELBO. The factors in the sum read the term as it was. Where the data name no more
// elements together than there are items, they are summed once in a table of those, and no sweep visits the items.
#pragma once
#include <variant>
#include <vector>

#include "compiler/conditionals/conditionals.h"

namespace lehr::schedule {

using conditionals::BlockId;
using density::ArrayId;
using density::Term;

/// How a block's factors are kept.
enum class Storage {
  stored,   // parameters and expected statistics in memory
  streamed  // a local category: its probabilities are formed where they are used and never stored
};

/// A sum over items of data and atoms, and the table of what it is multiplied by.
struct Statistic {
  ArrayId sums, table;               // S and G: same axes
  std::vector<model::PlateId> axes;  // logical order
  std::size_t contiguous = 0;        // position in `axes` of the axis that is last in memory
  std::optional<std::size_t> stage;  // item stage that accumulates it; none: of_data() or is_kept()
  Term inner;                        // atoms: of the stage's blocks only; bounds: summed here, and the axes' own
  std::vector<density::IndexId> at;  // where the inner part adds up, one an axis
  /// Two axes along which the inner part is the same the other way round: it is formed where the index of the first is
  /// not below that of the second (a guard says so), and stands for both.
  std::optional<std::pair<std::size_t, std::size_t>> symmetric = {};

  bool of_data() const { return !stage && inner.atoms.empty(); }
  /// Of factors outside the stages: formed where it is read and no longer what they say.
  bool is_kept() const { return !stage && !inner.atoms.empty(); }
};

/// outer.coef * S_statistic[at] * atoms: one summand of the log joint after the items are summed.
struct OuterTerm {
  Term term;  // coefficient without the statistic; atoms of outer blocks
  std::optional<std::size_t> statistic;
  std::vector<density::IndexId> at;          // index into the statistic, one an axis
  std::optional<std::size_t> residual = {};  // the term is the pairs of a sum
  std::optional<Term> whole = {};  // with a statistic that is kept: all of it, as the factors in the sum read it
};

/// The pairs of a sum: c(e) * A(e, r) * A(e, r') over r != r', kept as S(e) = sum_r E A(e, r). Elements are independent
/// under q, so the pairs' expectation is c(e) * (S(e)^2 - sum_r (E A(e, r))^2), and what is linear in an element at r
/// has the coefficient 2 c(e) * (the rest of A(e, r)) * (S(e) - E A(e, r)): work linear in the number of r.
struct Residual {
  Term common;             // c
  Term summand;            // A; bounds: those of S, then r
  Term gradient;           // 2 c A
  density::BoundId along;  // r
  ArrayId sums;            // S
  std::vector<model::PlateId> axes;
  std::vector<density::IndexId> at;  // the element of S, one an axis
  std::vector<BlockId> running;      // blocks of A during whose update S is kept; other blocks of A read the term
};

struct ItemStage {
  model::PlateId item;
  std::vector<BlockId> blocks;  // in order of update
  bool iterate = false;         // until --local-tol or --local-iters
  bool refresh = false;         // holds auxiliary sources: formed once more after the other local blocks
  /// Local terms: inner parts times tables, and terms with local atoms alone. `bounds` include the item's.
  struct LocalTerm {
    Term term;                             // coefficient without the table
    std::optional<std::size_t> statistic;  // multiplied by its table at `at`
    std::vector<density::IndexId> at;
    density::BoundId item;                  // the bound of `term` that is the item
    std::optional<std::size_t> outer = {};  // could not be split: it is this outer term too
  };
  std::vector<LocalTerm> terms;
};

struct BlockUpdate {
  BlockId block;
};

using Step = std::variant<ItemStage, BlockUpdate>;

/// One turn of a sweep: a step, or what it holds of auxiliary sources again, because factors that they depend on have
/// changed: an auxiliary is never stale where it is read.
struct Turn {
  std::size_t step = 0;
  bool refresh = false;
  bool for_bound = false;  // a refresh that the next sweep makes itself before anything reads it: only the bound waits
};

/// What a temperature divides.
enum class Tempering {
  data,       // terms of the data and what is local to them: see tempered_origins
  likelihood  // observed statements and potentials; without them, what is left is the prior
};

struct Schedule {
  conditionals::Conditionals conditionals;
  std::vector<Storage> storage;  // by BlockId
  std::vector<bool> local;       // by BlockId: lives on the items of the data, or is discrete on a plate of data
  std::vector<bool> tempered;    // by origin: a term of the data and what is local to them, not a prior
  std::vector<std::optional<std::size_t>> stage_of;  // by BlockId: the step (item stage) that updates it
  std::vector<Step> steps;                           // in order of their first turn
  std::vector<Turn> sweep;                           // one sweep, in order; ends with every auxiliary fresh
  std::vector<Statistic> statistics;
  std::vector<OuterTerm> outer;  // every term of the log joint that is not a local term
  std::vector<Residual> residuals;
  std::size_t arrays = 0;  // ids 0 .. arrays - 1 are in use
};

}  // namespace lehr::schedule

namespace lehr {

/// Conditionals -> Schedule. Never fails: what has no faster form is updated term by term. With the sizes of the
/// plates, by PlateId, data are summed by all that they name where that is no more than there are items: not for data
/// that change from step to step, of which the sums are formed every time.
schedule::Schedule plan(const model::Model& model, conditionals::Conditionals conditionals,
                        schedule::Tempering tempering = schedule::Tempering::data,
                        const std::vector<std::int64_t>& sizes = {});

/// The step that holds all local blocks: each item can then be inferred from the global factors alone.
std::optional<std::size_t> only_stage(const schedule::Schedule& schedule);

/// `lehr emit --as schedule`
std::string print(const model::Model& model, const schedule::Schedule& schedule);

}  // namespace lehr
