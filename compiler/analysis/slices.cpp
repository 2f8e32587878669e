// Slices: a nest of loops that fills a[..., i, ...] as a whole marks a candidate; then every other access is checked.
#include "compiler/analysis/slices.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/analysis/accesses.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/support/overloaded.h"

namespace lehr::loops {
namespace {

/// The indices of an access, one for each axis.
using AccessIndices = std::vector<ExprId>;

/// Searches code for uses of an index other than to select one of the slices.
struct Uses {
  const Program& p;
  ScalarId index;  // the index that is looked for
  const Slices& slices;

  /// Returns true if that axis of the array is the sliced one.
  bool selects(BufferId b, std::size_t axis) const {
    const auto slice = slices.find(b);
    return slice != slices.end() && slice->second.axis == axis;
  }
  /// Returns true if an index of the access uses the index that is looked for.
  bool access(BufferId b, const AccessIndices& at) const {
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (!selects(b, k) && expr(at[k])) return true;
    }
    return false;
  }
  /// Returns true if the expression uses the index, or draws a random number.
  bool expr(ExprId e) const {
    const Expr& x = p[e];
    if (const auto* get = std::get_if<Get>(&x.node)) return get->scalar == index;
    if (const auto* load = std::get_if<Load>(&x.node)) return access(load->buffer, load->indices);
    return std::holds_alternative<Random>(x.node) || any_operand(x, [&](ExprId operand) { return expr(operand); });
  }
  /// Returns true if a statement of the block uses the index.
  bool block(const Block& b) const {
    return std::ranges::any_of(b, [&](const Stmt& s) { return statement(s); });
  }
  /// Returns true if the statement uses the index.
  bool statement(const Stmt& s) const {
    return std::visit(
        Overloaded{[&](const For& x) { return expr(x.begin) || expr(x.end) || block(x.body); },
                   [&](const Local& x) { return expr(x.initial); },
                   [&](const Store& x) { return access(x.buffer, x.indices) || expr(x.value); },
                   [&](const If& x) { return expr(x.condition) || block(x.then_block) || block(x.else_block); },
                   [&](const BreakIf& x) { return expr(x.condition); }, [](const Fail&) { return false; },
                   [](const Comment&) { return false; }, [&](const auto& x) { return expr(x.value); }},
        s.node);
  }
};

/// Finds the slices of one loop.
class Finder {
 public:
  Finder(const Program& p, const For& loop) : p_(p), loop_(loop), index_{{loop.index}, {}} {}

  Slices find() {
    for (std::size_t k = 0; k < loop_.body.size(); ++k) {
      const Store* store = filler(loop_.body[k]);
      if (!store || slices_.contains(store->buffer)) continue;
      const std::size_t axis = *axis_of(store->indices);
      if (is_alone(store->buffer, axis, k)) slices_[store->buffer] = {axis, k};
    }
    return std::move(slices_);
  }

 private:
  /// Returns the axis that the loop's index selects from; nullopt if the index is used anywhere else in the access.
  std::optional<std::size_t> axis_of(const AccessIndices& at) const {
    std::optional<std::size_t> out;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const Dependence x = dependence_of(p_, index_, loop_.index, at[k]);
      if (x == Dependence::index && !out) out = k;
      else if (x != Dependence::none) return std::nullopt;
    }
    return out;
  }

  /// Returns the store in a nest of loops that fills a whole slice and does nothing else; null if the statement is
  /// none.
  const Store* filler(const Stmt& s) const {
    std::vector<const For*> nest;
    const Stmt* inner = &s;
    while (const auto* loop = std::get_if<For>(&inner->node)) {
      if (loop->body.size() != 1) return nullptr;
      nest.push_back(loop);
      inner = &loop->body[0];
    }
    const auto* store = std::get_if<Store>(&inner->node);
    if (!store || store->accumulate || p_[store->buffer].element != Type::f64) return nullptr;
    const std::optional<std::size_t> axis = axis_of(store->indices);
    if (!axis || nest.size() + 1 != store->indices.size()) return nullptr;
    std::size_t depth = 0;
    for (std::size_t k = 0; k < store->indices.size(); ++k) {
      if (k == *axis) continue;
      const For& loop = *nest[depth++];
      if (!is_scalar(p_, store->indices[k], loop.index) || !runs_over(p_, loop, p_[store->buffer].axes[k]))
        return nullptr;
    }
    return store;
  }

  /// Returns true if statement `filled` is the only one that stores to the array, and every load comes after it and
  /// reads the slice.
  bool is_alone(BufferId b, std::size_t axis, std::size_t filled) const {
    bool good = p_[b].role == Role::parameter || p_[b].role == Role::expectation || p_[b].role == Role::scratch;
    for (std::size_t k = 0; k < loop_.body.size() && good; ++k) {
      each_access(p_, {&loop_.body[k], 1}, [&](AccessKind kind, BufferId x, const AccessIndices& at) {
        if (x != b) return;
        good = good && (kind == AccessKind::load ? k > filled && axis_of(at) == axis : k == filled);
      });
    }
    return good;
  }

  const Program& p_;
  const For& loop_;
  const Varying index_;  // the index of the loop alone
  Slices slices_;
};

}  // namespace

Slices slices_of(const Program& program, const For& loop) { return Finder(program, loop).find(); }

bool depends_on_index(const Program& program, const For& loop, const Slices& slices, const Stmt& statement) {
  return Uses{program, loop.index, slices}.statement(statement);
}

}  // namespace lehr::loops
