// Symbolic and numeric Cholesky factorisation, column by column (left-looking), and Takahashi's recursion for the
// entries of the inverse. Generated code does the same with the same arrays (compiler/lower/lower_sparse.cpp).
#include "compiler/math/sparse_pattern.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <limits>

namespace lehr::math {
namespace {

using Numbers = std::vector<std::int64_t>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Returns the position of each coordinate in an order of elimination with little fill.
Numbers elimination_order(std::int64_t size, const std::vector<SparsePattern::Pair>& pairs) {
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  std::vector<Eigen::Triplet<double, int>> entries;
  for (int k = 0; k < static_cast<int>(size); ++k)
    entries.emplace_back(k, k, 1.0);
  for (const auto& [a, b] : pairs) {
    entries.emplace_back(static_cast<int>(a), static_cast<int>(b), 1.0);
    entries.emplace_back(static_cast<int>(b), static_cast<int>(a), 1.0);
  }
  Matrix m(static_cast<int>(size), static_cast<int>(size));
  m.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(m, order);
  Numbers out(at(size));
  for (std::int64_t k = 0; k < size; ++k)
    out[at(order.indices()[static_cast<Eigen::Index>(k)])] = k;
  return out;
}

/// Sorts the pairs by column and row, by position, and removes repetitions and the diagonal.
void sort_entries(std::vector<SparsePattern::Pair>& pairs, const Numbers& order) {
  std::erase_if(pairs, [](const SparsePattern::Pair& p) { return p.first == p.second; });
  for (auto& [row, column] : pairs)
    if (order[at(row)] < order[at(column)]) std::swap(row, column);
  const auto key = [&](const SparsePattern::Pair& p) { return std::pair(order[at(p.second)], order[at(p.first)]); };
  std::ranges::sort(pairs, {}, key);
  const auto same = std::ranges::unique(pairs);
  pairs.erase(same.begin(), same.end());
}

/// Fills in the nonzeros of the factor by column. The rows of a column are those of the matrix and of the columns that
/// are its children in the elimination tree. Returns false if there are too many.
bool fill_columns(SparsePattern& p, std::int64_t most) {
  std::vector<Numbers> children(at(p.size));
  Numbers seen(at(p.size), -1);
  p.filled_first = {0};
  for (std::int64_t j = 0; j < p.size; ++j) {
    const std::size_t begin = p.filled_row.size();
    p.filled_row.push_back(j);
    seen[at(j)] = j;
    const auto add = [&](std::int64_t row) {
      if (std::exchange(seen[at(row)], j) != j) p.filled_row.push_back(row);
    };
    for (std::int64_t e = p.first[at(j)]; e < p.first[at(j + 1)]; ++e)
      add(p.row[at(e)]);
    for (const std::int64_t child : children[at(j)])
      for (std::int64_t e = p.filled_first[at(child)] + 1; e < p.filled_first[at(child + 1)]; ++e)
        add(p.filled_row[at(e)]);
    if (p.filled() > most) return false;
    std::sort(p.filled_row.begin() + static_cast<std::ptrdiff_t>(begin), p.filled_row.end());
    if (p.filled_row.size() > begin + 1) children[at(p.filled_row[begin + 1])].push_back(j);
    p.filled_first.push_back(p.filled());
  }
  return true;
}

/// Fills in the nonzeros left of the diagonal by row.
void fill_rows(SparsePattern& p) {
  p.left_first.assign(at(p.size + 1), 0);
  for (std::int64_t j = 0; j < p.size; ++j)
    for (std::int64_t e = p.filled_first[at(j)] + 1; e < p.filled_first[at(j + 1)]; ++e)
      ++p.left_first[at(p.filled_row[at(e)] + 1)];
  for (std::int64_t j = 0; j < p.size; ++j)
    p.left_first[at(j + 1)] += p.left_first[at(j)];
  Numbers next = p.left_first;
  p.left.resize(at(std::max<std::int64_t>(p.left_first.back(), 1)));  // no array is empty
  p.left_column.resize(p.left.size());
  for (std::int64_t j = 0; j < p.size; ++j) {
    for (std::int64_t e = p.filled_first[at(j)] + 1; e < p.filled_first[at(j + 1)]; ++e) {
      const std::int64_t to = next[at(p.filled_row[at(e)])]++;
      p.left[at(to)] = e;
      p.left_column[at(to)] = j;
    }
  }
}

/// Returns the place of a nonzero of the factor.
std::int64_t place_of(const SparsePattern& p, std::int64_t row, std::int64_t column) {
  const auto begin = p.filled_row.begin() + p.filled_first[at(column)],
             end = p.filled_row.begin() + p.filled_first[at(column + 1)];
  return std::lower_bound(begin, end, row) - p.filled_row.begin();
}

}  // namespace

std::optional<std::vector<SparsePattern::Pair>> SparsePattern::pairs_of(std::span<const double> rows,
                                                                        std::span<const double> columns,
                                                                        std::size_t size) {
  if (rows.size() != columns.size()) return std::nullopt;
  std::vector<Pair> out;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (const double x : {rows[k], columns[k]})
      if (!(x >= 0 && x < static_cast<double>(size) && x == std::trunc(x))) return std::nullopt;
    out.emplace_back(static_cast<std::int64_t>(rows[k]), static_cast<std::int64_t>(columns[k]));
  }
  return out;
}

