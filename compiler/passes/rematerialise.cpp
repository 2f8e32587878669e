// The pass `rematerialise`: rematerialisation of arrays that are cheaper to compute than to store.
// A long work array goes through memory; if an element is a product of two loads, computing it again at each use costs
// less.
//   for k: w[k] = a[k] * b[i, k]      for k: s[k] += c * w[k]      becomes      for k: s[k] += c * (a[k] * b[i, k])
//
// Rematerialisation: loads from an array are replaced by the formula of its elements.
// can_go() checks each loop that fills an array. The array must be read only afterwards in the same block, and the
// sources of the formula must not change.
#include "compiler/passes/passes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/cost_model.h"
#include "compiler/analysis/effects.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/factors.h"
#include "compiler/support/overloaded.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// The most loads in the formula of an element.
constexpr Threshold<int> kMostLoads("rematerialise.most_loads", 2);

/// Returns the number of loads in an expression of sums and products; nullopt if it has other operations.
std::optional<int> loads_of(const Program& p, ExprId e) {
  return std::visit(
      Overloaded{[](const ConstF&) { return std::optional(0); }, [](const Get&) { return std::optional(0); },
                 [](const Load&) { return std::optional(1); },
                 [&](const Unary& x) {
                   const bool cheap = x.op == UnaryOp::negate || x.op == UnaryOp::to_f32 ||
                                      (x.op == UnaryOp::to_f64 && is_real(p[x.operand].type));
                   return cheap ? loads_of(p, x.operand) : std::nullopt;
                 },
                 [&](const Binary& x) -> std::optional<int> {
                   if (x.op != BinaryOp::add && x.op != BinaryOp::subtract && x.op != BinaryOp::multiply)
                     return std::nullopt;
                   const std::optional<int> a = loads_of(p, x.left), b = loads_of(p, x.right);
                   return a && b ? std::optional(*a + *b) : std::nullopt;
                 },
                 [](const auto&) { return std::optional<int>(); }},
      p[e].node);
}

/// Rewrites one function.
class Recompute {
 public:
  Recompute(Program& p, Function& f) : p_(p), all_(f.body), local_(f.local_arrays.begin(), f.local_arrays.end()) {
    block(f.body);
  }

