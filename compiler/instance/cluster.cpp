// Clusters of items by what was observed of them, as starts.
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "compiler/instance/start.h"

namespace lehr {
namespace {

using Table = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index kColumns = 256;
constexpr int kLloyd = 20;

/// Feature hashing with signs (Weinberger et al. 2009) once there are more features than columns.
std::pair<Eigen::Index, double> column(std::uint64_t feature, bool hashed) {
  if (!hashed) return {static_cast<Eigen::Index>(feature), 1.0};
  std::uint64_t h = (feature + 1) * 0x9E3779B97F4A7C15ULL;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9ULL;
  h ^= h >> 32;
  return {static_cast<Eigen::Index>(h % static_cast<std::uint64_t>(kColumns)), (h >> 40 & 1) != 0 ? 1.0 : -1.0};
}

class Observations {
 public:
  /// With `covariates`, givens are columns like what was observed.
  Observations(const Started& s, const std::vector<model::PlateId>& axes, bool covariates = false)
      : s_(s), axes_(axes), covariates_(covariates) {}

  /// One row an element; columns standardised. No columns where nothing was observed.
  Table features() {
    Eigen::Index elements = 0;
    std::vector<Table> parts;
    for (std::size_t k = 0; k < s_.model.variables.size(); ++k) {
      const model::Variable& v = s_.model.variables[k];
      const bool numbers = v.clamped && !v.value_plate;
      if (v.observed || numbers) add(v, s_.lowered.data.observed[k], parts);
    }
    for (std::size_t k = 0; k < s_.model.givens.size() && covariates_; ++k)
      add(s_.model.givens[k], s_.lowered.data.givens[k], parts);
    if (covariates_ && axes_.size() == 1) add_named(parts);
    if (!parts.empty()) elements = parts.front().rows();
    Eigen::Index columns = 0;
    for (const Table& p : parts)
      columns += p.cols();
    Table out(elements, columns);
    Eigen::Index at = 0;
    for (const Table& p : parts) {
      out.middleCols(at, p.cols()) = p;
      at += p.cols();
    }
    for (Eigen::Index c = 0; c < out.cols(); ++c) {
      out.col(c).array() -= out.col(c).mean();
      const double sd = std::sqrt(out.col(c).squaredNorm() / static_cast<double>(std::max<Eigen::Index>(1, elements)));
      if (sd > 0) out.col(c) /= sd;
    }
    return out;
  }

 private:
  model::PlateId set(model::PlateId p) const { return s_.model[p].set; }

  template <class Named>
  void add(const Named& v, loops::BufferId buffer, std::vector<Table>& parts) const {
    if (v.axes.size() < axes_.size() || !same_lead(v)) return;
    std::optional<Table> part = of(v, static_cast<std::int64_t>(buffer.index()));
    if (part && (parts.empty() || parts.front().rows() == part->rows())) parts.push_back(std::move(*part));
  }

  /// What was observed where data name an element (a tie of a node), by what else they name there (the other node).
  void add_named(std::vector<Table>& parts) const {
    const auto rows = static_cast<Eigen::Index>(s_.plate_sizes[set(axes_[0]).index()]);
    for (std::size_t a = 0; a < s_.model.givens.size(); ++a) {
      const model::Given& by = s_.model.givens[a];
      if (!by.value_plate || set(*by.value_plate) != set(axes_[0])) continue;
      for (std::size_t k = 0; k < s_.model.variables.size(); ++k) {
        const model::Variable& v = s_.model.variables[k];
        if (!v.observed || v.value_plate || !v.event.empty() || v.axes != by.axes) continue;
        Table part = Table::Zero(rows, kColumns);
        for (std::size_t b = 0; b < s_.model.givens.size(); ++b) {
          const model::Given& other = s_.model.givens[b];
          if (b == a || !other.value_plate || other.axes != by.axes) continue;
          const bool hashed = s_.plate_sizes[set(*other.value_plate).index()] > kColumns;
          count_named(s_.lowered.data.givens[a], s_.lowered.data.givens[b], s_.lowered.data.observed[k], hashed, part);
        }
        if (parts.empty() || parts.front().rows() == rows) parts.push_back(std::move(part));
      }
    }
  }

  void count_named(loops::BufferId row, loops::BufferId other, loops::BufferId value, bool hashed, Table& to) const {
    const auto at = [](loops::BufferId b) { return static_cast<std::int64_t>(b.index()); };
    const std::span<const std::int64_t> rows = s_.engine.integers(at(row)), others = s_.engine.integers(at(other));
    const std::span<const double> x = s_.engine.reals(at(value));
    for (std::size_t e = 0; e < x.size(); ++e) {
      if (std::isnan(x[e]) || rows[e] < 0 || others[e] < 0) continue;
      const auto [c, sign] = column(static_cast<std::uint64_t>(others[e]), hashed);
      to(static_cast<Eigen::Index>(rows[e]), c) += sign * x[e];
    }
  }

  template <class Named>
  bool same_lead(const Named& v) const {
    return std::equal(axes_.begin(), axes_.end(), v.axes.begin(),
                      [&](model::PlateId a, model::PlateId b) { return set(a) == set(b); });
  }

