// A recursive interpreter of formulas on columns: each node is one loop over the rows.
#include "compiler/math/columns.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace lehr::math {
namespace {

using Column = std::vector<double>;

/// Evaluates formulas at the rows of columns.
class ColumnEvaluator {
 public:
  /// With `zero_wins`, 0 times infinity is 0.
  ColumnEvaluator(const Columns& columns, bool zero_wins) : columns_(columns), zero_wins_(zero_wins) {}

  /// Returns the column of a formula; empty if it has other nodes than those of numbers.
  Column value(const Expr& e) const {
    return std::visit([this](const auto& node) { return of(node); }, e->form);
  }

 private:
  Column of(const Number& n) const { return {n.value}; }
  Column of(const Symbol& s) const {
    if (!s.indices.empty()) return {};
    const auto found = columns_.find(s.name);
    return found == columns_.end() ? Column{std::numeric_limits<double>::quiet_NaN()} : found->second;
  }
  Column of(const Add& a) const {
    return combine(value(a.left), value(a.right), [](double x, double y) { return x + y; });
  }
  Column of(const Multiply& m) const {
    if (!zero_wins_) return combine(value(m.left), value(m.right), [](double x, double y) { return x * y; });
    return combine(value(m.left), value(m.right), [](double x, double y) {
      const bool is_zero = (x == 0.0 || y == 0.0) && !std::isnan(x) && !std::isnan(y);
      return is_zero ? 0.0 : x * y;
    });
  }
  Column of(const Apply& a) const {
    Column out = value(a.argument);
    for (double& x : out)
      x = value_of(a.function, x);
    return out;
  }
  /// Everything else.
  template <class Node>
  Column of(const Node&) const {
    return {};
  }

  /// Returns op(a, b) by row.
  template <class Op>
  static Column combine(Column a, Column b, const Op& op) {
    if (a.empty() || b.empty()) return {};
    if (a.size() < b.size()) {
      for (double& y : b)
        y = op(a[0], y);
      return b;
    }
    const std::size_t step = b.size() == 1 ? 0 : 1;
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = op(a[i], b[i * step]);
    return a;
  }

  const Columns& columns_;
  bool zero_wins_;
};

}  // namespace

std::optional<std::vector<double>> log_densities(const FamilyRow& row, const Columns& spelled, double x,
                                                 std::size_t rows) {
  Columns canonical;
  for (const Spelling& s : row.spellings) {
    const auto typed = spelled.find(s.name);
    if (typed == spelled.end()) continue;
    if (s.event_rank > 0) return std::nullopt;
    canonical[s.canonical] = s.convert ? ColumnEvaluator(spelled, false).value(*s.convert) : typed->second;
    if (canonical[s.canonical].empty()) return std::nullopt;
  }
  canonical["x"] = {x};
  Column out = ColumnEvaluator(canonical, true).value(row.log_density);
  if (out.empty()) return std::nullopt;
  if (out.size() < rows) out.assign(rows, out[0]);
  return out;
}

}  // namespace lehr::math
