// Variable elimination on log tables, with the greedy order of smallest next table.
#include "compiler/evaluate/sum_product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "compiler/evaluate/log_sum_exp.h"

namespace lehr {
namespace {

using Scope = std::vector<std::size_t>;

/// Returns the number of entries of a table over a scope.
double size_of(const Scope& scope, const std::vector<std::size_t>& states) {
  double out = 1;
  for (const std::size_t e : scope)
    out *= static_cast<double>(states[e]);
  return out;
}

/// Walks through a table over `scope` in row-major order, as an odometer counts. It tracks the offset of the matching
/// entry in a table over `part`.
class TableCursor {
 public:
  TableCursor(const Scope& scope, const std::vector<std::size_t>& states, const Scope& part)
      : digits_(scope.size(), 0), strides_(scope.size(), 0) {
    std::size_t stride = 1;
    for (std::size_t k = part.size(); k-- > 0; stride *= states[part[k]])
      if (const auto at = std::ranges::find(scope, part[k]); at != scope.end())
        strides_[static_cast<std::size_t>(at - scope.begin())] = stride;
    for (const std::size_t e : scope)
      extents_.push_back(states[e]);
  }
  /// Returns the offset in the table over `part`.
  std::size_t at() const { return at_; }
  /// Moves to the next entry.
  void next() {
    for (std::size_t k = digits_.size(); k-- > 0;) {
      at_ += strides_[k];
      if (++digits_[k] < extents_[k]) return;
      at_ -= strides_[k] * extents_[k];
      digits_[k] = 0;
    }
  }

 private:
  Scope digits_, strides_, extents_;
  std::size_t at_ = 0;
};

/// Returns the log of the product of the tables, summed over one element.
LogTable without(const std::vector<LogTable>& tables, std::size_t element, const std::vector<std::size_t>& states) {
  std::set<std::size_t> all;
  for (const LogTable& t : tables)
    all.insert(t.scope.begin(), t.scope.end());
  LogTable out;
  std::ranges::copy_if(all, std::back_inserter(out.scope), [&](std::size_t e) { return e != element; });
  const auto n = static_cast<std::size_t>(size_of(out.scope, states));
  std::vector<TableCursor> cursors;
  std::vector<std::size_t> strides;
  for (const LogTable& t : tables) {
    std::size_t stride = 1;
    for (const std::size_t e : t.scope)
      if (e > element) stride *= states[e];
    strides.push_back(stride);
    cursors.emplace_back(out.scope, states, t.scope);
  }
  std::vector<double> terms(states[element]);
  for (std::size_t i = 0; i < n; ++i) {
    std::ranges::fill(terms, 0.0);
    for (std::size_t k = 0; k < tables.size(); ++k) {
      for (std::size_t v = 0; v < terms.size(); ++v)
        terms[v] += tables[k].values[cursors[k].at() + v * strides[k]];
      cursors[k].next();
    }
    out.values.push_back(log_sum_exp(terms));
  }
  return out;
}

}  // namespace

namespace {

/// Returns an elimination order: by the size of the next table, or `by_number` of the elements.
EliminationOrder order_of(const std::vector<Scope>& scopes, const std::vector<std::size_t>& states, double most,
                          const std::vector<bool>& retained, bool by_number) {
  const std::size_t n = states.size();
  std::vector<std::set<std::size_t>> beside(n);
  for (const Scope& scope : scopes)
    for (const std::size_t a : scope)
      for (const std::size_t b : scope)
        if (a != b) beside[a].insert(b);
  // `beside` is the interaction graph: elements that share a table. Eliminating one connects all its neighbours.
  const auto cost = [&](std::size_t e) {
    return size_of(Scope(beside[e].begin(), beside[e].end()), states) * static_cast<double>(states[e]);
  };
  std::set<std::pair<double, std::size_t>> queue;
  std::vector<double> keys(n);
  const auto enqueue = [&](std::size_t e) {
    if (retained.empty() || !retained[e]) queue.emplace(keys[e] = by_number ? 0.0 : cost(e), e);
  };
  for (std::size_t e = 0; e < n; ++e)
    enqueue(e);
  EliminationOrder out;
  while (!queue.empty()) {
    const std::size_t e = queue.begin()->second;
    const double entries = cost(e);
    queue.erase(queue.begin());
    out.elements.push_back(e);
    out.entries += entries > most ? std::numeric_limits<double>::infinity() : entries;
    if (std::isinf(out.entries)) return out;
    const Scope others(beside[e].begin(), beside[e].end());
    for (const std::size_t a : others) {
      beside[a].erase(e);
      for (const std::size_t b : others)
        if (a != b) beside[a].insert(b);
    }
    for (const std::size_t a : others) {
      if (by_number) break;  // the keys stay
      queue.erase({keys[a], a});
      enqueue(a);
    }
  }
  return out;
}

}  // namespace

EliminationOrder elimination_order(const std::vector<Scope>& scopes, const std::vector<std::size_t>& states,
                                   double most, const std::vector<bool>& retained) {
  // On a lattice whose sites are numbered row by row, the order of the numbers keeps tables to one row.
  EliminationOrder greedy = order_of(scopes, states, most, retained, false);
  if (!std::isinf(greedy.entries)) return greedy;
  EliminationOrder numbered = order_of(scopes, states, most, retained, true);
  return std::isinf(numbered.entries) ? greedy : numbered;
}

std::vector<LogTable> eliminate(std::vector<LogTable> tables, const std::vector<std::size_t>& states,
                                const EliminationOrder& order) {
  const std::size_t n = order.elements.size();
  std::vector<std::size_t> place(states.size(), n);  // of each element in the order; n: it is not eliminated
  for (std::size_t k = 0; k < n; ++k)
    place[order.elements[k]] = k;
  // Each table waits for the first of its elements that is eliminated. The last bucket has what is left.
  std::vector<std::vector<LogTable>> pending(n + 1);
  double constant = 0;
  const auto add = [&](LogTable t) {
    std::size_t first = n;
    for (const std::size_t e : t.scope)
      first = std::min(first, place[e]);
    if (t.scope.empty()) constant += t.values[0];
    else pending[first].push_back(std::move(t));
  };
  for (LogTable& t : tables)
    add(std::move(t));
  for (std::size_t k = 0; k < n; ++k) {
    const std::vector<LogTable> with = std::move(pending[k]);
    if (with.empty()) constant += std::log(static_cast<double>(states[order.elements[k]]));
    else add(without(with, order.elements[k], states));
  }
  pending[n].push_back({{}, {constant}});
  return std::move(pending[n]);
}

double log_sum_product(std::vector<LogTable> tables, const std::vector<std::size_t>& states,
                       const EliminationOrder& order) {
  return eliminate(std::move(tables), states, order).back().values[0];
}

}  // namespace lehr
