// The sums are by variable elimination (sum_product.h) in one order, several temperatures side by side.
#include "compiler/evaluate/tempered_tables.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/evaluate/sum_product.h"

namespace lehr {
namespace {

/// The most temperatures that are summed side by side: that many tables of kMostStates entries are in memory.
constexpr std::size_t kTogether = 16;

/// Returns the table at temperatures begin .. end - 1, its elements in ascending order of their numbers.
LogTable at_temperatures(const TemperedTable& t, const std::map<Element, std::size_t>& number, std::size_t begin,
                         std::size_t end) {
  LogTable out;
  std::vector<std::size_t> order(t.dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t k) { return t.dims[k]; });
  std::vector<std::size_t> stride(t.dims.size(), 1);  // of each dimension in the new order
  for (std::size_t k = order.size(), next = end - begin; k-- > 0; next *= t.states[order[k]])
    stride[order[k]] = next;
  for (const std::size_t k : order)
    out.scope.push_back(number.at(t.dims[k]));
  out.values.resize(t.logs.size() * (end - begin));
  std::size_t i = 0;
  each_assignment(t, [&](const std::vector<std::size_t>& at) {
    const std::size_t to = std::inner_product(at.begin(), at.end(), stride.begin(), std::size_t{0});
    std::copy(t.logs[i].begin() + static_cast<std::ptrdiff_t>(begin),
              t.logs[i].begin() + static_cast<std::ptrdiff_t>(end),
              out.values.begin() + static_cast<std::ptrdiff_t>(to));
    ++i;
  });
  return out;
}

}  // namespace

double TemperedTable::assignments() const {
  return std::accumulate(states.begin(), states.end(), 1.0,
                         [](double all, std::size_t n) { return all * static_cast<double>(n); });
}

void each_assignment(const TemperedTable& table, const std::function<void(const std::vector<std::size_t>&)>& visit) {
  std::vector<std::size_t> at(table.dims.size(), 0);
  for (;;) {
    visit(at);
    std::size_t k = at.size();
    while (k > 0 && ++at[k - 1] == table.states[k - 1])
      at[--k] = 0;
    if (k == 0) return;
  }
}

std::optional<Element> sum_out(std::vector<TemperedTable>& tables, const std::function<bool(Element)>& wanted,
                               std::size_t temperatures) {
  std::map<Element, std::size_t> number;
  for (const TemperedTable& t : tables) {
    for (const Element& e : t.dims)
      number.emplace(e, 0);
  }
  std::vector<Element> elements;
  std::vector<bool> retained;
  for (auto& [e, k] : number) {
    k = elements.size();
    elements.push_back(e);
    retained.push_back(!wanted(e));
  }
  std::vector<std::size_t> states(elements.size());
  std::vector<std::vector<std::size_t>> scopes;
  for (const TemperedTable& t : tables) {
    scopes.emplace_back();
    for (std::size_t k = 0; k < t.dims.size(); ++k) {
      scopes.back().push_back(number.at(t.dims[k]));
      states[scopes.back().back()] = t.states[k];
    }
  }
  const EliminationOrder order = elimination_order(scopes, states, kMostStates, retained);
  if (std::isinf(order.entries)) return elements[order.elements.back()];
  std::vector<TemperedTable> left;
  for (std::size_t begin = 0; begin < temperatures; begin += kTogether) {
    const std::size_t end = std::min(temperatures, begin + kTogether);
    std::vector<LogTable> logs;
    for (const TemperedTable& t : tables)
      logs.push_back(at_temperatures(t, number, begin, end));
    logs = eliminate(std::move(logs), states, order, end - begin);
    left.resize(logs.size());
    for (std::size_t k = 0; k < logs.size(); ++k) {
      TemperedTable& t = left[k];
      if (begin == 0) {
        t.logs.resize(logs[k].values.size() / end);
        for (const std::size_t e : logs[k].scope) {
          t.dims.push_back(elements[e]);
          t.states.push_back(states[e]);
        }
      }
      for (std::size_t i = 0; i < logs[k].values.size(); ++i)
        t.logs[i / (end - begin)].push_back(logs[k].values[i]);
    }
  }
  tables = std::move(left);
  return std::nullopt;
}

}  // namespace lehr
