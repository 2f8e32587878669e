// Sums over data that do not depend on the block that they are for (hoisted_sums.h). This file decides which uses can
// be summed ahead, takes their common weights out, and emits the code that sums and reads them.
#include <algorithm>

#include "runtime/threshold.h"

#include "compiler/lower/hoisted_sums.h"

namespace lehr::loops {
namespace {

/// The most elements of a block in one item that have sums ahead.
constexpr Threshold<std::int64_t> kMostElements("lower_hoisted_sums.most_elements", 256);
/// A sum over a constant plate goes ahead if it has at least so many elements.
constexpr Threshold<std::int64_t> kFewestParts("lower_hoisted_sums.fewest_parts", 8);

}  // namespace

bool HoistedSums::can_hoist(BlockId b, const ArrayTerm& t, std::size_t atom) const {
  if (!t.more.empty() || (t.array && layout_.residual.contains(*t.array))) return false;
  const std::vector<Atom>& atoms = t.term->atoms;
  for (std::size_t k = 0; k < atoms.size(); ++k)
    if (k != atom && s_.conditionals.block_of[atoms[k].variable.index()] == b) return false;
  std::set<IndexVarId> own = terms_.index_variables(atoms[atom].axes);
  own.merge(terms_.index_variables(atoms[atom].event));
  return std::ranges::any_of(t.term->index_vars, [&](IndexVarId x) {
    const std::int64_t length = constant_length(a_[x].plate);
    return !own.contains(x) && (length < 0 || length >= options_.thresholds[kFewestParts]);
  });
}

std::vector<Weight> HoistedSums::own_weights(const ArrayTerm& t) const {
  std::vector<Weight> out = t.weights;
  if (!s_.tempered[t.term->origin]) std::erase(out, Weight::local_data);
  return out;
}

std::optional<HoistedSums::Hoisted> HoistedSums::take(BlockId b, Uses& uses, const std::vector<bool>& fixed,
                                                      std::size_t given) {
  // Only local blocks are updated item by item, with many loops over few elements.
  if (!s_.local[b.index()]) return {};
  const model::Variable& var = m_[s_.conditionals[b].variable];
  Hoisted out{{}, fixed, {}, {}};
  std::int64_t elements = 1;
  for (std::size_t x = given; x < fixed.size(); ++x) {
    const std::int64_t length = constant_length(var.axes[x]);
    if (!fixed[x] || length < 0 || m_[m_[var.axes[x]].set].parent) return {};
    elements *= length;
    out.fixed[x] = false;
  }
  if (elements > options_.thresholds[kMostElements]) return {};
  const auto last = std::stable_partition(uses.begin(), uses.end(),
                                          [&](const auto& use) { return !can_hoist(b, use.first, use.second); });
  out.uses.assign(last, uses.end());
  uses.erase(last, uses.end());
  if (out.uses.empty()) return {};
  std::set<math::Stat> stats;
  for (const auto& [t, atom] : out.uses) {
    const math::Stat stat = t.term->atoms[atom].stat;
    const std::vector<Weight> own = own_weights(t);
    std::vector<Weight>& common = out.weights[stat];
    // The arrays add up all uses of a statistic, so only weights that these have in common can wait.
    if (stats.insert(stat).second) common = own;
    else std::erase_if(common, [&](Weight w) { return std::ranges::count(own, w) == 0; });
  }
  for (auto& [t, atom] : out.uses) {
    const std::vector<Weight>& common = out.weights[t.term->atoms[atom].stat];
    // What is left is multiplied as the sums are formed.
    std::erase_if(t.weights, [&](Weight w) { return std::ranges::count(common, w) > 0; });
  }
  out.sums = updates_.natural_buffers(b, out.fixed, "sum_", stats);
  return out;
}

void HoistedSums::form(BlockId b, const Hoisted& hoisted, const std::vector<ExprId>& element) {
  updates_.clear(hoisted.sums);
  for (const auto& [t, atom] : hoisted.uses)
    updates_.contribute(b, t, atom, hoisted.fixed, element, hoisted.sums);
}

void HoistedSums::begin(BlockId b, const Hoisted& hoisted, const std::vector<ExprId>& element, const NaturalTarget& n) {
  const model::Variable& var = m_[s_.conditionals[b].variable];
  for (const auto& [stat, buffer] : n.buffers) {
    const auto sum = hoisted.sums.buffers.find(stat);
    if (sum == hoisted.sums.buffers.end()) {
      b_.fill(buffer, b_.f(0));
      continue;
    }
    terms_.each_event(var, math::event_rank(stat), [&, to = buffer](const std::vector<ExprId>& event) {
      ExprId value = b_.load(sum->second, updates_.natural_address(b, element, hoisted.sums, event));
      for (const Weight w : hoisted.weights.at(stat))
        value = b_.mul(weight(w), value);
      b_.store(to, updates_.natural_address(b, element, n, event), value);
    });
  }
}

}  // namespace lehr::loops
