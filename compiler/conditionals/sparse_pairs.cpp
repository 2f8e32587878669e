// The pairs of coordinates of a joint variable that occur together in a term: its indices are evaluated at the data for
// all values of the index variables in them.
//
//   -1/2 tau (y[n] - a[g[n]] - b[h[n]])^2     a pair (g[n], G + h[n]) for each n, and the diagonal
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/conditionals/joint_choice.h"
#include "compiler/math/sparse_pattern.h"
#include "compiler/model/walk.h"

namespace lehr::conditionals {
namespace {

using density::IndexId;
using density::IndexVarId;
using density::Term;
using math::SparsePattern;
using model::PlateId;

/// The number of pairs from which repetitions are removed.
constexpr std::size_t kManyPairs = 1 << 22;

/// The pairs of one joint variable.
class Pairs {
 public:
  Pairs(const model::Model& m, const density::Density& d, model::VariableId joint, const BoundData& data)
      : m_(m), a_(d.algebra), joint_(joint), data_(data) {}

  /// Adds the pairs of a term.
  void add(const Term& t) {
    for (const density::Atom& x : t.atoms) {
      if (x.variable != joint_ || x.event.size() != 2) continue;
      std::set<IndexVarId> needed;
      for (const IndexId i : x.event)
        a_.collect(i, needed);
      // A nested index variable needs its row.
      for (auto v = t.index_vars.rbegin(); v != t.index_vars.rend(); ++v)
        if (needed.contains(*v) && a_[*v].parent) a_.collect(*a_[*v].parent, needed);
      std::vector<IndexVarId> order;
      std::ranges::copy_if(t.index_vars, std::back_inserter(order), [&](IndexVarId v) { return needed.contains(v); });
      guards_.clear();
      for (const density::Guard& g : t.guards)
        if (is_decided(g, needed)) guards_.push_back(&g);
      visit(x, order, 0);
    }
  }

  bool is_complete() const { return complete_; }  // false: some array that an index reads is not in memory
  std::vector<SparsePattern::Pair> take() { return std::move(pairs_); }

 private:
  /// Returns true if the guard is a relation of these index variables alone.
  bool is_decided(const density::Guard& g, const std::set<IndexVarId>& open) const {
    if (g.present) return false;
    std::set<IndexVarId> mentioned;
    a_.collect(g.left, mentioned);
    a_.collect(g.right, mentioned);
    return std::ranges::includes(open, mentioned);
  }

  /// Opens the index variables from the `k`-th on, and adds the pair at the end.
  void visit(const density::Atom& x, const std::vector<IndexVarId>& order, std::size_t k) {
    if (!complete_) return;
    if (k < order.size()) {
      const std::int64_t end = length(order[k]);
      for (std::int64_t i = 0; i < end && complete_; ++i) {
        if (order[k].index() >= values_.size()) values_.resize(order[k].index() + 1);
        values_[order[k].index()] = i;
        visit(x, order, k + 1);
      }
      return;
    }
    if (!std::ranges::all_of(guards_, [&](const density::Guard* g) { return holds(*g); })) return;
    const std::int64_t row = index(x.event[0]), column = index(x.event[1]);
    // An index that is missing in the data has no element.
    if (row < 0 || column < 0) return;
    pairs_.emplace_back(std::max(row, column), std::min(row, column));
    if (pairs_.size() < most_) return;
    std::ranges::sort(pairs_);
    const auto same = std::ranges::unique(pairs_);
    pairs_.erase(same.begin(), same.end());
    most_ = std::max(kManyPairs, 2 * pairs_.size());
  }

  /// Returns true if the relation of a guard is true.
  bool holds(const density::Guard& g) {
    const std::int64_t l = index(g.left), r = index(g.right);
    switch (g.relation) {
      case density::Relation::equal:
        return l == r;
      case density::Relation::not_equal:
        return l != r;
      case density::Relation::less:
        return l < r;
      case density::Relation::greater_equal:
        return l >= r;
    }
    return true;
  }

  /// Returns the number of values of an index variable.
  std::int64_t length(IndexVarId v) {
    const PlateId set = m_[a_[v].plate].set;
    complete_ = complete_ && set.index() < data_.sizes.size() && data_.sizes[set.index()] >= 0;
    if (!complete_) return 0;
    if (!a_[v].parent) return data_.sizes[set.index()];
    const auto row = static_cast<std::size_t>(packed_row(*a_[v].parent));
    return data_.offsets[set.index()][row + 1] - data_.offsets[set.index()][row];
  }

  /// Returns the position of a row among all rows of its plate.
  std::int64_t packed_row(IndexId row) {
    const auto* b = std::get_if<density::IndexVarRef>(&a_[row]);
    const std::int64_t within = index(row);
    if (!b || !a_[b->bound].parent) return within;
    const PlateId set = m_[a_[b->bound].plate].set;
    return data_.offsets[set.index()][static_cast<std::size_t>(packed_row(*a_[b->bound].parent))] + within;
  }

  /// Returns the value of an index; -1 if it is missing.
  std::int64_t index(IndexId i) {
    if (const auto* b = std::get_if<density::IndexVarRef>(&a_[i])) return values_[b->bound.index()] + b->offset;
    if (const auto* c = std::get_if<density::IndexConstant>(&a_[i])) return c->value;
    if (const auto* l = std::get_if<density::IndexLookup>(&a_[i])) return looked_up(*l);
    return coordinate(std::get<density::IndexCoordinate>(a_[i]));
  }

