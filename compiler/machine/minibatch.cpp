#include "compiler/machine/minibatch.h"

#include <algorithm>
#include <set>

#include "compiler/support/overloaded.h"

namespace lehr {
namespace {

using loops::BufferId;
using loops::ExprId;
using loops::SizeId;

/// What one function reads, writes and counts.
class Uses {
 public:
  explicit Uses(const loops::Program& p) : p_(p) {}

  void block(const loops::Block& statements) {
    for (const loops::Stmt& s : statements)
      std::visit([&](const auto& node) { visit(node); }, s.node);
  }

  std::set<BufferId> buffers;
  std::set<SizeId> extents;

 private:
  void expr(ExprId id) {
    std::visit(Overloaded{[&](const loops::Extent& e) { extents.insert(e.size); },
                          [&](const loops::Load& l) {
                            buffers.insert(l.buffer);
                            for (ExprId i : l.indices)
                              expr(i);
                          },
                          [&](const loops::Unary& u) { expr(u.operand); },
                          [&](const loops::Binary& b) { expr(b.left), expr(b.right); },
                          [&](const loops::Select& s) { expr(s.condition), expr(s.if_true), expr(s.if_false); },
                          [](const auto&) {}},
               p_[id].node);
  }

  void visit(const loops::For& s) { expr(s.begin), expr(s.end), block(s.body); }
  void visit(const loops::Let& s) { expr(s.value); }
  void visit(const loops::Local& s) { expr(s.initial); }
  void visit(const loops::Assign& s) { expr(s.value); }
  void visit(const loops::Accumulate& s) { expr(s.value); }
  void visit(const loops::Store& s) {
    buffers.insert(s.buffer);
    for (ExprId i : s.indices)
      expr(i);
    expr(s.value);
  }
  void visit(const loops::Fill& s) { buffers.insert(s.buffer), expr(s.value); }
  void visit(const loops::If& s) { expr(s.condition), block(s.then_block), block(s.else_block); }
  void visit(const loops::BreakIf& s) { expr(s.condition); }
  void visit(const loops::Fail&) {}
  void visit(const loops::Comment&) {}

  const loops::Program& p_;
};

/// The sizes of the plate and of what is nested in it, of their longest rows and of their offsets.
std::set<SizeId> sizes_of_items(const model::Model& m, const loops::Lowered& l, model::PlateId plate) {
  std::set<SizeId> out{l.plate_sizes[m[plate].set.index()]};
  for (const auto& [nested, offsets] : nested_in(m, l, plate)) {
    out.insert(l.plate_sizes[nested.index()]);
    if (l.longest[nested.index()].valid()) out.insert(l.longest[nested.index()]);
    out.insert(l.program[offsets.back()].axes[0]);
  }
  return out;
}

}  // namespace

std::map<model::PlateId, std::vector<BufferId>> nested_in(const model::Model& m, const loops::Lowered& l,
                                                          model::PlateId plate) {
  std::map<model::PlateId, std::vector<BufferId>> out;
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t k = 0; k < m.plates.size(); ++k) {
      const model::PlateId nested(k);
      if (m[nested].set != nested || !m[nested].parent || out.contains(nested)) continue;
      const model::PlateId parent = m[*m[nested].parent].set;
      const auto above = out.find(parent);
      if (above == out.end() && parent != m[plate].set) continue;
      std::vector<BufferId> offsets = above == out.end() ? std::vector<BufferId>{} : above->second;
      offsets.push_back(l.data.offsets[k]);
      out[nested] = std::move(offsets);
      grew = true;
    }
  }
  return out;
}

std::optional<model::PlateId> batch_plate(const model::Model& m, const loops::Lowered& l) {
  for (const schedule::Turn& turn : l.interface.sweep) {
    if (const auto* s = std::get_if<loops::StageFunctions>(&l.interface.steps[turn.step])) return m[s->item].set;
  }
  for (const model::Variable& v : m.variables) {
    if (v.observed && !v.axes.empty()) return m[v.axes[0]].set;
  }
  return std::nullopt;
}

bool takes_minibatches(const model::Model& m, const loops::Lowered& l, model::PlateId plate) {
  const std::set<SizeId> items = sizes_of_items(m, l, plate);
  const SizeId own = l.plate_sizes[m[plate].set.index()];
  if (l.program[own].constant >= 0) return false;
  Uses uses(l.program);
  for (const auto& step : l.interface.steps) {
    const auto* stage = std::get_if<loops::StageFunctions>(&step);
    uses.block(l.program.functions[stage ? stage->tables : std::get<loops::UpdateFunction>(step).function].body);
  }
  uses.block(l.program.functions[l.interface.elbo].body);
  const auto is_of_items = [&](SizeId s) { return items.contains(s); };
  return std::none_of(uses.extents.begin(), uses.extents.end(), [&](SizeId s) { return s != own && is_of_items(s); }) &&
         std::none_of(uses.buffers.begin(), uses.buffers.end(), [&](BufferId b) {
           return std::any_of(l.program[b].axes.begin(), l.program[b].axes.end(), is_of_items);
         });
}

std::vector<BufferId> sums_over(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& l,
                                model::PlateId plate) {
  std::vector<BufferId> out;
  const density::Algebra& a = s.conditionals.density.algebra;
  for (std::size_t k = 0; k < s.statistics.size(); ++k) {
    const schedule::Statistic& x = s.statistics[k];
    const bool over = std::any_of(x.inner.bounds.begin(), x.inner.bounds.end(),
                                  [&](density::BoundId b) { return m[a[b].plate].set == m[plate].set; });
    if (!x.stage && over) out.push_back(l.interface.sums[k]);
  }
  return out;
}

}  // namespace lehr