 private:
  /// Rewrites a block: removes the stores that can go, and substitutes their formulas in the statements after them.
  void block(Block& b) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (auto* branch = std::get_if<If>(&b[k].node)) {
        block(branch->then_block);
        block(branch->else_block);
      }
      auto* loop = std::get_if<For>(&b[k].node);
      if (!loop) continue;
      block(loop->body);
      while (const std::optional<std::size_t> at = filling(b, k)) {
        const auto& store = std::get<Store>(loop->body[*at].node);
        const Substitutions names{{}, {}, {}, {{store.buffer, {loop->index, formula(*loop, store)}}}};
        for (std::size_t j = k + 1; j < b.size(); ++j)
          b[j] = with_factors_in_front(substituted(p_, names, b[j]));
        loop->body.erase(loop->body.begin() + static_cast<std::ptrdiff_t>(*at));
      }
    }
  }

  /// Returns the statement with common factors taken out of accumulated sums (factors.h). What unrolled iterations add
  /// together often has one.
  Stmt with_factors_in_front(Stmt s) {
    if (auto* loop = std::get_if<For>(&s.node)) {
      for (Stmt& inner : loop->body)
        inner = with_factors_in_front(std::move(inner));
    } else if (auto* branch = std::get_if<If>(&s.node)) {
      for (Block* side : {&branch->then_block, &branch->else_block}) {
        for (Stmt& inner : *side)
          inner = with_factors_in_front(std::move(inner));
      }
    } else if (auto* store = std::get_if<Store>(&s.node); store && store->accumulate) {
      store->value = factored(p_, store->value);
    }
    return s;
  }

  /// Returns the value of the store with the scalars that the loop declares replaced by their values.
  ExprId formula(const For& loop, const Store& store) {
    Substitutions names;
    for (const Stmt& s : loop.body) {
      if (const auto* let = std::get_if<Let>(&s.node)) names.values[let->scalar] = substituted(p_, names, let->value);
    }
    return again(substituted(p_, names, store.value));
  }

  /// Returns the value with loads of long rows marked to be repeated (Load::reload): there are likely not enough
  /// registers to keep such rows.
  ExprId again(ExprId value) {
    Substitutions names;
    std::vector<ExprId> loads;
    Walk{p_, [&](ExprId e) { loads.push_back(e); }, [](BufferId, bool) {}}.expr(value);
    for (const ExprId e : loads) {
      const auto* load = std::get_if<Load>(&p_[e].node);
      if (!load || local_.contains(load->buffer) || !is_long_row(p_[load->buffer])) continue;
      names.expressions[e] = make(p_, p_[e].type, Load{load->buffer, load->indices, true});
    }
    return substituted(p_, names, value);
  }
  /// Returns true if rows of the array are too long for the registers.
  bool is_long_row(const Buffer& b) const {
    return b.axes.size() > 1 &&
           p_[b.axes.back()].constant * bytes_of(b.element) > p_.thresholds[kShortArray] * bytes_of(Type::f64);
  }

  /// Returns the number of the statement in loop k that stores an array which can go.
  std::optional<std::size_t> filling(const Block& b, std::size_t k) {
    const auto& loop = std::get<For>(b[k].node);
    for (std::size_t at = 0; at < loop.body.size(); ++at) {
      const auto* store = std::get_if<Store>(&loop.body[at].node);
      if (store && is_whole(loop, *store) && can_go(b, k, *store)) return at;
    }
    return std::nullopt;
  }

  /// Returns true if the loop stores every element of a local array of one axis.
  bool is_whole(const For& loop, const Store& store) const {
    const Buffer& array = p_[store.buffer];
    if (!local_.contains(store.buffer) || array.axes.size() != 1 || store.accumulate) return false;
    return p_[array.axes[0]].constant >= p_.thresholds[kShortArray] && is_scalar(p_, store.indices[0], loop.index) &&
           runs_over(p_, loop, array.axes[0]);
  }

  /// Returns true if only statements after loop k in this block read the array, the formula is cheap, and its sources
  /// do not change.
  bool can_go(const Block& b, std::size_t k, const Store& store) {
    const auto& loop = std::get<For>(b[k].node);
    const Effects here = effects_of(p_, b[k]), later = effects_of(p_, std::span(b).subspan(k + 1));
    if (here.loads.contains(store.buffer) || later.stores.contains(store.buffer)) return false;
    const int from_here = mentions(p_, store.buffer, b, k);
    // The store is the only mention in loop k, and the function has no mentions outside of this block.
    const bool once = from_here == 1 + mentions(p_, store.buffer, b, k + 1);
    if (!once || from_here != mentions(p_, store.buffer, all_) || std::ranges::any_of(loop.body, has_break))
      return false;
    const ExprId value = formula(loop, store);
    const std::optional<int> loads = loads_of(p_, value);
    if (!loads || *loads > p_.thresholds[kMostLoads]) return false;
    Effects from = effects_of(p_, value);
    from.reads.erase(loop.index);
    return !intersect(from.loads, here.stores) && !intersect(from.loads, later.stores) &&
           !intersect(from.reads, here.declares) && !intersect(from.reads, here.assigns) &&
           !intersect(from.reads, later.assigns);
  }

  Program& p_;
  const Block& all_;            // the body of the function
  SmallIdSet<BufferId> local_;  // the local arrays of the function
};

}  // namespace

/// Returns the program in which arrays of cheap elements are computed where they are read. An array qualifies if
/// * it is local to a function, of one axis and at least kShortArray elements,
/// * one loop fills it with products and sums of at most two loads, whose sources do not change afterwards,
/// * all reads follow that loop in the same block.
/// Long rows of tables are marked to be read from memory again (Load::reload). Elements keep their bits; a factor that
/// is common to all terms of a sum is taken out (factors.h).
Program rematerialise(Program program) {
  for (std::size_t k = 0; k < program.functions.size(); ++k) {
    if (program.functions[k].cold) continue;
    Function f = std::move(program.functions[k]);
    Recompute(program, f);
    program.functions[k] = std::move(f);
  }
  return program;
}

}  // namespace lehr::loops
