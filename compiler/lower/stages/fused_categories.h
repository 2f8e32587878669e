// Fused categories: local categories whose responsibilities are not stored. The probabilities of an element are formed
// in a work array, added to whatever needs them, and overwritten by those of the next element.
//
// The log odds of an element's values are sums of rows of tables, vectors of the item, and other terms. If there are
// only rows and vectors, the category is factored: exponentials are taken once for each row or vector, then multiplied:
//
//     general    probs[k] = exp(theta_log[k] + beta_log[w, k] - top)
//     factored   probs[k] = exp_theta[k] * exp_beta[w, k]          no exponential for each element
//
// In the names here, a stream is a fused category.
#pragma once
#include <tuple>

#include "compiler/lower/item_energies.h"
#include "compiler/lower/updates.h"

namespace lehr::loops {

/// What a generated function does to each item in its range. An item stage has one function for each mode that it
/// needs.
enum class StageMode {
  update,  // updates all blocks
  seed,    // sets categories to the picks of a start, and forms the blocks in StageFunctions::seeded
  sum,     // adds up statistics of the factors as they are
  refresh  // forms auxiliary sources and fused categories once more
};

/// One term of the log joint that contains the fused category. It says what the term adds to the log odds of the
/// category, and what the probabilities are added to.
struct FusedUse {
  /// The term of the item stage; owned by the schedule.
  const schedule::ItemStage::LocalTerm* term = nullptr;
  /// Position of the category's atom (the indicator [z = k]) in the term.
  std::size_t atom = 0;
  /// Position of the one other atom of the term that is of a stored block of the item, to whose natural parameters the
  /// probabilities are added; none if there is none.
  std::optional<std::size_t> partner;
  /// The index variable of the term that runs over the category's values.
  IndexVarId value;
  /// How the term enters the log odds of the category.
  enum class Kind {
    /// The log odds are a row of a table along the values, with coefficient 1: log beta[w, k].
    table,
    /// The log odds are expected statistics of the partner, with coefficient 1, the same for all elements of the item:
    /// log theta[k].
    vector,
    /// The log odds have any other form, and are added up for each element.
    general
  } kind = Kind::general;
};

/// The plan of the code for one fused category, a local category whose probabilities are not stored. It says where the
/// log odds come from (rows of tables, vectors of the item, other terms), and in which work arrays the probabilities
/// are formed.
struct FusedCategory {
  /// The block of the category; its elements are those of the items.
  BlockId block;
  /// The item stage whose items have the elements of the category.
  const schedule::ItemStage* stage = nullptr;
  /// One use for each term that contains the category.
  std::vector<FusedUse> uses;
  /// The number of values of the category.
  SizeId values;
  /// True if probabilities are normalised products of exponentials. Exponentials of tables are taken once a sweep,
  /// those of vectors once a pass over the item. Otherwise log odds are added up for each element.
  bool factored = false;
  /// True if the category is factored and the entropies of elements leave out the mean of their log odds. That mean is
  /// computed from sums that are formed anyway (lower_fused_entropy.cpp).
  bool entropy_from_sums = false;
  /// Work arrays over the values. `probs`: unnormalised probabilities of an element. `odds`: its log odds. `item_odds`:
  /// the sum of the item's vectors. `item_exp`: the exponentials of `item_odds`.
  BufferId probs, odds, item_odds, item_exp;
  /// i64: the positions along the last axis of the elements whose count is above 0, which alone are visited. Invalid if
  /// all elements are visited.
  BufferId counted;
  /// The number of positions in `counted`, if an item has one row of elements, listed before its passes. Invalid if the
  /// positions are listed anew for each row.
  ScalarId counted_length;
  /// What was subtracted from `item_odds` before exp. Valid while each pass over an item begins with the code of these
  /// exponentials, which all its visits of elements share; if invalid, each visit has that code itself.
  ExprId shift;
  /// 1 while the exponentials of the item's vector come from the parameters of its factor, 0 while they come from its
  /// expected statistics. Invalid if they never come from parameters.
  ScalarId direct;
};

/// Arrays that the code for one item adds to or reads. `sums` are sums over all items: the functions of an item stage
/// share them, and the ELBO reads them. The others are work arrays of one generated function, which every item
/// overwrites (Stages::declare_item_arrays).
struct ItemArrays {
  /// The partial sums of the ELBO that the items of the stage add to.
  LocalSums sums;
  /// By a later block of the item, its statistic, and whether the terms are tempered (Schedule::tempered): natural
  /// parameters to which fused categories add, over the axes after the item.
  std::map<std::tuple<BlockId, math::Stat, bool>, BufferId> partner_naturals;
  /// By block and name: the parameters of one element before its update, over event axes.
  std::map<std::pair<BlockId, std::string>, BufferId> previous;
};

/// What one visit of a fused category to the elements of an item does with their probabilities, and where it adds them.
struct FusedVisit {
  /// The arrays to which probabilities, energies and entropies are added.
  const ItemArrays& arrays;
  /// True in the last visit of an item, which also adds to statistics, energies and entropies (a seed adds no
  /// entropies).
  bool final;
  /// What the function that contains the visit does to its items.
  StageMode mode;
  /// Of a factored category: what was subtracted from the item's vectors before exp.
  ExprId item_shift = {};
};

/// The work arrays for the rows of counts of a few items that are visited together (lower_full_rows.cpp). The first
/// axis is the position of the item in the group.
struct FullRows {
  /// By item of the group: the exponentials of its vector, by value; what was subtracted before exp.
  BufferId exponentials, shift;
  /// By item of the group: what the probabilities add to the natural parameters of the vector's block, by value;
  /// partial sums of it, by value and lane.
  BufferId into, lanes;
  /// By item and element of a tile: the sum of the exponentials; the factor with which they are added to `into`; the
  /// factor with which they are added to the statistic of the table.
  BufferId total, scale, count;
};

/// Emits the code that visits the elements of fused categories (streams), whose responsibilities are not stored: it
/// forms the probabilities of one element in a work array, adds them to statistics, natural parameters and entropies,
/// and overwrites them by the next element's. Log odds are sums of rows of tables (log beta[w, k]), vectors of the item
/// (log theta[k]) and other terms. An item stage (Stages) calls it.
class FusedCategories : Part {
 public:
  FusedCategories(Shared& shared, Terms& terms, Updates& updates, Energies& energies, Draws& draws, Clamps& clamps)
      : Part(shared), terms_(terms), updates_(updates), energies_(energies), draws_(draws), clamps_(clamps) {}