SparsePattern SparsePattern::make(std::int64_t size, std::vector<Pair> pairs) {
  return *make(size, std::move(pairs), std::numeric_limits<std::int64_t>::max());
}

std::optional<SparsePattern> SparsePattern::make(std::int64_t size, std::vector<Pair> pairs, std::int64_t most_filled) {
  SparsePattern out;
  out.size = size;
  std::ranges::sort(pairs);
  const auto same = std::ranges::unique(pairs);
  pairs.erase(same.begin(), same.end());
  out.order = elimination_order(size, pairs);
  sort_entries(pairs, out.order);
  for (std::int64_t k = 0; k < size; ++k)
    out.entries.emplace_back(k, k);
  std::ranges::copy(pairs, std::back_inserter(out.entries));
  for (const auto& [row, column] : out.entries)
    out.row.push_back(out.order[at(row)]);
  std::size_t e = at(size);
  for (std::int64_t j = 0; j <= size; ++j) {
    while (e < out.entries.size() && out.order[at(out.entries[e].second)] < j)
      ++e;
    out.first.push_back(static_cast<std::int64_t>(e));
  }
  if (!fill_columns(out, most_filled)) return std::nullopt;
  fill_rows(out);
  for (std::size_t k = 0; k < out.entries.size(); ++k)
    out.place.push_back(place_of(out, out.row[k], out.order[at(out.entries[k].second)]));
  for (std::int64_t j = 0; j < size; ++j) {
    const auto length = static_cast<double>(out.filled_first[at(j + 1)] - out.filled_first[at(j)]);
    out.operations += 0.5 * length * length;
    for (std::int64_t k = out.filled_first[at(j)] + 1; k < out.filled_first[at(j + 1)]; ++k) {
      const std::int64_t column = out.filled_row[at(k)];
      out.operations += 2 * static_cast<double>(out.filled_first[at(column + 1)] - out.filled_first[at(column)]);
    }
  }
  return out;
}

std::optional<std::size_t> SparsePattern::find(std::int64_t a, std::int64_t b) const {
  if (a == b) return at(a);
  const std::int64_t x = order[at(a)], y = order[at(b)], column = std::min(x, y), wanted = std::max(x, y);
  const auto begin = row.begin() + first[at(column)], end = row.begin() + first[at(column + 1)];
  const auto found = std::lower_bound(begin, end, wanted);
  if (found == end || *found != wanted) return std::nullopt;
  return static_cast<std::size_t>(found - row.begin());
}

std::uint64_t SparsePattern::digest() const {
  // FNV-1a over the coordinates.
  std::uint64_t out = 14695981039346656037U;
  const auto add = [&](std::int64_t x) { out = (out ^ static_cast<std::uint64_t>(x)) * 1099511628211U; };
  for (const auto& [a, b] : entries) {
    add(a);
    add(b);
  }
  return out;
}

SparseNormal::SparseNormal(const SparsePattern& pattern, std::span<const double> precision) : p_(pattern) {
  factor_.assign(p_.filled_row.size(), 0);
  for (std::size_t e = 0; e < precision.size(); ++e)
    factor_[at(p_.place[e])] = precision[e];
  std::vector<double> work(at(p_.size));
  for (std::int64_t j = 0; j < p_.size && proper_; ++j) {
    const std::int64_t begin = p_.filled_first[at(j)], end = p_.filled_first[at(j + 1)];
    for (std::int64_t k = begin; k < end; ++k)
      work[at(p_.filled_row[at(k)])] = factor_[at(k)];
    for (std::int64_t l = p_.left_first[at(j)]; l < p_.left_first[at(j + 1)]; ++l) {
      const std::int64_t from = p_.left[at(l)];
      const double times = factor_[at(from)];
      for (std::int64_t k = from; k < p_.filled_first[at(p_.left_column[at(l)] + 1)]; ++k)
        work[at(p_.filled_row[at(k)])] -= times * factor_[at(k)];
    }
    const double pivot = work[at(j)];
    // Written so that NaN fails, too.
    proper_ = pivot > 0 && std::isfinite(pivot);
    factor_[at(begin)] = std::sqrt(pivot);
    for (std::int64_t k = begin + 1; k < end; ++k)
      factor_[at(k)] = work[at(p_.filled_row[at(k)])] / factor_[at(begin)];
  }
}

