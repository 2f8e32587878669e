// Streamed categories: their probabilities are formed where they are needed, and forgotten.
#pragma once
#include "compiler/loops/item_energies.h"
#include "compiler/loops/updates.h"

namespace lehr::loops {

/// Of the functions of a stage that visit items.
enum class StageMode { update, seed, sum, refresh };

/// One term that holds the category.
struct StreamUse {
  const schedule::ItemStage::LocalTerm* term = nullptr;
  std::size_t atom = 0;                // the category's own
  std::optional<std::size_t> partner;  // the one other local atom, of a stored block
  BoundId value;                       // the bound that is the category's value
  enum class Kind {
    table,   // a table at the element's indices, coefficient 1
    vector,  // expected statistics of the partner, coefficient 1, the same for the whole item
    general
  } kind = Kind::general;
};

/// The plan of one streamed category: where its log odds come from and where its probabilities go.
struct Stream {
  BlockId block;
  const schedule::ItemStage* stage = nullptr;
  std::vector<StreamUse> uses;
  SizeId values;  // number of values of the category
  /// Probabilities are a normalised product of exponentials, each taken at the level where it is known:
  /// tables once a sweep, vectors once a pass over the item. Otherwise log odds are added up per element.
  bool factored = false;
  /// Factored, and the means of its log odds are those of its tables and vectors under sums that are formed anyway:
  /// entropies of elements are those without them.
  bool summed = false;
  BufferId probs, odds, item_odds, item_exp;  // work arrays over the values
  BufferId counted;                           // i64: which elements along the last axis have parts
  ScalarId found;                             // how many of the item, where it has one row; invalid: found row by row
  ExprId shift;     // of its vectors, where they were formed before the pass; invalid: with the elements
  ScalarId direct;  // 1: its vector's exponentials come from parameters (lower_stream_vector.cpp); invalid: they do not
};

/// What the items of one function of a stage are worked on with.
struct ItemArrays {
  LocalSums sums;
  std::map<std::pair<BlockId, math::Stat>, BufferId> streamed_into;  // naturals that streams add up for a later block
  std::map<std::pair<BlockId, std::string>, BufferId> previous;      // parameters of one element before its update
};

/// One visit of a stream to an item.
struct StreamVisit {
  const ItemArrays& arrays;
  bool final;  // statistics and entropies are added up
  StageMode mode;
  ExprId item_shift = {};  // of a factored stream
};

/// Rows of counts of several items that are worked on together (lower_full_rows.cpp): work arrays, by item.
struct FullRows {
  BufferId exponentials, shift;  // of the vectors: by value, and what was taken off before
  BufferId into, lanes;  // what the rows add up for the naturals of the vector, by value, and what is still apart
  BufferId total, scale, count;  // of the elements at hand: sums of exponentials, what `into` and the sums get of each
};

class Streams : Part {
 public:
  Streams(Shared& shared, Terms& terms, Updates& updates, Energies& energies, Draws& draws, Clamps& clamps)
      : Part(shared), terms_(terms), updates_(updates), energies_(energies), draws_(draws), clamps_(clamps) {}

  Stream plan_stream(const schedule::ItemStage& stage, BlockId z) const;
  /// Tables whose rows have no means in the entropies of elements.
  std::vector<ArrayId> summed_tables(const schedule::ItemStage& stage, BlockId z) const;
  void stream_arrays(Stream& s);
  /// Before the item is visited.
  void open_item(Stream& s, ExprId item);
  /// The vectors of the item: their sum, and its exponential shifted by what is returned.
  ExprId stream_item_setup(const Stream& s, ExprId item);
  void stream_elements(const Stream& s, ExprId item, StreamVisit visit);
  /// Before the passes over an item: which of its streams have exponentials from parameters, and whether the first pass
  /// has.
  void find_direct(std::vector<Stream>& streams, ExprId item);
  /// The stored block whose vector a direct stream reads.
  BlockId vector_block(const Stream& s) const;
  /// Whether the next pass has exponentials from the parameters as they are: sets Stream::direct.
  void decide(const Stream& s, ExprId item);
  /// The rows of a table and of its sums: all indices but the last.
  void each_row(const schedule::Statistic& s, const std::function<void(const std::vector<ExprId>&)>& body);
  /// Exponentials of a table, row by row shifted by the largest entry.
  void exp_table(ArrayId table);
  /// The elements of an item are counts in a plain row, whose odds are one vector and the rows of one table, and by the
  /// data many are above zero.
  bool can_have_full_rows(const Stream& s) const;
  /// There are columns of exponentials for it.
  bool has_full_rows(const Stream& s) const;
  FullRows full_rows(const Stream& s);
  /// The exponentials of the vector of one of the items.
  void form_row(const Stream& s, const FullRows& r, ExprId u, ExprId item);
  /// The elements of all items, from `first` on, but not of `end` and behind.
  void visit_rows(const Stream& s, const FullRows& r, ExprId first, ExprId end, const StreamVisit& visit);
  /// What was added up for the naturals of one of the items.
  void take_row(const Stream& s, const FullRows& r, ExprId u, const ItemArrays& arrays);
  /// What entropies of the elements of an item lack, so far as it is of vectors of the item.
  void less_vector_means(const Stream& s, ExprId item, const StreamVisit& visit);
  /// The position of an element of a later block in the naturals that streams add up (per item).
  std::vector<ExprId> streamed_address(const model::Variable& var, const std::vector<ExprId>& element,
                                       const std::vector<ExprId>& event);