  /// Returns the plan of the fused category `z`, still without work arrays.
  FusedCategory plan_fused(const schedule::ItemStage& stage, BlockId z) const;
  /// Returns the tables whose means the entropies of the elements of category `z` leave out
  /// (FusedCategory::entropy_from_sums). StageFunctions::finalise subtracts these means for all items together.
  std::vector<ArrayId> summed_tables(const schedule::ItemStage& stage, BlockId z) const;
  /// Declares the work arrays of FusedCategory (probabilities, log odds, exponentials, list of counts) in the function
  /// that is open.
  void stream_arrays(FusedCategory& s);
  /// Emits the code before the passes over an item: it lists the elements with counts above 0, if the item has one row
  /// of counts.
  void open_item(FusedCategory& s, ExprId item);
  /// Emits code that adds up the vectors of the item and exponentiates the sum (FusedCategory::item_exp), for a
  /// factored category. Returns an expression for what was subtracted before exp, so that nothing overflows; invalid
  /// for other categories.
  ExprId stream_item_setup(const FusedCategory& s, ExprId item);
  /// Emits the visit of all elements of an item, which forms the probabilities of each and adds them to all that needs
  /// them; elements that are counts of zero are left out, except by a sampler. The exponentials of the item's vectors
  /// are formed before, unless FusedCategory::shift is valid. A final visit ends with subtract_vector_means(), if the
  /// category has FusedCategory::entropy_from_sums.
  void stream_elements(const FusedCategory& s, ExprId item, FusedVisit visit);
  /// Declares, before the passes over an item, FusedCategory::direct for each category of which the exponentials of the
  /// vector may come from parameters instead of expected statistics, and emits code that sets it for the first pass.
  void find_direct(std::vector<FusedCategory>& streams, ExprId item);
  /// Returns the stored block whose vector the category reads. The category must have exactly one use of kind vector.
  BlockId vector_block(const FusedCategory& s) const;
  /// Emits code that decides, before a pass over an item, from what its vector's exponentials are computed. It sets
  /// FusedCategory::direct to 1 if the current parameters serve, which needs weights of 1 and parameters that are not
  /// small; otherwise to 0.
  void decide(const FusedCategory& s, ExprId item);
  /// Emits loops over the rows of a table and its sums. `body` gets the indices of a row: all but the contiguous one.
  void each_row(const schedule::Statistic& s, const std::function<void(const std::vector<ExprId>&)>& body);
  /// Emits code that exponentiates a table, scaled by Weight::local. The largest entry of each row is subtracted
  /// before, and stored (Layout::exp_table, exp_shift). Also fills the transposed table, if there is one.
  void exp_table(ArrayId table);
  /// Returns true if the items may have full rows of counts, whose elements are visited in tiles. Each item must be one
  /// row of counts over a plate that is not nested. The log odds must be one vector and rows of one table, and the
  /// category must have FusedCategory::entropy_from_sums. At least 40 % of the counts in the data must be above zero,
  /// and more if the category has many values, whose number must be a constant.
  bool can_have_full_rows(const FusedCategory& s) const;
  /// Returns true if the code visits the elements of the category in tiles (full rows of counts): the transposed
  /// exponentials of its table were declared for that.
  bool has_full_rows(const FusedCategory& s) const;
  /// Declares and initialises the work arrays for a group of items with full rows.
  FullRows full_rows(const FusedCategory& s);
  /// Emits code that exponentiates the vector of one item, which is at position `u` of a group of items with full rows,
  /// into FullRows::exponentials.
  void form_row(const FusedCategory& s, const FullRows& r, ExprId u, ExprId item);
  /// Emits loops that visit all elements of a group of four items with full rows, tile by tile. The group begins with
  /// the item `first`; items from `end` on are left out.
  void visit_rows(const FusedCategory& s, const FullRows& r, ExprId first, ExprId end, const FusedVisit& visit);
  /// Emits code that copies what was added up for the natural parameters of the item at position `u` to
  /// ItemArrays::partner_naturals.
  void take_row(const FusedCategory& s, const FullRows& r, ExprId u, const ItemArrays& arrays);
  /// Emits code that subtracts the means of the item's vectors from the entropies of its elements, which left them out
  /// (FusedCategory::entropy_from_sums).
  void subtract_vector_means(const FusedCategory& s, ExprId item, const FusedVisit& visit);
  /// Returns the array of ItemArrays::partner_naturals to which the category adds for a use with a partner.
  BufferId naturals_of(const FusedUse& u, const ItemArrays& arrays) const;
  /// Returns the indices of an element of a later block in ItemArrays::partner_naturals: all but the item.
  std::vector<ExprId> partner_address(const model::Variable& var, const std::vector<ExprId>& element,
                                      const std::vector<ExprId>& event);

