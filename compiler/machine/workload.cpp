// Estimates of operations by a walk over the loops, and the analysis of what an item stage stores.
#include "compiler/machine/workload.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/analysis/cost_model.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"

namespace lehr {
namespace {

using loops::BufferId;
using loops::ExprId;
using loops::Program;
using loops::SizeId;

/// Returns the sizes of the items of a stage and of plates nested in them, at any depth.
std::set<SizeId> item_sizes(const model::Model& m, const loops::Lowered& l, model::PlateId item) {
  std::set<SizeId> out;
  for (std::size_t k = 0; k < m.plates.size(); ++k) {
    if (m.plates[k].stick) continue;
    for (std::optional<model::PlateId> p = model::PlateId(k); p; p = m[*p].parent) {
      if (m[*p].set == m[item].set) out.insert(l.plate_sizes[m.plates[k].set.index()]);
    }
  }
  return out;
}

/// Returns all functions of a stage that visit items.
std::vector<std::size_t> functions_of(const loops::StageFunctions& s) {
  std::vector<std::size_t> out{s.update};
  for (const auto& f : {s.seed, s.sum, s.refresh, s.initialise, s.expectations, s.data}) {
    if (f) out.push_back(*f);
  }
  return out;
}

/// Counts the operations of a function. Loops over rows of data are assumed to have rows of average length, and of two
/// branches the longer is counted.
class Count {
 public:
  Count(const model::Model& m, const loops::Lowered& l, const std::vector<std::int64_t>& sizes, const Program& p)
      : p_(p), values_(sizes) {
    for (std::size_t k = 0; k < m.plates.size(); ++k) {
      if (!l.data.offsets[k].valid() || !m.plates[k].parent) continue;
      row_lengths_[l.data.offsets[k]] =
          extent(l.plate_sizes[k]) / std::max(1.0, extent(l.plate_sizes[m[*m.plates[k].parent].set.index()]));
    }
  }

  /// Returns the operations of a block of statements.
  double block(const loops::Block& statements) {
    double out = 0;
    for (const loops::Stmt& s : statements) {
      counted_.clear();
      out += std::visit([&](const auto& node) { return of(node); }, s.node);
    }
    return out;
  }

 private:
  static constexpr double kParameter = 2;         // assumed iterations of a loop up to a parameter: passes over an item
  static constexpr double kDefaultRowLength = 8;  // assumed iterations of a loop between two data values

  /// Returns the value of a size.
  double extent(SizeId s) const {
    const loops::Size& size = p_[s];
    return static_cast<double>(size.constant >= 0 ? size.constant : values_[static_cast<std::size_t>(size.slot)]);
  }

  /// Returns the operations of an expression; each expression of a statement is counted once.
  double expr(ExprId id) {
    if (!counted_.insert(id).second) return 0;
    return std::visit([&](const auto& node) { return of(node); }, p_[id].node);
  }
  /// Returns the operations of several expressions.
  double all(const std::vector<ExprId>& ids) {
    double out = 0;
    for (ExprId id : ids)
      out += expr(id);
    return out;
  }
  double of(const loops::ConstF&) { return 0; }
  double of(const loops::ConstI&) { return 0; }
  double of(const loops::Get&) { return 0; }
  double of(const loops::Extent&) { return 0; }
  double of(const loops::Load&) { return 1; }
  double of(const loops::Unary& n) {
    using loops::UnaryOp;
    const bool cheap = n.op == UnaryOp::negate || n.op == UnaryOp::logical_not || n.op == UnaryOp::to_f64 ||
                       n.op == UnaryOp::to_f32 || n.op == UnaryOp::abs || n.op == UnaryOp::is_nan;
    return (cheap ? 1 : loops::kFunctionCost) + expr(n.operand);
  }
  double of(const loops::Binary& n) { return 1 + expr(n.left) + expr(n.right); }
  double of(const loops::Select& n) { return 1 + expr(n.condition) + expr(n.if_true) + expr(n.if_false); }
  double of(const loops::Random& n) { return loops::kFunctionCost * loops::kFunctionCost + expr(n.a) + expr(n.b); }

