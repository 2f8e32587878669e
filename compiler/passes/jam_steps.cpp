// The pass `jam-steps`: unroll-and-jam of loops over the steps of sequences that run in lanes.
// In functions that run items in lanes, statistics are often sums over steps. Four steps run together, and the sums
// they add to are loaded and stored once for all four.
//   for t: for k: S[k] += q[t, k]      becomes      for t by 4: for k: S[k] += q[t, k]; S[k] += q[t + 1, k]; ...
//
// Unroll-and-jam of loops over steps, four at a time, within lanes.
//   for t by 4, while four are left: for each statement the four copies; copies of an inner loop become one loop
//   for t in rest .. T: the original body
// Each copy has its own versions of private scratch.
#include "compiler/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/private_arrays.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/loops/facts.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// The number of steps that run together.
constexpr std::int64_t kSteps = 4;
/// The least number of loops around a sum within a step, that over lanes included. With fewer there is too little to
/// share.
constexpr Threshold<int> kDeep("jam_steps.deep", 3);

/// Appends a statement. It is not inlined, because g++ 12 would warn that parts of what is moved are uninitialised.
[[gnu::noinline]] void put(Block& to, Stmt s) { to.push_back(std::move(s)); }

/// Rewrites one function.
class Steps : ExprMaker {
 public:
  Steps(Program& p, Function& f) : ExprMaker(p), f_(f), all_(f.body) { block(f.body, false); }

 private:
  /// Rewrites the loops of a block. `in_lanes`: it is inside of a loop over groups of items.
  void block(Block& b, bool in_lanes) {
    Block out;
    for (Stmt& s : b) {
      auto* branch = std::get_if<If>(&s.node);
      if (branch && !branch->rare) {
        block(branch->then_block, in_lanes);
        block(branch->else_block, in_lanes);
      }
      auto* loop = std::get_if<For>(&s.node);
      if (loop && in_lanes && fits(*loop)) {
        together(*loop, out);
        continue;
      }
      if (loop) block(loop->body, in_lanes || loop->vectorised);
      put(out, std::move(s));
    }
    b = std::move(out);
  }

  /// Returns true if the loop over steps qualifies. It sets own_.
  bool fits(const For& loop) {
    if (literal(p_, loop.begin) != 0 || !std::holds_alternative<Get>(p_[loop.end].node) || loop.step != 1) return false;
    index_ = loop.index;
    own_.clear();
    const Effects all = effects_of(p_, loop.body);
    for (const BufferId b : all.stores)
      if (is_private(b, loop)) own_.insert(b);
    deepest_ = 0;
    return only_adds(loop.body, all, 0) && deepest_ >= p_.thresholds[kDeep];
  }
  /// Returns true if the array is private to a step: it is local, filled before it is read, and not mentioned
  /// elsewhere.
  bool is_private(BufferId b, const For& loop) const {
    return std::ranges::count(f_.local_arrays, b) && is_filled_first(p_, loop.body, b) &&
           mentions(p_, b, all_) == mentions(p_, b, loop.body);
  }
  /// Returns true if the block only fills private arrays and adds to elements that are the same at every step. `depth`:
  /// loops around it.
  bool only_adds(const Block& b, const Effects& all, int depth) {
    return std::ranges::all_of(b, [&](const Stmt& s) {
      if (const auto* loop = std::get_if<For>(&s.node)) {
        return loop->step == 1 && is_same(loop->begin) && is_same(loop->end) && only_adds(loop->body, all, depth + 1);
      }
      const auto* store = std::get_if<Store>(&s.node);
      if (!store) return false;
      if (own_.contains(store->buffer)) return true;
      deepest_ = std::max(deepest_, depth);
      return store->accumulate && !all.loads.contains(store->buffer) &&
             std::ranges::all_of(store->indices, [&](ExprId at) { return is_same(at); });
    });
  }
  /// Returns true if the expression is the same at every step: it reads neither arrays nor the index.
  bool is_same(ExprId e) const { return !loads(p_, e) && !mentions(p_, e, {index_}); }

  /// Appends the loop over groups of steps, and the loop over those that remain.
  void together(const For& loop, Block& out) {
    const ScalarId first = scalar(p_[loop.index].name), rest = scalar("rest");
    std::vector<Substitutions> copies(kSteps);
    Block group;
    for (std::int64_t r = 0; r < kSteps; ++r) {
      Substitutions& names = copies[static_cast<std::size_t>(r)];
      const ScalarId step = names.scalars[loop.index] = scalar(p_[loop.index].name);
      put(group, Stmt{Let{step, binary(BinaryOp::add, get(first), i(r))}});
      for (const BufferId b : own_)
        names.arrays[b] = r == 0 ? b : array_like(b);
    }
    copy(loop.body, copies, group);
    const ExprId past = binary(BinaryOp::subtract, loop.end, i(kSteps - 1));
    put(out, Stmt{Local{rest, i(0)}});
    put(group, Stmt{Assign{rest, binary(BinaryOp::add, get(first), i(kSteps))}});
    put(out, Stmt{For{first, i(0), past, std::move(group), false, kSteps}});
    put(out, Stmt{For{loop.index, get(rest), loop.end, loop.body, loop.independent}});
  }
  /// Appends the copies of statements: of each statement those of all steps. The copies of an inner loop become one
  /// loop.
  void copy(const Block& from, const std::vector<Substitutions>& copies, Block& to) {
    for (const Stmt& s : from) {
      const auto* loop = std::get_if<For>(&s.node);
      if (!loop) {
        for (const Substitutions& names : copies)
          put(to, substituted(p_, names, s));
        continue;
      }
      Block body;
      copy(loop->body, copies, body);
      put(to, Stmt{For{loop->index, loop->begin, loop->end, std::move(body), loop->independent}});
    }
  }
  /// Adds a local array with the extents of another.
  BufferId array_like(BufferId b) {
    Buffer out = p_[b];
    out.name = fmt::format("{}.step{}", out.name, p_.buffers.size());
    p_.buffers.push_back(std::move(out));
    return f_.local_arrays.emplace_back(p_.buffers.size() - 1);
  }

  Function& f_;
  const Block all_;           // the body of the function before the pass, in which mentions of arrays are counted
  ScalarId index_;            // index of the loop over steps that is looked at
  SmallIdSet<BufferId> own_;  // arrays that are private to a step
  int deepest_ = 0;           // the most loops around a sum
};

}  // namespace

/// Returns the program in which loops over steps inside lane loops run four steps at a time. Such a loop may only fill
/// private scratch and add, in loops, to elements that are the same at every step. The additions to an element keep
/// their order, so its bits stay. Cold functions stay as they are.
Program jam_steps(Program program) {
  for (std::size_t k = 0; k < program.functions.size(); ++k)
    if (!program.functions[k].cold) Steps(program, program.functions[k]);
  return program;
}

}  // namespace lehr::loops