std::vector<double> SparseNormal::solved(std::span<const std::pair<std::size_t, double>> weights) const {
  std::vector<double> y(at(p_.size));
  std::int64_t from = p_.size;
  for (const auto& [coordinate, w] : weights) {
    const std::int64_t position = p_.order[coordinate];
    y[at(position)] += w;
    from = std::min(from, position);
  }
  for (std::int64_t j = from; j < p_.size; ++j) {
    if (y[at(j)] == 0) continue;
    const std::int64_t begin = p_.filled_first[at(j)];
    y[at(j)] /= factor_[at(begin)];
    for (std::int64_t k = begin + 1; k < p_.filled_first[at(j + 1)]; ++k)
      y[at(p_.filled_row[at(k)])] -= factor_[at(k)] * y[at(j)];
  }
  return y;
}

double SparseNormal::variance(std::span<const std::pair<std::size_t, double>> weights) const {
  double out = 0;
  for (const double x : solved(weights))
    out += x * x;
  return out;
}

double SparseNormal::covariance(std::size_t a, std::size_t b) const {
  const std::pair<std::size_t, double> of_a{a, 1}, of_b{b, 1};
  const std::vector<double> x = solved({&of_a, 1}), y = solved({&of_b, 1});
  double out = 0;
  for (std::size_t k = 0; k < x.size(); ++k)
    out += x[k] * y[k];
  return out;
}

std::vector<double> SparseNormal::covariances() const {
  std::vector<double> inverse(factor_.size()), column(at(p_.size)), result(at(p_.size));
  for (std::int64_t j = p_.size - 1; j >= 0; --j) {
    const std::int64_t begin = p_.filled_first[at(j)], end = p_.filled_first[at(j + 1)];
    const double pivot = factor_[at(begin)];
    for (std::int64_t k = begin + 1; k < end; ++k) {
      column[at(p_.filled_row[at(k)])] = factor_[at(k)] / pivot;
      result[at(p_.filled_row[at(k)])] = 0;
    }
    for (std::int64_t k = begin + 1; k < end; ++k) {
      const std::int64_t i = p_.filled_row[at(k)], diagonal = p_.filled_first[at(i)];
      const double own = column[at(i)];
      double sum = inverse[at(diagonal)] * own;
      for (std::int64_t l = diagonal + 1; l < p_.filled_first[at(i + 1)]; ++l) {
        sum += inverse[at(l)] * column[at(p_.filled_row[at(l)])];
        result[at(p_.filled_row[at(l)])] += inverse[at(l)] * own;
      }
      result[at(i)] += sum;
    }
    double variance = 1 / (pivot * pivot);
    for (std::int64_t k = begin + 1; k < end; ++k) {
      const std::int64_t i = p_.filled_row[at(k)];
      inverse[at(k)] = -result[at(i)];
      variance += result[at(i)] * column[at(i)];
      column[at(i)] = 0;
    }
    inverse[at(begin)] = variance;
  }
  std::vector<double> out;
  for (const std::int64_t place : p_.place)
    out.push_back(inverse[at(place)]);
  return out;
}

std::vector<double> SparseNormal::draw(Rng& rng) const {
  std::vector<double> x(at(p_.size)), out(at(p_.size));
  for (double& z : x)
    z = draw_normal(rng);
  for (std::int64_t j = p_.size - 1; j >= 0; --j) {
    const std::int64_t begin = p_.filled_first[at(j)];
    double sum = x[at(j)];
    for (std::int64_t k = begin + 1; k < p_.filled_first[at(j + 1)]; ++k)
      sum -= factor_[at(k)] * x[at(p_.filled_row[at(k)])];
    x[at(j)] = sum / factor_[at(begin)];
  }
  for (std::size_t c = 0; c < out.size(); ++c)
    out[c] = x[at(p_.order[c])];
  return out;
}

}  // namespace lehr::math