  /// Returns the value that the data have for an index.
  std::int64_t looked_up(const density::IndexLookup& l) {
    const bool given = std::holds_alternative<model::GivenId>(l.source);
    const std::vector<PlateId>& axes = given ? m_[std::get<0>(l.source)].axes : m_[std::get<1>(l.source)].axes;
    const std::vector<double>& values = given ? data_.givens[std::get<0>(l.source).index()].values
                                              : data_.observed[std::get<1>(l.source).index()].values;
    const std::int64_t at = position(axes, l.indices);
    complete_ = complete_ && at < std::ssize(values);
    if (!complete_ || at < 0) return -1;
    const double x = values[static_cast<std::size_t>(at)];
    return std::isnan(x) ? -1 : static_cast<std::int64_t>(x);
  }

  /// Returns the position of an element in an array over the plates; -1 if an index is missing.
  std::int64_t position(const std::vector<PlateId>& plates, const std::vector<IndexId>& indices) {
    std::int64_t out = 0, last = 0;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const PlateId set = m_[plates[k]].set;
      const std::int64_t i = index(indices[k]);
      if (i < 0) return -1;
      const bool nested = m_[set].parent && k > 0;
      if (nested) {
        // The row and the element in it are one axis, over the elements of all rows.
        const std::int64_t rows = data_.sizes[m_[plates[k - 1]].set.index()];
        const std::int64_t lead = (out - last) / std::max<std::int64_t>(rows, 1);
        last = data_.offsets[set.index()][static_cast<std::size_t>(last)] + i;
        out = lead * data_.sizes[set.index()] + last;
      } else {
        last = i;
        out = out * data_.sizes[set.index()] + i;
      }
    }
    return out;
  }

  /// Returns the coordinate of a number of a member.
  std::int64_t coordinate(const density::IndexCoordinate& c) {
    const std::vector<model::Member>& members = m_[joint_].auxiliary->members;
    std::int64_t first = 0;
    for (std::size_t k = 0; k < c.member; ++k) {
      std::int64_t own = 1;
      for (const PlateId p : model::coordinate_plates(m_, members[k]))
        own *= data_.sizes[m_[p].set.index()];
      first += own;
    }
    const model::Member& member = members[c.member];
    std::vector<PlateId> plates;
    for (const std::size_t axis : member.own)
      plates.push_back(m_[member.variable].axes[axis]);
    std::ranges::copy(m_[member.variable].event, std::back_inserter(plates));
    const std::int64_t own = position(plates, c.indices);
    return own < 0 ? -1 : first + own;
  }

  const model::Model& m_;
  const density::Algebra& a_;
  model::VariableId joint_;
  const BoundData& data_;
  std::vector<std::int64_t> values_;           // of the open index variables, by id
  std::vector<const density::Guard*> guards_;  // of the term, that these decide
  std::vector<SparsePattern::Pair> pairs_;
  std::size_t most_ = kManyPairs;
  bool complete_ = true;
};

/// Adds the pairs of numbers of one element of a vector, whose marginal has a matrix.
void add_vectors(const model::Model& m, model::VariableId joint, const BoundData& data,
                 std::vector<SparsePattern::Pair>& to) {
  std::int64_t first = 0;
  for (const model::Member& member : m[joint].auxiliary->members) {
    std::int64_t numbers = 1, width = 1;
    for (const PlateId p : model::coordinate_plates(m, member))
      numbers *= data.sizes[m[p].set.index()];
    for (const PlateId p : m[member.variable].event)
      width *= data.sizes[m[p].set.index()];
    for (std::int64_t k = 0; k < numbers; ++k)
      for (std::int64_t l = k / width * width; l < k; ++l)
        to.emplace_back(first + k, first + l);
    first += numbers;
  }
}

}  // namespace

std::shared_ptr<const SparsePattern> sparse_pattern_of(const model::Model& m, const density::Density& d,
                                                       model::VariableId joint, const BoundData& data,
                                                       const SparsePattern* also) {
  std::int64_t size = 0;
  for (const model::Member& member : m[joint].auxiliary->members) {
    std::int64_t own = 1;
    for (const PlateId p : model::coordinate_plates(m, member)) {
      if (data.sizes[m[p].set.index()] < 0) return nullptr;
      own *= data.sizes[m[p].set.index()];
    }
    size += own;
  }
  Pairs pairs(m, d, joint, data);
  for (const Term& t : d.terms)
    pairs.add(t);
  if (!pairs.is_complete()) return nullptr;
  std::vector<SparsePattern::Pair> all = pairs.take();
  add_vectors(m, joint, data, all);
  if (also && also->size != size) return nullptr;
  if (also) std::ranges::copy(also->entries, std::back_inserter(all));
  const Thresholds thresholds = thresholds_of_environment();
  std::optional<SparsePattern> out = SparsePattern::make(size, std::move(all), thresholds[kMostFilled]);
  if (!out || out->operations > thresholds[kMostOperations]) return nullptr;
  return std::make_shared<const SparsePattern>(std::move(*out));
}

bool covers(const SparsePattern& pattern, const model::Model& m, const density::Density& d, model::VariableId joint,
            const BoundData& data) {
  Pairs pairs(m, d, joint, data);
  for (const Term& t : d.terms)
    pairs.add(t);
  return pairs.is_complete() && std::ranges::all_of(pairs.take(), [&](const SparsePattern::Pair& p) {
           return p.first < pattern.size && pattern.find(p.first, p.second);
         });
}

}  // namespace lehr::conditionals