  /// Estimates the iterations of a loop from its end: an extent, a constant, or the end of a row.
  double iterations(const loops::For& n) {
    double longest = -1;
    bool parameter = false;
    loops::Walk walk{p_,
                     [&](ExprId id) {
                       if (const auto* e = std::get_if<loops::Extent>(&p_[id].node))
                         longest = std::max(longest, extent(e->size));
                       if (const auto* c = std::get_if<loops::ConstI>(&p_[id].node))
                         longest = std::max(longest, static_cast<double>(c->value));
                       if (std::holds_alternative<loops::Get>(p_[id].node)) parameter = true;
                     },
                     [&](BufferId b, bool) {
                       const auto it = row_lengths_.find(b);
                       longest = std::max(longest, it == row_lengths_.end() ? kDefaultRowLength : it->second);
                     }};
    walk.expr(n.end);
    if (longest > 0) return longest;
    return parameter ? kParameter : 1;
  }
  double of(const loops::For& n) { return iterations(n) / static_cast<double>(n.step) * (1 + block(n.body)); }
  double of(const loops::Let& n) { return expr(n.value); }
  double of(const loops::Local& n) { return expr(n.initial); }
  double of(const loops::Assign& n) { return expr(n.value); }
  double of(const loops::Accumulate& n) { return 1 + expr(n.value); }
  double of(const loops::Store& n) { return 1 + expr(n.value); }
  double of(const loops::Fill& n) {
    double elements = 1;
    for (const SizeId s : p_[n.buffer].axes)
      elements *= extent(s);
    return elements;
  }
  double of(const loops::If& n) {
    const double else_cost = block(n.else_block);
    return expr(n.condition) + (n.rare && else_cost > 0 ? else_cost : std::max(block(n.then_block), else_cost));
  }
  double of(const loops::BreakIf& n) { return expr(n.condition); }
  double of(const loops::Fail&) { return 0; }
  double of(const loops::Comment&) { return 0; }

  const Program& p_;
  const std::vector<std::int64_t>& values_;
  std::map<BufferId, double> row_lengths_;  // average row length, by buffer of row offsets
  std::set<ExprId> counted_;                // of the statement
};

/// Returns the loop over the items, which is the last loop of a function; null if there is none.
const loops::For* item_loop(const loops::Block& function) {
  for (auto s = function.rbegin(); s != function.rend(); ++s) {
    if (const auto* loop = std::get_if<loops::For>(&s->node)) return loop;
    // Code that is the same for all items precedes the loop, inside an `if` that there are items.
    if (const auto* some = std::get_if<loops::If>(&s->node)) return item_loop(some->then_block);
  }
  return nullptr;
}

}  // namespace

Workload workload_of(const model::Model& m, const loops::Lowered& l, const std::vector<std::int64_t>& sizes,
                     const loops::StageFunctions& stage) {
  const Program& p = l.program;
  const std::set<SizeId> items = item_sizes(m, l, stage.item);
  std::set<BufferId> sums(stage.statistics.begin(), stage.statistics.end()), scratch;
  sums.insert(stage.data_sums.begin(), stage.data_sums.end());
  Workload out{true, {}, 0};
  for (const std::size_t f : functions_of(stage)) {
    const std::vector<BufferId>& own = p.functions[f].local_arrays;
    loops::Walk walk{p, [](ExprId) {},
                     [&](BufferId b, bool stored) {
                       const loops::Buffer& buffer = p[b];
                       if (std::ranges::find(own, b) != own.end()) return;
                       if (sums.contains(b)) out.parallel_safe = out.parallel_safe && stored;
                       else if (loops::is_scratch(buffer)) scratch.insert(b);
                       else if (stored && (buffer.axes.empty() || !items.contains(buffer.axes[0])))
                         out.parallel_safe = false;
                     }};
    walk.block(p.functions[f].body);
  }
  out.scratch.assign(scratch.begin(), scratch.end());
  const Program& before = l.unoptimised ? *l.unoptimised : p;
  if (const loops::For* loop = item_loop(before.functions[stage.update].body))
    out.operations = Count(m, l, sizes, before).block(loop->body) / static_cast<double>(loop->step);
  return out;
}

double operations_per_iteration(const model::Model& m, const loops::Lowered& l, const std::vector<std::int64_t>& sizes,
                                const loops::ParallelRegion& phase) {
  Count count(m, l, sizes, l.program);
  double out = 0;
  const loops::Function& f = l.program.functions[phase.function];
  for (const loops::Stmt& s : f.body) {
    const auto* loop = std::get_if<loops::For>(&s.node);
    if (loop && loops::is_scalar(l.program, loop->end, f.parameters[1]))
      out += count.block(loop->body) / static_cast<double>(loop->step);
  }
  return out;
}

double operations_per_call(const model::Model& m, const loops::Lowered& l, const std::vector<std::int64_t>& sizes,
                           std::size_t function) {
  const Program& before = l.unoptimised ? *l.unoptimised : l.program;
  return Count(m, l, sizes, before).block(before.functions[function].body);
}

}  // namespace lehr
