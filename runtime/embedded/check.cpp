// Checks of data sets against the model: the sizes that follow from row offsets, and the values of every array. Data
// that pass cannot lead generated code outside its arrays. The checks are single passes without branches, so that they
// vectorise.
#include "runtime/embedded/state.h"

namespace lehr::embedded {
namespace {

/// Allowed deviation of a row's sum from 1, as in `lehr fit`; rows in single precision pass.
constexpr double kSimplexTolerance = 1e-4;
/// Allowed asymmetry of a matrix, relative to the entry or to the diagonals of its row and column; rounding of an
/// inverse causes it.
constexpr double kSymmetryTolerance = 1e-6;

/// Returns true unless x is NaN or infinite.
bool is_finite(double x) { return x - x == 0; }
/// Returns true for integers from 0 up to 2^53, from which on doubles cannot represent all counts.
bool is_count(double x) { return x >= 0 && x < 0x1p53 && static_cast<double>(static_cast<std::int64_t>(x)) == x; }
/// Returns the absolute value.
double size_of(double x) { return x < 0 ? -x : x; }

/// Returns true if every value passes `right`, or is missing (NaN) if that is allowed.
template <class Right>
bool all(std::span<const double> x, bool may_be_missing, const Right& right) {
  bool wrong = false;
  for (const double value : x)
    wrong |= !(right(value) || (may_be_missing && value != value));
  return !wrong;
}

/// Returns true if every number is in the domain; domains of integers are checked elsewhere.
bool in_domain(std::span<const double> x, Domain domain, bool missing) {
  switch (domain) {
    case Domain::positive:
      return all(x, missing, [](double v) { return v > 0 && is_finite(v); });
    case Domain::unit:
      return all(x, missing, [](double v) { return v > 0 && v < 1; });
    case Domain::count:
      return all(x, missing, is_count);
    case Domain::bit:
      return all(x, missing, [](double v) { return v == 0 || v == 1; });
    case Domain::spin:
      return all(x, missing, [](double v) { return v == -1 || v == 1; });
    case Domain::simplex:
      return all(x, missing, [](double v) { return v >= 0 && v <= 1 + kSimplexTolerance; });
    case Domain::open_simplex:
      return all(x, missing, [](double v) { return v > 0 && v <= 1 + kSimplexTolerance; });
    case Domain::real:
    case Domain::symmetric:
    case Domain::positive_definite:
    case Domain::category:
    case Domain::offsets:
      break;
  }
  return all(x, missing, is_finite);
}

/// Returns true if every category is below `limit`; -1 stands for a missing one.
bool categories(std::span<const std::int64_t> x, std::int64_t limit, bool missing) {
  bool wrong = false;
  for (const std::int64_t value : x)
    wrong |= value < (missing ? -1 : 0) || value >= limit;
  return !wrong;
}

/// Returns the element of the extent `rows` to which element `at` of the extent `axis` belongs; -1 if `axis` is not
/// nested in `rows`. It bisects the row offsets of each nested plate.
std::int64_t outer_of(const View& v, Extent axis, Extent rows, std::int64_t at) {
  while (axis != rows) {
    if (axis >= 0 || v.model.sizes[-(axis + 1)].rule != SizeRule::nested) return -1;
    const ArrayRow& row = v.model.arrays[v.model.sizes[-(axis + 1)].offsets];
    const std::span<const std::int64_t> offsets = v.integers(row.buffer);
    std::size_t low = 0, high = offsets.size() - 1;  // the row of the element is in [low, high)
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (offsets[middle] <= at ? low : high) = middle;
    }
    at = static_cast<std::int64_t>(low);
    axis = row.rows;
  }
  return at;
}

/// Returns true if every category that counts within a row of a nested plate is inside that row. Another array names
/// the row of each value, or it follows from the first axis.
bool inside_rows(const View& v, const ArrayRow& row) {
  const std::span<const std::int64_t> x = v.integers(row.buffer), offsets = v.integers(row.offsets);
  const std::span<const std::int64_t> named = row.row < 0 ? x : v.integers(row.row);
  const Extent first = v.model.axes[v.model.buffers[row.buffer].first_axis];
  const std::int64_t rows = v.extent(row.rows), width = static_cast<std::int64_t>(x.size()) / v.extent(first);
  bool wrong = named.size() != x.size();
  for (std::size_t i = 0; i < x.size() && !wrong; ++i) {
    const std::int64_t k = row.row < 0 ? outer_of(v, first, row.rows, static_cast<std::int64_t>(i) / width) : named[i];
    wrong = x[i] >= 0 && (k < 0 || k >= rows || x[i] >= offsets[unsigned_of(k) + 1] - offsets[unsigned_of(k)]);
  }
  return !wrong;
}

/// Returns true if the row sums to 1 within the tolerance, or has a missing entry.
bool sums_to_one(std::span<const double> row) {
  double total = 0;
  for (const double x : row)
    total += x;
  return total != total || size_of(total - 1) <= kSimplexTolerance;
}

/// Returns true if an n x n matrix is symmetric within the tolerance.
bool symmetric(std::span<const double> matrix, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double a = matrix[i * n + j], b = matrix[j * n + i], difference = size_of(a - b) / kSymmetryTolerance;
      const double diagonals = size_of(matrix[i * (n + 1)]) * size_of(matrix[j * (n + 1)]);
      if (difference > size_of(a) + size_of(b) && !(difference * difference <= diagonals)) return false;
    }
  }
  return true;
}

