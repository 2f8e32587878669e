// The components of a compiled model: which of its buffers have axes over an exchangeable plate.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/instance/start.h"
#include "compiler/schedule/exchangeable.h"

namespace lehr {
namespace {

using Kind = ComponentArray::Kind;
using conditionals::BlockId;
using schedule::Exchangeable;

class Finder {
 public:
  Finder(const Started& s, const Exchangeable& x) : s_(s), p_(s.lowered.program), x_(x) {
    size_ = s_.lowered.plate_sizes[x.plate.index()];
  }

  std::optional<Components> find() {
    out_.name = s_.model[x_.plate].name;
    out_.count = static_cast<std::size_t>(s_.plate_sizes[x_.plate.index()]);
    out_.ordered = x_.ordered;
    for (std::size_t b = 0; b < p_.buffers.size(); ++b)
      add(loops::BufferId(b));
    add_counts();
    add_heads();
    for (BlockId b : x_.categories)
      add_allocation(b);
    if (out_.count < 2 || out_.counts.empty() || out_.allocations.empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  static std::int64_t position(loops::BufferId b) { return static_cast<std::int64_t>(b.index()); }
  const conditionals::Block& block(BlockId b) const { return s_.schedule.conditionals[b]; }
  const model::Variable& variable(BlockId b) const { return s_.model[block(b).variable]; }

  std::vector<std::size_t> axes_of(loops::BufferId b) const {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < p_[b].axes.size(); ++k) {
      if (p_[b].axes[k] == size_) out.push_back(k);
    }
    return out;
  }

  void add(loops::BufferId b) {
    using From = loops::Role;
    const loops::Buffer& buffer = p_[b];
    const bool is_state =
        buffer.role == From::parameter || buffer.role == From::expectation || buffer.role == From::statistic;
    std::vector<std::size_t> axes = axes_of(b);
    if (is_state && !axes.empty()) out_.arrays.push_back({kind_of(b), position(b), std::move(axes)});
  }

  Kind kind_of(loops::BufferId b) const {
    if (p_[b].role == loops::Role::statistic) return Kind::statistic;
    for (BlockId c : x_.categories) {
      if (block(c).chain && p_[b].name == fmt::format("E.{}.pair", variable(c).name)) return Kind::pair;
    }
    for (const loops::ParameterSlot& slot : s_.lowered.interface.parameters) {
      if (slot.buffer != b) continue;
      if (std::ranges::find(x_.categories, slot.block) != x_.categories.end()) return Kind::responsibility;
      // A simplex of each item over the components.
      const bool over = !slot.axes.empty() && s_.model[slot.axes.back()].set == x_.plate && slot.event_rank == 1;
      return slot.local && over ? Kind::proportion : Kind::factor;
    }
    return Kind::factor;
  }

  /// Statistics of nothing but indicators; otherwise the probabilities of stored categories.
  void add_counts() {
    const auto& algebra = s_.schedule.conditionals.density.algebra;
    for (std::size_t k = 0; k < s_.schedule.statistics.size(); ++k) {
      const schedule::Statistic& s = s_.schedule.statistics[k];
      const loops::BufferId b = s_.lowered.interface.sums[k];
      const bool counts = s.stage && axes_of(b).size() == 1 && algebra.literal(s.inner.coef).value_or(0) > 0 &&
                          std::ranges::all_of(s.inner.atoms, [](const density::Atom& x) {
                            return x.stat == math::Stat::indicator && x.opaque.empty();
                          });
      // That of a first element alone counts sequences.
      if (counts && s.inner.guards.empty()) out_.counts.push_back({Kind::statistic, position(b), axes_of(b)});
    }
    for (const ComponentArray& a : out_.arrays) {
      if (a.kind != Kind::responsibility) continue;
      out_.counts.push_back(a);
      out_.counts.back().axes = {a.axes.back()};
    }
  }

  /// Sums over the sticks stand beside the same sums over all components.
  void add_heads() {
    for (const model::Plate& plate : s_.model.plates) {
      if (!plate.stick || s_.model[plate.set].set != x_.plate) continue;
      const loops::SizeId short_size = s_.lowered.plate_sizes[s_.model[*plate.stick].set.index()];
      for (std::size_t k = 0; k < s_.schedule.statistics.size(); ++k) {
        const loops::BufferId b = s_.lowered.interface.sums[k];
        if (p_[b].role != loops::Role::statistic || p_[b].axes != std::vector{short_size}) continue;
        const auto whole = std::ranges::find_if(out_.counts, [&](const ComponentArray& a) {
          return p_.buffers[static_cast<std::size_t>(a.buffer)].axes.size() == 1;
        });
        if (whole != out_.counts.end()) out_.heads.emplace_back(position(b), whole->buffer);
      }
    }
  }

  void add_allocation(BlockId b) {
    Allocation a;
    const auto stage = s_.schedule.stage_of[b.index()];
    std::vector<model::PlateId> axes = variable(b).axes;
    if (stage && !block(b).chain) {
      a.step = turn_of(*stage);
      axes = {std::get<schedule::ItemStage>(s_.schedule.steps[*stage]).item};
    } else {
      for (const loops::ParameterSlot& slot : s_.lowered.interface.parameters) {
        if (slot.block == b) a.buffer = position(slot.buffer);
      }
      if (stage) a.sums = turn_of(*stage);
      if (a.buffer < 0 || (a.sums >= 0 && s_.engine.steps()[static_cast<std::size_t>(a.sums)].sum < 0)) return;
    }
    a.features = [s = s_, axes] { return features_of(s, axes); };
    out_.allocations.push_back(std::move(a));
  }

  std::int64_t turn_of(std::size_t step) const {
    const auto at = std::ranges::find_if(s_.lowered.interface.sweep,
                                         [&](const schedule::Turn& t) { return t.step == step && !t.refresh; });
    return at - s_.lowered.interface.sweep.begin();
  }

  const Started s_;
  const loops::Program& p_;
  const Exchangeable& x_;
  loops::SizeId size_;
  Components out_;
};

}  // namespace

std::vector<Components> components_of(const Started& s) {
  std::vector<Components> out;
  for (const Exchangeable& x : schedule::exchangeable_plates(s.model, s.schedule)) {
    if (std::optional<Components> found = Finder(s, x).find()) out.push_back(std::move(*found));
  }
  return out;
}

}  // namespace lehr
