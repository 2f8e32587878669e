// The search for loops whose iterations can run together, and the conditions under which they may.
// Before a loop is rewritten, loops over the range of the same parallel region that follow it are fused with it. If the
// fused loop does not qualify, the first one is tried alone.
#include "compiler/passes/vectoriser/independent_loops.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vector_accesses.h"

namespace lehr::loops {
namespace {

/// Returns true if the iterations of the loop can run together:
/// * scalars that they assign are declared inside, or are f64 sums that they only add to,
/// * they store nothing but scratch, their own rows, and statistics that they do not load,
/// * no loop inside is left early or begins at a number that differs between iterations.
/// `outside`: arrays that the function mentions outside of the loop; no private array may be among them.
bool can_be_vectorised(const Program& p, const For& loop, const Varying& varying, const SmallIdSet<BufferId>& outside) {
  SmallIdSet<ScalarId> declared, assigned, read;
  Walk walk{p, [](ExprId) {}, [](BufferId, bool) {},
            [&](ScalarId s, ScalarUse how) {
              if (how == ScalarUse::declared) declared.insert(s);
              if (how == ScalarUse::assigned) assigned.insert(s);
              if (how == ScalarUse::read) read.insert(s);
            }};
  walk.block(loop.body);
  bool good = true;
  // A scalar declared outside must be a sum, which each iteration can add up on its own first.
  const auto is_sum = [&](ScalarId s) { return declared.contains(s) || (p[s].type == Type::f64 && !read.contains(s)); };
  each_statement(loop.body, [&](const Stmt& s) {
    if (std::holds_alternative<BreakIf>(s.node)) good = false;
    if (const auto* x = std::get_if<Assign>(&s.node)) good = good && declared.contains(x->scalar);
    if (const auto* x = std::get_if<For>(&s.node)) good = good && !varying.is_varying(p, x->begin);
  });
  // Lanes add to copies of statistics.
  const auto is_statistic = [&](BufferId b) { return p[b].role == Role::statistic; };
  const Accesses accesses(p, loop.body, varying, loop.index);
  const auto loads_sum = [&](const auto& of_array) {
    const auto& [array, all] = of_array;
    return is_statistic(array) && std::ranges::any_of(all, &IterationAccess::loads) &&
           std::ranges::any_of(all, [](const IterationAccess& x) { return x.kind == AccessKind::add; });
  };
  return good && std::ranges::all_of(assigned, is_sum) && races_of(p, accesses, is_statistic).empty() &&
         std::ranges::none_of(accesses.all(), loads_sum) &&
         std::ranges::none_of(varying.scalars, [&](ScalarId s) { return p[s].type == Type::boolean; }) &&
         std::ranges::none_of(varying.arrays, [&](BufferId b) { return outside.contains(b); });
}

/// Rewrites the loops of all functions of a program.
class Functions {
 public:
  Functions(Program& p, const Choice& choice) : p_(p), choice_(choice) {}

  void run() {
    rewrite_bodies(p_, arrays_, [&](Block& b) { block(b, b); });
  }

 private:
  /// Rewrites the loops of block `b`. `all`: the body of the function that it belongs to.
  void block(Block& b, const Block& all) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (auto* branch = std::get_if<If>(&b[k].node)) {
        block(branch->then_block, all);
        block(branch->else_block, all);
      }
      auto* loop = std::get_if<For>(&b[k].node);
      // A loop over windows (pass `bucket-by-length`) has the loop over items inside.
      if (loop && loop->step > 1 && !loop->vectorised) block(loop->body, all);
      if (!is_candidate(b[k])) continue;
      std::size_t count = trip_count_of_region(p_, *loop) ? count_of_range(b, k) : 1;
      std::optional<Block> made = count > 1 ? vectorised_body(b, k, count, all) : std::nullopt;
      if (!made) made = vectorised_body(b, k, count = 1, all);
      if (!made) continue;
      const auto first = b.begin() + static_cast<std::ptrdiff_t>(k);
      const auto at = b.erase(first, first + static_cast<std::ptrdiff_t>(count));
      k += made->size() - 1;
      b.insert(at, std::make_move_iterator(made->begin()), std::make_move_iterator(made->end()));
    }
  }

  /// Returns true if the statement is a loop of independent iterations that run one at a time.
  bool is_candidate(const Stmt& s) const {
    const auto* loop = std::get_if<For>(&s.node);
    return loop && loop->independent && loop->step == 1;
  }

  /// Returns how many loops over the same range follow each other from statement k on.
  std::size_t count_of_range(const Block& b, std::size_t k) const {
    const ScalarId range = std::get<Get>(p_[std::get<For>(b[k].node).end].node).scalar;
    const auto has_other_range = [&](const Stmt& s) {
      return !is_candidate(s) || !is_scalar(p_, std::get<For>(s.node).end, range);
    };
    const auto first = b.begin() + static_cast<std::ptrdiff_t>(k);
    return static_cast<std::size_t>(std::find_if(first, b.end(), has_other_range) - first);
  }
  /// Returns one loop with the bodies of several loops over the same range.
  For joined(const Block& loops) {
    For out = std::get<For>(loops[0].node);
    for (std::size_t k = 1; k < loops.size(); ++k) {
      const auto& loop = std::get<For>(loops[k].node);
      const Substitutions names{{{loop.index, out.index}}, {}};
      for (const Stmt& s : loop.body)
        out.body.push_back(substituted(p_, names, s));
    }
    return out;
  }

  /// Returns what replaces `count` loops from statement k on, fused; nullopt, with the block unchanged, if they do not
  /// qualify.
  std::optional<Block> vectorised_body(Block& b, std::size_t k, std::size_t count, const Block& all) {
    Block loops;
    for (std::size_t i = 0; i < count; ++i)
      loops.push_back(std::exchange(b[k + i], Stmt{Comment{}}));
    std::optional<Block> made = vectorised_body(joined(loops), all);
    if (!made) std::ranges::move(loops, b.begin() + static_cast<std::ptrdiff_t>(k));
    return made;
  }
  /// Returns what replaces the loop; nullopt if it does not qualify.
  std::optional<Block> vectorised_body(const For& loop, const Block& all) {
    if (!choice_.is_candidate(p_, loop)) return {};
    SmallIdSet<BufferId> outside;
    Walk{p_, [](ExprId) {}, [&](BufferId x, bool) { outside.insert(x); }}.block(all);
    const Varying varying = varying_in(p_, loop);
    const std::optional<VectorForm> how = choice_.arrange(p_, loop, varying);
    if (!how || !can_be_vectorised(p_, loop, varying, outside)) return {};
    return vectorised(p_, loop, varying, *how, arrays_);
  }

  Program& p_;
  const Choice& choice_;
  std::vector<BufferId> arrays_;
};

}  // namespace

Program vectorise_loops(Program program, const Choice& choice) {
  Functions(program, choice).run();
  return program;
}

}  // namespace lehr::loops
