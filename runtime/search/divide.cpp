// Splits of a component. Without stored probabilities: the statistics of the moved items are computed, and the slice of
// component k in them is moved to the other component. The difference is added to the statistics of all items. With
// stored probabilities: the probabilities of the moved elements change component, and statistics are recomputed.
#include "runtime/search/divide.h"

#include <algorithm>
#include <numeric>

#include "runtime/search/component_edits.h"

namespace lehr {
namespace {

using Kind = ComponentArray::Kind;

constexpr std::size_t kSample = 1000;  // most items whose memberships are computed, one item at a time
constexpr double kMember = 0.3;        // fraction from which an element counts as a member

/// Returns the stage whose items an allocation assigns.
const StepRow& stage(const Engine& e, const Allocation& a) { return e.steps()[static_cast<std::size_t>(a.step)]; }

/// Empties the component that a split fills, if a merge must do so. Returns a status.
std::int32_t empty_target(const Engine& e, const Components& c, const SplitTarget& target) {
  return target.merged ? merge(e, c, target.merged->first, target.merged->second) : 0;
}

/// Splits by items: moves what the items `part` contribute to component k. Their contributions to other components
/// stay. Returns a status.
std::int32_t divide_items(const Engine& e, const SweepOptions& o, const Components& c, const Allocation& a,
                          const Arrays& state, std::size_t k, const SplitTarget& target,
                          const std::vector<std::int64_t>& part) {
  if (const std::int32_t status = e.call(stage(e, a).tables)) return status;
  if (const std::int32_t status = sum_items(e, o, stage(e, a), part)) return status;
  std::vector<std::vector<double>> moved;
  for (const ComponentArray& x : c.arrays) {
    if (x.kind != Kind::statistic) continue;
    const std::span<double> sums = e.reals(x.buffer);
    moved.emplace_back(sums.begin(), sums.end());
    move_slice(e, x, k, target.at);
    for (std::size_t i = 0; i < sums.size(); ++i)
      moved.back()[i] = sums[i] - moved.back()[i];
  }
  e.load(state);
  if (const std::int32_t status = empty_target(e, c, target)) return status;
  if (const std::int32_t status = copy_component(e, c, k, target.at)) return status;
  auto from = moved.begin();
  for (const ComponentArray& x : c.arrays) {
    if (x.kind != Kind::statistic) continue;
    const std::span<double> sums = e.reals(x.buffer);
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += (*from)[i];
    ++from;
  }
  return 0;
}

/// Splits by stored elements: moves their probabilities of component k. Pair probabilities, and sums over them, are
/// divided in the proportion of the moved elements. Returns a status.
std::int32_t divide_elements(const Engine& e, const Components& c, const Allocation& a, std::size_t k,
                             const SplitTarget& target, const std::vector<std::int64_t>& part) {
  e.gather();
  if (const std::int32_t status = empty_target(e, c, target)) return status;
  if (const std::int32_t status = copy_component(e, c, k, target.at)) return status;
  const std::span<double> x = e.reals(a.buffer);
  double whole = 0, moved = 0;
  for (std::size_t i = k; i < x.size(); i += c.count)
    whole += x[i];
  for (const std::int64_t i : part) {
    const std::size_t row = static_cast<std::size_t>(i) * c.count;
    moved += x[row + k];
    x[row + target.at] += std::exchange(x[row + k], 0.0);
  }
  const double fraction = whole > 0 ? moved / whole : 0;
  std::vector<std::vector<double>> pairs;
  const auto is_pair = [](const ComponentArray& s) { return s.kind == Kind::statistic && s.axes.size() > 1; };
  for (const ComponentArray& s : c.arrays) {
    if (s.kind == Kind::pair || is_pair(s)) move_slice(e, s, k, target.at, fraction);
    if (is_pair(s)) pairs.emplace_back(e.reals(s.buffer).begin(), e.reals(s.buffer).end());
  }
  if (a.sums >= 0) {
    if (const std::int32_t status = machine::sum_statistics(e.machine())) return status;
  }
  auto from = pairs.begin();
  for (const ComponentArray& s : c.arrays) {
    if (is_pair(s)) std::ranges::copy(*from++, e.reals(s.buffer).begin());
  }
  return 0;
}

/// Returns one entry of Memberships: the number of the element, then its fractions.
std::vector<double> membership_of(std::int64_t element, std::span<const double> fractions) {
  std::vector<double> out{static_cast<double>(element)};
  out.insert(out.end(), fractions.begin(), fractions.end());
  return out;
}

}  // namespace

Memberships memberships_of(const Engine& e, const SweepOptions& o, const Components& c, const Allocation& a, Rng& rng) {
  Memberships out;
  if (a.step < 0) {
    e.gather();
    const std::span<const double> x = e.reals(a.buffer);
    for (std::size_t i = 0; i < x.size(); i += c.count)
      out.push_back(membership_of(static_cast<std::int64_t>(i / c.count), x.subspan(i, c.count)));
    return out;
  }
  const auto items = static_cast<std::size_t>(e.extent(stage(e, a).items));
  std::vector<std::int64_t> order(items);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (items > kSample) {
    shuffle(rng, order);
    order.resize(kSample);
    std::ranges::sort(order);
  }
  if (e.call(stage(e, a).tables) != 0) return out;
  for (const std::int64_t i : order) {
    if (sum_items(e, o, stage(e, a), {&i, 1}) == 0) out.push_back(membership_of(i, component_sizes(e, c)));
  }
  return out;
}

std::size_t elements_of(const Engine& e, const Components& c, const Allocation& a) {
  return a.step < 0 ? e.reals(a.buffer).size() / c.count : static_cast<std::size_t>(e.extent(stage(e, a).items));
}

std::vector<std::int64_t> members_of(const Memberships& memberships, std::size_t k, const Components& c,
                                     std::size_t elements) {
  std::vector<std::int64_t> out;
  for (const std::vector<double>& row : memberships) {
    if (row.size() != c.count + 1 || !(row[0] >= 0 && row[0] < static_cast<double>(elements))) throw ReplayMismatch();
    const double fraction = row[k + 1];
    if (fraction > 0 && fraction >= kMember * std::accumulate(row.begin() + 1, row.end(), 0.0))
      out.push_back(static_cast<std::int64_t>(row[0]));
  }
  return out;
}

std::int32_t divide(const Engine& e, const SweepOptions& o, const Components& c, const Allocation& a,
                    const Arrays& state, std::size_t k, const SplitTarget& target,
                    const std::vector<std::int64_t>& part) {
  return a.step >= 0 ? divide_items(e, o, c, a, state, k, target, part) : divide_elements(e, c, a, k, target, part);
}

}  // namespace lehr