 private:
  /// Whether the elements of an item read one vector over the values: of a block with no index but the item and the
  /// value.
  bool is_vector(const Atom& own, const Atom& partner, BoundId value) const;
  void exponentials_of_expectations(const Stream& s, ExprId item, ScalarId shift);
  bool can_be_direct(const Stream& s) const;
  /// The parameter x where the expected statistics of its vector are digamma(x_k) + c.
  std::optional<std::string> x_of_vector(const Stream& s) const;
  /// No update of another block reads the expectations of its vector.
  bool reads_alone(const Stream& s) const;
  /// The weights of its naturals.
  ExprId vector_scale(const StreamUse& u);
  /// The use of its one vector; null: it has none, or several.
  const StreamUse* vector_use(const Stream& s) const;
  /// The use of its one table; null: it has none, or several.
  const StreamUse* table_use(const Stream& s) const;
  BufferId into_of(const Stream& s, const ItemArrays& arrays) const;
  /// Elements of the items from `first` on, from `at` on, of `n`; those before `from` were visited. Where there are not
  /// enough items before `end`, the last stands for others as well, of which all elements are before their `begins`.
  struct Tile {
    ExprId first, end, from, at, n;
    std::vector<ExprId> items, begins;
  };
  void visit_tile(const Stream& s, const FullRows& r, const Tile& t, const StreamVisit& visit);
  /// Totals of the tile, and how many are too small.
  void add_up_tile(const Stream& s, const FullRows& r, const Tile& t, ScalarId low);
  void spread_tile(const Stream& s, const FullRows& r, const Tile& t, const StreamVisit& visit);
  void add_tile(const Stream& s, const FullRows& r, const Tile& t);
  /// As elements are visited elsewhere: where products of exponentials are too small.
  void one_by_one(const Stream& s, const FullRows& r, const Tile& t, const StreamVisit& visit);
  void each_lane(const std::function<void(ExprId lane)>& body);
  /// The count of an element; 0 before `begin`.
  ExprId count_from(const Stream& s, ExprId begin, ExprId item, ExprId e);
  /// What a use multiplies the exponentials of an element by, which is the same for all values.
  ExprId coefficient(const Stream& s, const StreamUse& u, const std::vector<ExprId>& element, ExprId scale);
  /// Where its exponentials come from parameters, the logarithms of these, value by value; otherwise `other`.
  void if_direct(const Stream& s, ExprId item, const std::function<void(ExprId value, ExprId logarithm)>& body,
                 const std::function<void()>& other);
  struct Element;
  Element open_element(const Stream& s, const std::vector<ExprId>& element, const StreamVisit& visit);
  /// Exponentials of the log odds, and their sum: one value for a pick or a draw.
  void form_probabilities(const Element& e);
  /// The same of an element whose value is known, in their place.
  void clamp(const Element& e);
  /// Log odds added up, exponentials taken here.
  void from_odds(const Element& e);
  /// Products of exponentials that were taken before.
  void from_exponentials(const Element& e);
  /// What they are multiplied by: the factors of the term of a use, weighted where they go to naturals, and `scale`.
  std::vector<Factor> spread_factors(const StreamUse& u, ExprId scale);
  /// What the probabilities add to: statistics, naturals of a later block, energies.
  void spread(const Element& e, std::size_t use, ExprId scale);
  /// H = log Z - sum_k p_k * log odds_k, times the copies of the element; of a summed stream the first part.
  void add_entropy(const Element& e, ExprId scale);
  /// sum_k p_k * log odds_k
  ExprId mean_odds(const Element& e, ExprId scale);
  bool is_summed(const Stream& s) const;
  using ElementBody = std::function<void(const std::vector<ExprId>& element)>;
  /// A count of zero has no parts, and many counts are zero: those that have are found in a loop of their own.
  bool has_empty_elements(const Stream& s) const;
  ScalarId find_counted(const Stream& s, const std::vector<ExprId>& row);
  void each_element(const Stream& s, ExprId item, const ElementBody& body);
  void visit_element(const Stream& s, const std::vector<ExprId>& element, const StreamVisit& visit);
  ArrayId table_of(const StreamUse& u) const;
  ExprId table_entry(const Element& e, std::size_t use, BufferId table, ExprId k);
  void each_value(const Stream& s, const std::function<void(ExprId)>& body);
  Env stream_env(const Stream& s, std::size_t use, const std::vector<ExprId>& element) const;

  Terms& terms_;
  Updates& updates_;
  Energies& energies_;
  Draws& draws_;
  Clamps& clamps_;
};

}  // namespace lehr::loops