/// Returns true if elements of several entries are missing as a whole or not at all.
bool whole_rows(std::span<const double> x, std::size_t width) {
  for (std::size_t at = 0; at + width <= x.size(); at += width) {
    std::size_t missing = 0;
    for (const double value : x.subspan(at, width))
      missing += value != value;
    if (missing != 0 && missing != width) return false;
  }
  return true;
}

/// Computes the size of a slot in `sizes`, from another extent or from row offsets, which it checks.
Status derive_size(const View& v, const State& s, std::int64_t slot, std::int64_t* sizes);

/// Makes sure that the size of an extent is computed; it may depend on the offsets of the plate around it.
Status derive_extent(const View& v, const State& s, Extent e, std::int64_t* sizes) {
  return e >= 0 || sizes[-(e + 1)] >= 0 ? kOk : derive_size(v, s, -(e + 1), sizes);
}

Status derive_size(const View& v, const State& s, std::int64_t slot, std::int64_t* sizes) {
  const SizeRow& row = v.model.sizes[slot];
  if (row.rule == SizeRule::one_more) {
    if (const Status status = derive_extent(v, s, row.base, sizes)) return status;
    sizes[slot] = v.extent(row.base) + 1;
    return kOk;
  }
  const ArrayRow& array = v.model.arrays[row.offsets];
  if (const Status status = derive_extent(v, s, array.rows, sizes)) return status;
  const std::int64_t rows = v.extent(array.rows);
  const std::int64_t longest = row.base == 0 ? s.capacity[slot] : v.extent(row.base);
  const auto* const offsets = static_cast<const std::int64_t*>(v.table[array.buffer]);
  bool wrong = offsets[0] != 0;
  for (std::int64_t k = 0; k < rows; ++k) {
    std::int64_t length = 0;
    wrong |= __builtin_sub_overflow(offsets[k + 1], offsets[k], &length) || length < row.least || length > longest ||
             offsets[k + 1] > s.capacity[slot];
  }
  if (wrong || offsets[rows] < 1) return kOffsets;
  sizes[slot] = offsets[rows];
  return kOk;
}

}  // namespace

Status derive_sizes(const View& v, const State& s) {
  for (std::int64_t k = 0; k < v.model.size_count; ++k) {
    if (s.next_sizes[k] >= 0) continue;
    if (const Status status = derive_size(v, s, k, s.next_sizes)) return status;
  }
  return kOk;
}

Status check_array(const View& v, const ArrayRow& row) {
  const auto width = static_cast<std::size_t>(v.extent(row.width));
  if (row.domain == Domain::offsets) return kOk;  // derive_sizes has checked it
  if (row.domain == Domain::category) {
    const bool right = categories(v.integers(row.buffer), v.extent(row.limit), row.may_be_missing) &&
                       (row.offsets < 0 || inside_rows(v, row));
    return right ? kOk : kData;
  }
  const std::span<const double> x = v.reals(row.buffer);
  if (!in_domain(x, row.domain, row.may_be_missing)) return kData;
  if (row.may_be_missing == 1 && width > 1 && !whole_rows(x, width)) return kData;
  if (row.domain == Domain::simplex || row.domain == Domain::open_simplex) {
    for (std::size_t at = 0; at + width <= x.size(); at += width) {
      if (!sums_to_one(x.subspan(at, width))) return kData;
    }
  }
  if (row.domain == Domain::symmetric || row.domain == Domain::positive_definite) {
    for (std::size_t at = 0; at + width * width <= x.size(); at += width * width) {
      if (!symmetric(x.subspan(at, width * width), width)) return kData;
    }
  }
  return kOk;
}

}  // namespace lehr::embedded