  template <class Named>
  std::optional<Table> of(const Named& v, std::int64_t buffer) const {
    const bool category = v.value_plate.has_value();
    const std::size_t length = category ? s_.engine.integers(buffer).size() : s_.engine.reals(buffer).size();
    const auto value = [&](std::size_t i) {
      return category ? static_cast<double>(s_.engine.integers(buffer)[i]) : s_.engine.reals(buffer)[i];
    };
    std::vector<std::size_t> first;  // packed position of the first value of each element, and the end
    if (v.axes.size() > axes_.size() && s_.model[set(v.axes[axes_.size()])].parent) {
      if (axes_.size() != 1 || v.axes.size() != 2) return std::nullopt;
      std::size_t inner = 1;
      for (model::PlateId p : v.event)
        inner *= static_cast<std::size_t>(s_.plate_sizes[set(p).index()]);
      for (std::int64_t o :
           s_.engine.integers(static_cast<std::int64_t>(s_.lowered.data.offsets[set(v.axes[1]).index()].index())))
        first.push_back(static_cast<std::size_t>(o) * inner);
      return ragged(first, inner, category, value);
    }
    std::size_t elements = 1;
    for (model::PlateId p : axes_)
      elements = s_.model[set(p)].parent ? static_cast<std::size_t>(s_.plate_sizes[set(p).index()])
                                         : elements * static_cast<std::size_t>(s_.plate_sizes[set(p).index()]);
    if (elements == 0 || length % elements != 0) return std::nullopt;
    return rectangular(elements, length / elements, category, value);
  }

  template <class Value>
  static Table rectangular(std::size_t elements, std::size_t width, bool category, const Value& value) {
    const bool hashed = category || static_cast<Eigen::Index>(width) > kColumns;
    Table out = Table::Zero(static_cast<Eigen::Index>(elements), hashed ? kColumns : static_cast<Eigen::Index>(width));
    for (std::size_t e = 0; e < elements; ++e) {
      for (std::size_t i = 0; i < width; ++i) {
        const double x = value(e * width + i);
        if (std::isnan(x)) continue;
        const auto feature = static_cast<std::uint64_t>(category ? i * 1000003 + static_cast<std::size_t>(x + 1) : i);
        const auto [c, sign] = column(feature, hashed);
        out(static_cast<Eigen::Index>(e), c) += sign * (category ? 1.0 : x);
      }
    }
    return out;
  }

  /// Rows of different lengths: shares of categories, or means.
  template <class Value>
  static Table ragged(const std::vector<std::size_t>& first, std::size_t inner, bool category, const Value& value) {
    const bool hashed = category || static_cast<Eigen::Index>(inner) > kColumns;
    const std::size_t rows = first.size() - 1;
    Table out = Table::Zero(static_cast<Eigen::Index>(rows), hashed ? kColumns : static_cast<Eigen::Index>(inner));
    for (std::size_t e = 0; e < rows; ++e) {
      const double share =
          static_cast<double>(inner) / std::max<double>(1, static_cast<double>(first[e + 1] - first[e]));
      for (std::size_t i = first[e]; i < first[e + 1]; ++i) {
        const double x = value(i);
        if (std::isnan(x)) continue;
        const auto [c, sign] = column(category ? static_cast<std::uint64_t>(x + 1) : i % inner, hashed);
        out(static_cast<Eigen::Index>(e), c) += share * sign * (category ? 1.0 : x);
      }
    }
    return out;
  }

  const Started& s_;
  const std::vector<model::PlateId>& axes_;
  bool covariates_;
};

/// Seeds far from each other: each next one with probability proportional to its squared distance.
Table plus_plus(const Table& x, Eigen::Index k, Rng& rng) {
  Table centres(k, x.cols());
  Eigen::VectorXd distance = Eigen::VectorXd::Constant(x.rows(), 1.0);
  for (Eigen::Index c = 0; c < k; ++c) {
    double left = draw_uniform(rng) * distance.sum();
    Eigen::Index chosen = 0;
    while (chosen + 1 < x.rows() && left >= distance[chosen])
      left -= distance[chosen++];
    centres.row(c) = x.row(chosen);
    const Eigen::VectorXd to = (x.rowwise() - centres.row(c)).rowwise().squaredNorm();
    distance = c == 0 ? to : distance.cwiseMin(to).eval();
  }
  return centres;
}

}  // namespace

Features features_of(const Started& s, const std::vector<model::PlateId>& axes) {
  const Table x = Observations(s, axes, true).features();
  return {static_cast<std::size_t>(x.cols()), {x.data(), x.data() + x.size()}};
}

std::vector<std::int64_t> cluster(const Started& s, const std::vector<model::PlateId>& axes, std::int64_t k, Rng& rng) {
  const Table x = Observations(s, axes).features();
  if (x.cols() == 0 || x.rows() == 0) return {};
  Table centres = plus_plus(x, k, rng);
  std::vector<std::int64_t> out(static_cast<std::size_t>(x.rows()), -1);
  for (int round = 0; round < kLloyd; ++round) {
    bool moved = false;
    Table sums = Table::Zero(k, x.cols());
    Eigen::VectorXd counts = Eigen::VectorXd::Zero(k);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      Eigen::Index nearest = 0;
      (centres.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
      moved = moved || out[static_cast<std::size_t>(i)] != nearest;
      out[static_cast<std::size_t>(i)] = nearest;
      sums.row(nearest) += x.row(i);
      counts[nearest] += 1;
    }
    if (!moved) break;
    for (Eigen::Index c = 0; c < k; ++c) {
      if (counts[c] > 0) centres.row(c) = sums.row(c) / counts[c];
    }
  }
  return out;
}

}  // namespace lehr
