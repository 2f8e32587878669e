// Feature columns from observations. Numbers become one column each; categories, and too many numbers, are hashed to
// 256 columns with random signs (Weinberger et al. 2009), so that inner products are preserved on average. Nodes of a
// network have places by their ties. The parts from several arrays are put side by side and standardised.
#include "runtime/search/features.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>

#include "runtime/search/ties.h"

namespace lehr {
namespace {

using machine::FeatureArrayRow;
using machine::FeatureLayout;

/// The largest number of columns of one array.
constexpr Eigen::Index kColumns = 256;

/// Returns the column of a feature and the sign of its entries; with `hashed`, both are pseudo-random.
std::pair<Eigen::Index, double> column(std::uint64_t feature, bool hashed) {
  if (!hashed) return {static_cast<Eigen::Index>(feature), 1.0};
  std::uint64_t h = (feature + 1) * 0x9E3779B97F4A7C15ULL;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9ULL;
  h ^= h >> 32;
  return {static_cast<Eigen::Index>(h % static_cast<std::uint64_t>(kColumns)), (h >> 40 & 1) != 0 ? 1.0 : -1.0};
}

/// Returns true if a value is missing: NaN, or a negative category.
bool is_missing(double x, bool category) { return std::isnan(x) || (category && x < 0); }

/// Features of elements with equally many values each. Missing values add nothing.
template <class Value>
Columns rectangular(std::size_t elements, std::size_t width, bool category, const Value& value) {
  const bool hashed = category || static_cast<Eigen::Index>(width) > kColumns;
  Columns out =
      Columns::Zero(static_cast<Eigen::Index>(elements), hashed ? kColumns : static_cast<Eigen::Index>(width));
  for (std::size_t e = 0; e < elements; ++e) {
    for (std::size_t i = 0; i < width; ++i) {
      const double x = value(e * width + i);
      if (is_missing(x, category)) continue;
      const auto feature = static_cast<std::uint64_t>(category ? i * 1000003 + static_cast<std::size_t>(x + 1) : i);
      const auto [c, sign] = column(feature, hashed);
      out(static_cast<Eigen::Index>(e), c) += sign * (category ? 1.0 : x);
    }
  }
  return out;
}

/// Features of rows of different lengths: relative frequencies of categories, or means of numbers. `first` has the
/// position of the first value of each element, and the end; `inner` is the number of values of one entry of a row.
template <class Value>
Columns ragged(const std::vector<std::size_t>& first, std::size_t inner, bool category, const Value& value) {
  const bool hashed = category || static_cast<Eigen::Index>(inner) > kColumns;
  const std::size_t rows = first.size() - 1;
  Columns out = Columns::Zero(static_cast<Eigen::Index>(rows), hashed ? kColumns : static_cast<Eigen::Index>(inner));
  for (std::size_t e = 0; e < rows; ++e) {
    const double weight =
        static_cast<double>(inner) / std::max<double>(1, static_cast<double>(first[e + 1] - first[e]));
    for (std::size_t i = first[e]; i < first[e + 1]; ++i) {
      const double x = value(i);
      if (is_missing(x, category)) continue;
      const auto [c, sign] = column(category ? static_cast<std::uint64_t>(x + 1) : i % inner, hashed);
      out(static_cast<Eigen::Index>(e), c) += weight * sign * (category ? 1.0 : x);
    }
  }
  return out;
}

/// The observations of the elements of one subject.
class Observations {
 public:
  Observations(const Engine& e, const machine::ElementSetRow& subject)
      : e_(e), elements_(product(subject.first_axis, subject.axes)) {}

  /// Adds the features of arrays of data; ignores one that does not fit the others.
  void add(std::span<const FeatureArrayRow* const> rows) {
    std::map<std::int64_t, std::vector<const FeatureArrayRow*>> named;  // by the array of values
    for (const FeatureArrayRow* row : rows) {
      if (row->form == FeatureLayout::named) {
        named[row->buffer].push_back(row);
        continue;
      }
      std::optional<Columns> part = of(*row);
      if (part && (parts_.empty() || parts_.front().rows() == part->rows())) parts_.push_back(std::move(*part));
    }
    for (const auto& [buffer, of_buffer] : named)
      add_named(of_buffer);
  }

  /// Returns all columns, each with mean 0 and variance 1 (or 0, if it is constant).
  Columns standardised() const {
    Eigen::Index columns = 0;
    for (const Columns& p : parts_)
      columns += p.cols();
    Columns out(parts_.empty() ? 0 : parts_.front().rows(), columns);
    Eigen::Index at = 0;
    for (const Columns& p : parts_) {
      out.middleCols(at, p.cols()) = p;
      at += p.cols();
    }
    for (Eigen::Index c = 0; c < out.cols(); ++c) {
      out.col(c).array() -= out.col(c).mean();
      const double sd =
          std::sqrt(out.col(c).squaredNorm() / static_cast<double>(std::max<Eigen::Index>(1, out.rows())));
      if (sd > 0) out.col(c) /= sd;
    }
    return out;
  }

