// Variable elimination, with the greedy order of smallest next table. The tables of several products are multiplied
// side by side: positions in them are found once, and the innermost loops are over the products.
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

/// The largest logarithm of a ratio of two entries in a product of tables of numbers; exp(-600) is a normal number.
constexpr double kWidest = 600;

/// A table while elements are summed out.
struct WorkTable {
  Scope scope;
  std::vector<double> values;  // at each entry, a value in each product
  bool logs = true;            // true: `values` are logarithms; false: numbers, 1 the largest in each product
  std::vector<double> scale;   // by product: the logarithm of the factor of the numbers
  /// The largest logarithm of a ratio of two entries that are not 0, over the products; infinite where logarithms are.
  double width = 0;
};

/// Returns a table of logarithms with its width, and the scale that its numbers would have.
WorkTable measured(LogTable from, std::size_t products) {
  WorkTable t;
  t.scope = std::move(from.scope);
  t.values = std::move(from.values);
  std::vector<double> top(products, -HUGE_VAL), bottom(products, HUGE_VAL);
  for (std::size_t i = 0; i < t.values.size(); i += products) {
    for (std::size_t m = 0; m < products; ++m) {
      const double x = t.values[i + m];
      top[m] = std::max(top[m], x);
      if (x != -HUGE_VAL) bottom[m] = std::min(bottom[m], x);
    }
  }
  t.scale.assign(products, 0.0);
  for (std::size_t m = 0; m < products; ++m) {
    if (top[m] == -HUGE_VAL) continue;  // all are 0
    t.width = std::max(t.width, top[m] == HUGE_VAL ? HUGE_VAL : top[m] - bottom[m]);
    t.scale[m] = top[m];
  }
  return t;
}

/// Turns logarithms into numbers, each product divided by its largest.
void to_numbers(WorkTable& t) {
  for (std::size_t i = 0; i < t.values.size() && t.logs; ++i)
    t.values[i] = std::exp(t.values[i] - t.scale[i % t.scale.size()]);
  t.logs = false;
}

/// Turns numbers into logarithms.
void to_logs(WorkTable& t) {
  for (std::size_t i = 0; i < t.values.size() && !t.logs; ++i)
    t.values[i] = std::log(t.values[i]) + t.scale[i % t.scale.size()];
  t.logs = true;
}

/// Divides numbers by the largest in each product.
void rescale(WorkTable& t) {
  const std::size_t products = t.scale.size();
  std::vector<double> top(products, 0.0), bottom(products, HUGE_VAL);
  for (std::size_t i = 0; i < t.values.size(); i += products) {
    for (std::size_t m = 0; m < products; ++m) {
      const double x = t.values[i + m];
      top[m] = std::max(top[m], x);
      if (x > 0) bottom[m] = std::min(bottom[m], x);
    }
  }
  t.width = 0;
  for (std::size_t m = 0; m < products; ++m) {
    if (top[m] == 0) {
      top[m] = 1;
      continue;
    }
    t.width = std::max(t.width, std::log(top[m] / bottom[m]));
    t.scale[m] += std::log(top[m]);
    top[m] = 1 / top[m];
  }
  for (std::size_t i = 0; i < t.values.size(); i += products) {
    for (std::size_t m = 0; m < products; ++m)
      t.values[i + m] *= top[m];
  }
}

