// Scans data over pairs of elements. Each question takes one or two passes over the cells.
#include "compiler/schedule/pair_data.h"

#include <array>
#include <cmath>
#include <limits>

namespace lehr::schedule {

std::int64_t PairData::cells(const Pairs& pairs) const {
  if (pairs.named_by) return std::ssize(values(pairs.named_by->first));
  const std::int64_t n = data_.sizes[pairs.elements.index()];
  return n * n;
}

const std::vector<double>& PairData::values(const DataSource& source) const {
  if (const auto* given = std::get_if<model::GivenId>(&source)) return data_.givens[given->index()].values;
  return data_.observed[std::get<model::VariableId>(source).index()].values;
}

std::pair<std::int64_t, std::int64_t> PairData::elements(const Pairs& pairs, std::int64_t cell) const {
  if (!pairs.named_by) {
    const std::int64_t n = data_.sizes[pairs.elements.index()];
    return {cell / n, cell % n};
  }
  const auto at = static_cast<std::size_t>(cell);
  return {static_cast<std::int64_t>(values(pairs.named_by->first)[at]),
          static_cast<std::int64_t>(values(pairs.named_by->second)[at])};
}

bool PairData::counts(const Pairs& pairs, std::size_t cell) const {
  return !pairs.present || !std::isnan(values(*pairs.present)[cell]);
}

std::optional<double> PairData::common_value(const Pairs& pairs, const DataSource& source) const {
  const std::vector<double>& x = values(source);
  // The value that is left when pairs of different values are taken away is the only one that can be in the majority.
  double candidate = 0;
  std::size_t votes = 0;
  for (std::size_t cell = 0; cell < x.size(); ++cell) {
    if (!counts(pairs, cell)) continue;
    if (votes == 0) candidate = x[cell];
    votes += x[cell] == candidate ? 1 : std::size_t(-1);
  }
  return votes > 0 && std::isfinite(candidate) ? std::optional(candidate) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> PairData::others(const Pairs& pairs, const DataSource& source, double common,
                                                          std::int64_t most) const {
  const std::vector<double>& x = values(source);
  std::vector<std::int64_t> out;
  for (std::size_t cell = 0; cell < x.size(); ++cell) {
    if (x[cell] == common || !counts(pairs, cell)) continue;
    if (std::isnan(x[cell]) || std::ssize(out) == most) return std::nullopt;
    out.push_back(static_cast<std::int64_t>(cell));
  }
  return out;
}

std::optional<Coverage> PairData::coverage(const Pairs& pairs, std::int64_t most) const {
  const std::int64_t n = data_.sizes[pairs.elements.index()], listed = cells(pairs);
  if (!pairs.named_by && !pairs.present) return Coverage{true, true, true, {}};
  // All pairs of elements that are in no region and not in the data need no time, but their counts need memory.
  if (n <= 0 || n > (std::int64_t(1) << 20) || n * n > 8 * (listed + 1)) return std::nullopt;
  std::vector<std::uint8_t> times(static_cast<std::size_t>(n * n));
  for (std::int64_t cell = 0; cell < listed; ++cell) {
    if (!counts(pairs, static_cast<std::size_t>(cell))) continue;
    const auto [first, second] = elements(pairs, cell);
    if (first < 0 || first >= n || second < 0 || second >= n) return std::nullopt;
    std::uint8_t& x = times[static_cast<std::size_t>(first * n + second)];
    if (++x == std::numeric_limits<std::uint8_t>::max()) return std::nullopt;
  }
  // The regions: 0 the diagonal, 1 above it, 2 below.
  const auto region = [](std::int64_t first, std::int64_t second) -> std::size_t {
    return first == second ? 0 : first < second ? 1 : 2;
  };
  std::array<std::int64_t, 3> none{}, once{};
  for (std::int64_t first = 0; first < n; ++first) {
    for (std::int64_t second = 0; second < n; ++second) {
      const std::uint8_t x = times[static_cast<std::size_t>(first * n + second)];
      none[region(first, second)] += x == 0;
      once[region(first, second)] += x == 1;
    }
  }
  Coverage out{once[0] > none[0], once[1] > none[1], once[2] > none[2], {}};
  const std::array<bool, 3> covered{out.diagonal, out.above, out.below};
  for (std::int64_t first = 0; first < n; ++first) {
    for (std::int64_t second = 0; second < n; ++second) {
      const double excess = static_cast<double>(times[static_cast<std::size_t>(first * n + second)]) -
                            (covered[region(first, second)] ? 1 : 0);
      if (excess == 0) continue;
      if (std::ssize(out.exceptions) == most) return std::nullopt;
      out.exceptions.push_back({first, second, excess});
    }
  }
  return out;
}

}  // namespace lehr::schedule
