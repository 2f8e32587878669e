// Finds, for each exchangeable plate, the buffers that change when two of its elements are exchanged or merged. A plate
// is usable for moves if some buffer counts the items of each component and some category assigns items to them.
#include "compiler/machine/component_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/schedule/exchangeable.h"
#include "runtime/machine/component_order.h"

namespace lehr {
namespace {

using Kind = machine::ComponentKind;
using Order = machine::ComponentOrder;
using conditionals::BlockId;
using machine::ComponentArrayRow;
using schedule::Exchangeable;

/// The rows of one plate.
struct ComponentTables {
  machine::ComponentsRow row{};
  std::vector<ComponentArrayRow> arrays, counts;
  std::vector<machine::StickSumsRow> stick_sums;
  std::vector<machine::AllocationRow> allocations;
};

/// Classifies the buffers for one exchangeable plate.
class Finder {
 public:
  Finder(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& l, SubjectTables& subjects,
         const Tables& t, const Exchangeable& x)
      : m_(m), s_(s), l_(l), p_(l.program), subjects_(subjects), t_(t), x_(x), size_(l.plate_sizes[x.plate.index()]) {}

  /// Returns the rows, or nothing if the plate has no counts or no assignments.
  std::optional<ComponentTables> find() {
    out_.row.count = t_.extent(p_, size_);
    const Order order = x_.distinguished ? Order::distinguished : x_.ordered ? Order::by_size : Order::none;
    out_.row.ordered = static_cast<std::int64_t>(order);
    for (std::size_t b = 0; b < p_.buffers.size(); ++b)
      add(loops::BufferId(b));
    add_counts();
    add_heads();
    for (BlockId b : x_.categories)
      add_allocation(b);
    if (out_.counts.empty() || out_.allocations.empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  /// Returns the number of a buffer.
  static std::int64_t position(loops::BufferId b) { return static_cast<std::int64_t>(b.index()); }
  /// Returns a block of the model.
  const conditionals::Block& block(BlockId b) const { return s_.conditionals[b]; }
  /// Returns the variable of a block.
  const model::Variable& variable(BlockId b) const { return m_[block(b).variable]; }

  /// Returns a bit for each axis of the buffer that is over the plate.
  std::uint64_t axes_of(loops::BufferId b) const {
    std::uint64_t out = 0;
    for (std::size_t k = 0; k < p_[b].axes.size(); ++k) {
      if (p_[b].axes[k] == size_) out |= std::uint64_t{1} << k;
    }
    return out;
  }

  /// Appends a row for the buffer if it is part of the posterior and has an axis over the plate.
  void add(loops::BufferId b) {
    using From = loops::Role;
    const loops::Buffer& buffer = p_[b];
    const bool is_state =
        buffer.role == From::parameter || buffer.role == From::expectation || buffer.role == From::statistic;
    const std::uint64_t axes = axes_of(b);
    if (is_state && axes != 0) out_.arrays.push_back({kind_of(b), position(b), axes});
  }

  /// Classifies a buffer, which decides how a merge adds or drops slices of it.
  Kind kind_of(loops::BufferId b) const {
    if (p_[b].role == loops::Role::statistic) return Kind::statistic;
    for (BlockId c : x_.categories) {
      if (block(c).chain && p_[b].name.starts_with(fmt::format("E.{}.pair", variable(c).name))) return Kind::pair;
    }
    for (const loops::ParameterSlot& slot : l_.interface.parameters) {
      if (slot.buffer != b) continue;
      if (std::ranges::find(x_.categories, slot.block) != x_.categories.end()) return Kind::responsibility;
      // A simplex over the components for each item.
      const bool over = !slot.axes.empty() && m_[slot.axes.back()].set == x_.plate && slot.event_rank == 1;
      return slot.local && over ? Kind::proportion : Kind::factor;
    }
    return Kind::factor;
  }

  /// Finds the buffers that count items by component: statistics of indicators alone, and stored responsibilities.
  void add_counts() {
    const auto& algebra = s_.conditionals.density.algebra;
    for (std::size_t k = 0; k < s_.statistics.size(); ++k) {
      const schedule::Statistic& s = s_.statistics[k];
      const loops::BufferId b = l_.interface.sums[k];
      const bool counts = s.stage && std::has_single_bit(axes_of(b)) && algebra.literal(s.inner.coef).value_or(0) > 0 &&
                          std::ranges::all_of(s.inner.atoms, [](const density::Atom& x) {
                            return x.stat == math::Stat::indicator && x.opaque.empty();
                          });
      // A guarded statistic, such as that of first elements, counts sequences.
      if (counts && s.inner.guards.empty()) out_.counts.push_back({Kind::statistic, position(b), axes_of(b)});
    }
    for (const ComponentArrayRow& a : out_.arrays) {
      if (a.kind == Kind::responsibility) out_.counts.push_back({a.kind, a.buffer, std::bit_floor(a.axes)});
    }
  }

  /// Finds sums over all components but the last, which stick-breaking weights need beside the sums over all.
  void add_heads() {
    for (const model::Plate& plate : m_.plates) {
      if (!plate.stick || m_[plate.set].set != x_.plate) continue;
      const loops::SizeId short_size = l_.plate_sizes[m_[*plate.stick].set.index()];
      for (std::size_t k = 0; k < s_.statistics.size(); ++k) {
        const loops::BufferId b = l_.interface.sums[k];
        if (p_[b].role != loops::Role::statistic || p_[b].axes != std::vector{short_size}) continue;
        const auto whole = std::ranges::find_if(out_.counts, [&](const ComponentArrayRow& a) {
          return p_.buffers[static_cast<std::size_t>(a.buffer)].axes.size() == 1;
        });
        if (whole != out_.counts.end()) out_.stick_sums.push_back({position(b), whole->buffer});
      }
    }
  }

  /// Appends a row for a category that assigns items to components. It needs either a step that can be run, or stored
  /// probabilities.
  void add_allocation(BlockId b) {
    machine::AllocationRow a{-1, -1, -1, -1};
    const auto stage = s_.stage_of[b.index()];
    std::vector<model::PlateId> axes = variable(b).axes;
    if (stage && !block(b).chain) {
      a.step = sweep_position(*stage);
      axes = {std::get<schedule::ItemStage>(s_.steps[*stage]).item};
    } else {
      for (const loops::ParameterSlot& slot : l_.interface.parameters) {
        if (slot.block == b) a.buffer = position(slot.buffer);
      }
      if (stage) a.sums = sweep_position(*stage);
      if (a.buffer < 0 || (a.sums >= 0 && t_.steps[static_cast<std::size_t>(a.sums)].sum < 0)) return;
    }
    a.subject = subjects_.of(axes);
    out_.allocations.push_back(a);
  }

  /// Returns the position in a sweep of a step of the schedule.
  std::int64_t sweep_position(std::size_t step) const {
    const auto at = std::ranges::find_if(l_.interface.sweep,
                                         [&](const schedule::SweepEntry& t) { return t.step == step && !t.refresh; });
    return at - l_.interface.sweep.begin();
  }

  const model::Model& m_;
  const schedule::Schedule& s_;
  const loops::Lowered& l_;
  const loops::Program& p_;
  SubjectTables& subjects_;
  const Tables& t_;
  const Exchangeable& x_;
  loops::SizeId size_;
  ComponentTables out_;
};

/// Appends rows to a table; stores the first position in `first` and returns their number.
template <class Row>
std::int64_t append(std::vector<Row>& to, const std::vector<Row>& rows, std::int64_t& first) {
  first = static_cast<std::int64_t>(to.size());
  to.insert(to.end(), rows.begin(), rows.end());
  return static_cast<std::int64_t>(rows.size());
}

}  // namespace

void write_component_tables(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& l,
                            SubjectTables& subjects, Tables& to) {
  for (const Exchangeable& x : schedule::exchangeable_plates(m, s)) {
    std::optional<ComponentTables> tables = Finder(m, s, l, subjects, to, x).find();
    if (!tables) continue;
    machine::ComponentsRow& row = tables->row;
    row.arrays = append(to.component_arrays, tables->arrays, row.first_array);
    row.counts = append(to.component_arrays, tables->counts, row.first_count);
    row.heads = append(to.stick_sums, tables->stick_sums, row.first_head);
    row.allocations = append(to.allocations, tables->allocations, row.first_allocation);
    to.components.push_back(row);
    to.component_names.push_back(m[x.plate].name);
  }
}

}  // namespace lehr