/// Sums one element out of the product of tables, all of which are of numbers, or all of logarithms.
class SumOut {
 public:
  SumOut(const std::vector<WorkTable>& tables, std::size_t element, const std::vector<std::size_t>& states,
         std::size_t products)
      : tables_(tables), products_(products), states_(states[element]) {
    std::set<std::size_t> all;
    for (const WorkTable& t : tables)
      all.insert(t.scope.begin(), t.scope.end());
    std::ranges::copy_if(all, std::back_inserter(out_.scope), [&](std::size_t e) { return e != element; });
    entries_ = static_cast<std::size_t>(size_of(out_.scope, states));
    for (const WorkTable& t : tables) {
      std::size_t stride = products;
      for (const std::size_t e : t.scope)
        if (e > element) stride *= states[e];
      strides_.push_back(stride);
      cursors_.emplace_back(out_.scope, states, t.scope);
    }
  }
  /// Returns the sum over tables of numbers.
  WorkTable of_numbers() {
    out_.logs = false;
    out_.values.assign(entries_ * products_, 0.0);
    out_.scale.assign(products_, 0.0);
    for (const WorkTable& t : tables_)
      for (std::size_t m = 0; m < products_; ++m)
        out_.scale[m] += t.scale[m];
    std::vector<double> term(products_);
    each_term([&](std::size_t i, std::size_t v) {
      double* sum = out_.values.data() + i * products_;
      const double* x = factor(0, v);
      for (std::size_t k = 1; k < tables_.size(); ++k) {
        const double* y = factor(k, v);
        for (std::size_t m = 0; m < products_; ++m)
          term[m] = x[m] * y[m];
        x = term.data();
      }
      for (std::size_t m = 0; m < products_; ++m)
        sum[m] += x[m];
    });
    rescale(out_);
    return std::move(out_);
  }
  /// Returns the sum over tables of logarithms.
  WorkTable of_logarithms() {
    std::vector<double> terms(states_ * products_), of_one(states_);
    each_term([&](std::size_t, std::size_t v) {
      for (std::size_t m = 0; m < products_; ++m) {
        double& term = terms[m * states_ + v];
        term = 0;
        for (std::size_t k = 0; k < tables_.size(); ++k)
          term += factor(k, v)[m];
      }
      if (v + 1 < states_) return;
      for (std::size_t m = 0; m < products_; ++m) {
        const auto begin = terms.begin() + static_cast<std::ptrdiff_t>(m * states_);
        of_one.assign(begin, begin + static_cast<std::ptrdiff_t>(states_));
        out_.values.push_back(log_sum_exp(of_one));
      }
    });
    return measured({std::move(out_.scope), std::move(out_.values)}, products_);
  }

 private:
  /// Returns the present entry of a table for a value of the element that is summed out.
  const double* factor(std::size_t k, std::size_t v) const {
    return tables_[k].values.data() + cursors_[k].at() * products_ + v * strides_[k];
  }
  /// Calls `visit` for every entry of the result and every value of the element.
  template <class Visit>
  void each_term(const Visit& visit) {
    for (std::size_t i = 0; i < entries_; ++i) {
      for (std::size_t v = 0; v < states_; ++v)
        visit(i, v);
      for (TableCursor& c : cursors_)
        c.next();
    }
  }

  const std::vector<WorkTable>& tables_;
  std::size_t products_, states_, entries_ = 0;
  WorkTable out_;
  std::vector<std::size_t> strides_;  // by table: between values of the element
  std::vector<TableCursor> cursors_;  // by table
};

/// Returns the product of the tables, summed over one element.
WorkTable without(std::vector<WorkTable> tables, std::size_t element, const std::vector<std::size_t>& states,
                  std::size_t products) {
  double width = 0;
  for (const WorkTable& t : tables)
    width += t.width;
  const bool numbers = width <= kWidest;
  for (WorkTable& t : tables)
    numbers ? to_numbers(t) : to_logs(t);
  SumOut sum(tables, element, states, products);
  return numbers ? sum.of_numbers() : sum.of_logarithms();
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
                                const EliminationOrder& order, std::size_t products) {
  const std::size_t n = order.elements.size();
  std::vector<std::size_t> place(states.size(), n);  // of each element in the order; n: it is not eliminated
  for (std::size_t k = 0; k < n; ++k)
    place[order.elements[k]] = k;
  // Each table waits for the first of its elements that is eliminated. The last bucket has what is left.
  std::vector<std::vector<WorkTable>> pending(n + 1);
  std::vector<double> constant(products, 0.0);
  const auto add = [&](WorkTable t) {
    std::size_t first = n;
    for (const std::size_t e : t.scope)
      first = std::min(first, place[e]);
    if (!t.scope.empty()) {
      pending[first].push_back(std::move(t));
      return;
    }
    to_logs(t);
    for (std::size_t m = 0; m < products; ++m)
      constant[m] += t.values[m];
  };
  for (LogTable& t : tables)
    add(measured(std::move(t), products));
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<WorkTable> with = std::move(pending[k]);
    const std::size_t e = order.elements[k];
    if (!with.empty()) {
      add(without(std::move(with), e, states, products));
      continue;
    }
    for (double& c : constant)
      c += std::log(static_cast<double>(states[e]));
  }
  std::vector<LogTable> out;
  for (WorkTable& t : pending[n]) {
    to_logs(t);
    out.push_back({std::move(t.scope), std::move(t.values)});
  }
  out.push_back({{}, std::move(constant)});
  return out;
}

double log_sum_product(std::vector<LogTable> tables, const std::vector<std::size_t>& states,
                       const EliminationOrder& order) {
  return eliminate(std::move(tables), states, order).back().values[0];
}

}  // namespace lehr