 private:
  /// Returns true if all elements of an item read the same vector of the partner: its indices are the item and, once,
  /// the category's value.
  bool is_vector(const Atom& own, const Atom& partner, IndexVarId value) const;
  /// Emits code that computes FusedCategory::item_odds and item_exp from expected statistics; `shift` becomes the
  /// largest log odds.
  void exponentials_of_expectations(const FusedCategory& s, ExprId item, ScalarId shift);
  /// Returns true if the exponentials of the category's vector can come from parameters without expected statistics
  /// (FusedCategory::direct). The category must have FusedCategory::entropy_from_sums and exactly one vector, for
  /// which x_of_vector() has a result. The vector's block must be stored, have an entropy, and be neither a chain nor
  /// observed in part.
  bool can_be_direct(const FusedCategory& s) const;
  /// Returns the name of the parameter x if the expected statistics of the vector are digamma(x_k) + c, c the same for
  /// all k. Nothing if they are not.
  std::optional<std::string> x_of_vector(const FusedCategory& s) const;
  /// Returns true if no update of another block of the item reads the expected statistics of the vector, so that passes
  /// before the last need not form them.
  bool is_sole_reader(const FusedCategory& s) const;
  /// Returns an expression for the product of the run-time weights on the log odds from a vector.
  ExprId vector_scale(const FusedUse& u);
  /// Returns the only use of kind FusedUse::Kind::vector that the category has; null if there are none or several.
  const FusedUse* vector_use(const FusedCategory& s) const;
  /// Returns the only use of kind FusedUse::Kind::table that the category has; null if there are none or several.
  const FusedUse* table_use(const FusedCategory& s) const;
  /// Returns the array of natural parameters to which the category adds for its vector's block.
  BufferId into_of(const FusedCategory& s, const ItemArrays& arrays) const;
  /// A tile of counts of four items: the same 16 consecutive elements of each item's row of counts. Code for one tile
  /// computes the probabilities of the category at all 64 elements together. It covers the elements from `at` on; those
  /// before `from` belong to the tile before, which the last tile overlaps. If fewer than four items are left before
  /// `end`, the last item fills the group. The entries of `begins` then make its repeats count as 0.
  struct Tile {
    ExprId first, end, from, at, n;     // first item, end of the items, elements as above, elements in a row
    std::vector<ExprId> items, begins;  // by position in the group: the item, and its first element that counts
  };
  /// Emits the visit of a tile: sums of exponentials, then additions to statistics. If a sum underflows, or the rows
  /// are shorter than a tile, the elements are visited one by one.
  void visit_tile(const FusedCategory& s, const FullRows& r, const Tile& t, const FusedVisit& visit);
  /// Emits code that computes the sums of exponentials of a tile (FullRows::total). `low` becomes the number of sums
  /// that are below kUnderflow.
  void add_up_tile(const FusedCategory& s, const FullRows& r, const Tile& t, ScalarId low);
  /// Emits code that adds the probabilities of a tile to natural parameters and, in a final visit, to statistics and
  /// entropies.
  void spread_tile(const FusedCategory& s, const FullRows& r, const Tile& t, const FusedVisit& visit);
  /// Emits code that adds the probabilities of a tile to the table's statistic.
  void add_tile(const FusedCategory& s, const FullRows& r, const Tile& t);
  /// Emits visits of a tile's elements one after another, by visit_element, which also works in logarithms.
  void one_by_one(const FusedCategory& s, const FullRows& r, const Tile& t, const FusedVisit& visit);
  /// Emits a loop over the 16 elements of a tile, which may be vectorised.
  void each_lane(const std::function<void(ExprId lane)>& body);
  /// Returns an expression for the count of element `e` of an item, or 0 if `e` is before `begin`.
  ExprId count_from(const FusedCategory& s, ExprId begin, ExprId item, ExprId e);
  /// Returns an expression for the factor by which the exponentials of an element are multiplied when they are added to
  /// the statistic or natural parameters that a use updates: the other factors of its term, times `scale`. It is the
  /// same for all values.
  ExprId coefficient(const FusedCategory& s, const FusedUse& u, const std::vector<ExprId>& element, ExprId scale);
  /// Emits a branch on FusedCategory::direct. If it is 1, exponentials come from the parameters x of the vector's block
  /// instead of its expected statistics: a loop over the values k has the code of `body(k, digamma(x[k]))`. Otherwise
  /// the code of `otherwise` runs.
  void if_direct(const FusedCategory& s, ExprId item, const std::function<void(ExprId value, ExprId logarithm)>& body,
                 const std::function<void()>& otherwise);
  /// One element of a fused category while the code of its visit is written (fused_element.h).
  struct Element;
  /// Returns an element for its visit, with the rows of tables that it reads.
  Element open_element(const FusedCategory& s, const std::vector<ExprId>& element, const FusedVisit& visit);
  /// Emits code that computes the element's unnormalised probabilities and their sum. In a seed, the picked value gets
  /// probability 1; with a draw, the drawn one. A draw for several copies gives each value its fraction of the copies.
  void form_probabilities(const Element& e);
  /// Emits code that gives an element with an observed value probability 1 at that value, and 0 at all others.
  void clamp(const Element& e);
  /// Emits loops that form what the term of one use adds to the log odds of the values; `body` is called with each.
  void each_odds(const Element& e, std::size_t use, const std::function<void(ExprId value, ExprId odds)>& body);
  /// Emits code that computes the probabilities by adding up log odds and taking exponentials.
  void from_odds(const Element& e);
  /// Emits code that computes the probabilities as products of exponentials; if their sum underflows, by from_odds.
  void from_exponentials(const Element& e);
  /// Returns the factors on the probabilities where they are added to what a use updates. They are the other factors of
  /// its term, run-time weights if they go to natural parameters, and `scale`.
  std::vector<Factor> spread_factors(const FusedUse& u, ExprId scale);
  /// Emits code that adds the probabilities of an element to what the term of one use needs them for: natural
  /// parameters of a later block or, in a final visit, statistics or energies (expected log densities). `scale` is 1
  /// over the sum of FusedCategory::probs.
  void spread(const Element& e, std::size_t use, ExprId scale);
  /// Emits code that adds the element's entropy H = log Z - sum_k p_k * odds_k, times its copies; odds_k are the log
  /// odds. With FusedCategory::entropy_from_sums it adds log Z alone. Otherwise, in StageMode::update, it also adds the
  /// mean of the log odds to the item's sum (Energies), with H if the sum is a contribution to the ELBO.
  void add_entropy(const Element& e, ExprId scale);
  /// Returns an expression for the mean of the log odds under the probabilities, less what was subtracted before exp:
  /// sum_k p_k * (log odds_k - shift). `scale` is 1 over the sum of FusedCategory::probs.
  ExprId mean_odds(const Element& e, ExprId scale);
  /// Returns true if the category has FusedCategory::entropy_from_sums: it is factored, and each sum that holds one of
  /// its means is of one of its terms alone. False if it is drawn, may be observed, has no entropy, or if sums by item
  /// are requested (Interface::item_energies).
  bool is_summed(const FusedCategory& s) const;
  /// A function that emits the code for one element, given its indices.
  using ElementBody = std::function<void(const std::vector<ExprId>& element)>;
  /// Returns true if the elements are counts (of an auxiliary source) of which many may be zero. Those above zero are
  /// then listed by a separate loop, and only they are visited. False for a sampler, which draws all.
  bool has_empty_elements(const FusedCategory& s) const;
  /// Emits the loop that lists the positions with counts above 0 of one row (FusedCategory::counted). Returns their
  /// number.
  ScalarId find_counted(const FusedCategory& s, const std::vector<ExprId>& row);
  /// Emits loops over the elements of an item. Elements that are counts of zero are left out, except by a sampler
  /// (has_empty_elements).
  void each_element(const FusedCategory& s, ExprId item, const ElementBody& body);
  /// Emits the visit of one element: it computes the probabilities and adds them to what all uses update. A final visit
  /// also adds the entropy and, with LowerOptions::save_locals, stores the probabilities; one of StageMode::seed does
  /// neither.
  void visit_element(const FusedCategory& s, const std::vector<ExprId>& element, const FusedVisit& visit);
  /// Returns the table of a use of kind FusedUse::Kind::table, whose row gives log odds of the values.
  ArrayId table_of(const FusedUse& u) const;
  /// Returns an expression for the entry of the element's row at the value `k`, in an array of the table's shape.
  ExprId table_entry(const Element& e, std::size_t use, BufferId table, ExprId k);
  /// Emits a loop over the values of the category.
  void each_value(const FusedCategory& s, const std::function<void(ExprId)>& body);
  /// Returns the values of the index variables that the element (or its leading indices) gives in the term of a use.
  Env stream_env(const FusedCategory& s, std::size_t use, const std::vector<ExprId>& element) const;

  Terms& terms_;        // the part that emits loop nests of terms
  Updates& updates_;    // the part that updates factors of single elements
  Energies& energies_;  // the part that adds up energies by item
  Draws& draws_;        // the part that emits random numbers and draws
  Clamps& clamps_;      // the part for observed elements of latent variables
};

}  // namespace lehr::loops