 private:
  /// Returns the product of some extents of Model::axes.
  std::size_t product(std::int64_t first, std::int64_t count) const {
    std::size_t n = 1;
    for (std::int64_t k = 0; k < count; ++k)
      n *= static_cast<std::size_t>(e_.extent(e_.model().axes[first + k]));
    return n;
  }

  /// Returns the features of an array over the elements; none if its length does not fit.
  std::optional<Columns> of(const FeatureArrayRow& row) const {
    const bool category = e_.model().buffers[row.buffer].integers != 0;
    const std::size_t length = category ? e_.integers(row.buffer).size() : e_.reals(row.buffer).size();
    const auto value = [&](std::size_t i) {
      return category ? static_cast<double>(e_.integers(row.buffer)[i]) : e_.reals(row.buffer)[i];
    };
    if (row.form == FeatureLayout::ragged) {
      const std::size_t inner = product(row.first_inner, row.inners);
      std::vector<std::size_t> first;  // position of the first value of each element, and the end
      for (std::int64_t o : e_.integers(row.by))
        first.push_back(static_cast<std::size_t>(o) * inner);
      return ragged(first, inner, category, value);
    }
    if (elements_ == 0 || length % elements_ != 0) return std::nullopt;
    return rectangular(elements_, length / elements_, category, value);
  }

  /// Adds columns for values whose data name the element of each: places by ties where they name another element too,
  /// otherwise the mean of an element's values, and the root of their mean square. `rows` are of one array of values.
  void add_named(std::span<const FeatureArrayRow* const> rows) {
    const std::span<const double> x = e_.reals(rows.front()->buffer);
    const auto elements = static_cast<Eigen::Index>(elements_);
    if (x.empty() || (!parts_.empty() && parts_.front().rows() != elements)) return;
    if (rows.front()->other < 0) {
      parts_.push_back(moments_of(e_.integers(rows.front()->by), x));
      return;
    }
    const double usual = usual_value(x);
    // Every index that names a partner has columns of its own, but each direction of a network has the same ones.
    std::vector<Tie> ties;
    std::vector<std::int64_t> by;  // of the rows that are in
    std::int64_t columns = 0;
    bool same = false;
    for (const FeatureArrayRow* row : rows) {
      if (std::ranges::find(by, row->other) != by.end()) {
        same = true;
        continue;
      }
      by.push_back(row->by);
      const std::span<const std::int64_t> of = e_.integers(row->by), with = e_.integers(row->other);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(x[i]) || of[i] < 0 || with[i] < 0 || x[i] == usual) continue;
        ties.push_back({of[i], columns + with[i], x[i] - usual});
      }
      columns += e_.extent(row->feature_count);
    }
    same = same && columns == static_cast<std::int64_t>(elements_);
    parts_.push_back(places_by_ties(static_cast<std::int64_t>(elements_), columns, std::move(ties), same));
  }

  /// Returns the value that most values have, so that the others alone are ties; their mean if there is none; 0 if all
  /// are equal.
  static double usual_value(std::span<const double> x) {
    std::vector<double> sorted;
    std::ranges::copy_if(x, std::back_inserter(sorted), [](double value) { return !std::isnan(value); });
    if (sorted.empty()) return 0;
    const auto middle = sorted.begin() + std::ssize(sorted) / 2;
    std::ranges::nth_element(sorted, middle);
    const auto equal = std::ranges::count(sorted, *middle);
    if (equal == std::ssize(sorted)) return 0;
    if (2 * equal > std::ssize(sorted)) return *middle;
    return std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  }

  /// Returns the mean of the values of each element and the root of their mean square, 0 for elements without values.
  Columns moments_of(std::span<const std::int64_t> of, std::span<const double> x) const {
    Columns out = Columns::Zero(static_cast<Eigen::Index>(elements_), 2);
    std::vector<double> counts(elements_, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]) || of[i] < 0) continue;
      out(of[i], 0) += x[i];
      out(of[i], 1) += x[i] * x[i];
      ++counts[static_cast<std::size_t>(of[i])];
    }
    for (std::size_t e = 0; e < elements_; ++e) {
      const auto row = static_cast<Eigen::Index>(e);
      out.row(row) /= std::max(1.0, counts[e]);
      out(row, 1) = std::sqrt(out(row, 1));
    }
    return out;
  }

  const Engine& e_;
  std::size_t elements_;
  std::vector<Columns> parts_;
};

}  // namespace

Columns features_of(const Engine& e, std::int64_t subject, bool covariates) {
  const machine::ElementSetRow& row = e.model().subjects[subject];
  std::vector<const FeatureArrayRow*> rows;
  for (std::int64_t k = row.first_columns; k < row.first_columns + row.columns; ++k) {
    if (covariates || !e.model().columns[k].covariate) rows.push_back(&e.model().columns[k]);
  }
  Observations observations(e, row);
  observations.add(rows);
  return observations.standardised();
}

}  // namespace lehr
