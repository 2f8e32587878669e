// The pass `bucket-by-length`: length bucketing of items before they run in lanes.
// Sequences in the lanes of a vector take as long as the longest of them. If neighbours have similar lengths, fewer
// lanes idle. Each window of 256 items is visited from the longest to the shortest.
//
// Length bucketing by counting, within windows of 256 items.
//   for window by 256: count = min(256, N - window)
//     for a: lengths[a] = length of item window + a
//     for a: order[number of items before it in the order] = window + a
//     for position in 0 .. count: item = order[position]; the original body
// The order is by decreasing length, and by number among equals. Counting takes 256 comparisons an item.
#include "compiler/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/recurrence.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// The number of items that are sorted together.
constexpr Threshold<std::int64_t> kWindow("bucket_by_length.window", 256);

/// How the length of an item's sequence is computed.
struct Length {
  std::vector<Stmt> lets;  // lets of the body that `value` needs, in order
  ExprId value;            // the length
};

/// Finds the end of a loop in the body that follows from the item's index and from what the body does not change.
class FindLength {
 public:
  FindLength(const Program& p, const For& loop) : p_(p), loop_(loop), effects_(effects_of(p, loop.body)) {
    for (const Stmt& s : loop.body) {
      if (const auto* let = std::get_if<Let>(&s.node)) lets_[let->scalar] = let->value;
    }
  }

  /// Returns the end of the first loop that depends on the item; nullopt if there is none.
  std::optional<Length> find() const {
    std::optional<Length> out;
    each_statement(loop_.body, [&](const Stmt& s) {
      const auto* inner = std::get_if<For>(&s.node);
      if (inner && !out && follows(inner->end) && needs_index(inner->end)) out = Length{needed(inner->end), inner->end};
    });
    return out;
  }

 private:
  /// Calls on_scalar for each scalar in the expression. Returns true if it loads no array that the body stores to.
  template <class OnScalar>
  bool loads_given(ExprId e, const OnScalar& on_scalar) const {
    bool given = true;
    Walk walk{p_, [](ExprId) {}, [&](BufferId b, bool) { given = given && !effects_.stores.contains(b); },
              [&](ScalarId s, ScalarUse) { on_scalar(s); }};
    walk.expr(e);
    return given;
  }
  /// Returns true if the expression can be evaluated before the body.
  bool follows(ExprId e) const {
    bool all = true;
    const bool given = loads_given(e, [&](ScalarId s) {
      if (const auto let = lets_.find(s); let != lets_.end()) all = all && follows(let->second);
      else all = all && !effects_.declares.contains(s) && !effects_.assigns.contains(s);
    });
    return given && all;
  }
  /// Returns true if the expression depends on the index of the item.
  bool needs_index(ExprId e) const {
    bool any = false;
    loads_given(e, [&](ScalarId s) {
      const auto let = lets_.find(s);
      any = any || s == loop_.index || (let != lets_.end() && needs_index(let->second));
    });
    return any;
  }
  /// Returns the lets that the expression needs, in the order of the body.
  std::vector<Stmt> needed(ExprId e) const {
    SmallIdSet<ScalarId> scalars;
    collect(e, scalars);
    std::vector<Stmt> out;
    std::ranges::copy_if(loop_.body, std::back_inserter(out), [&](const Stmt& s) {
      const auto* let = std::get_if<Let>(&s.node);
      return let && scalars.contains(let->scalar);
    });
    return out;
  }
  /// Adds the scalars of lets that the expression needs to `out`.
  void collect(ExprId e, SmallIdSet<ScalarId>& out) const {
    loads_given(e, [&](ScalarId s) {
      const auto let = lets_.find(s);
      if (let != lets_.end() && out.insert(s).second) collect(let->second, out);
    });
  }

  const Program& p_;
  const For& loop_;
  Effects effects_;
  std::map<ScalarId, ExprId> lets_;
};

/// Rewrites the loops of all functions of a program.
class Sort : ExprMaker {
 public:
  using ExprMaker::ExprMaker;

  void run() {
    rewrite_bodies(p_, arrays_, [&](Block& b) { block(b); });
  }

 private:
  /// Rewrites the loops of a block. Loops inside loops over items stay.
  void block(Block& b) {
    for (Stmt& s : b) {
      if (auto* branch = std::get_if<If>(&s.node)) {
        block(branch->then_block);
        block(branch->else_block);
      }
      auto* loop = std::get_if<For>(&s.node);
      if (!loop || !loop->independent || loop->step != 1 || !has_recurrence(p_, *loop)) continue;
      if (const auto length = FindLength(p_, *loop).find()) *loop = in_windows(std::move(*loop), *length);
    }
  }

  /// Returns the loop over windows that replaces the loop over items.
  For in_windows(For loop, const Length& length) {
    lengths_ = array("lengths");
    order_ = array("order");
    const ScalarId window = scalar("window"), count = scalar("count"), position = scalar("place");
    Block body;
    const ExprId left = binary(BinaryOp::subtract, loop.end, get(window));
    body.push_back(Stmt{Let{count, binary(BinaryOp::minimum, i(p_.thresholds[kWindow]), left)}});
    body.push_back(measured(loop, length, window, count));
    body.push_back(ranked(window, count));
    Block iteration;
    iteration.push_back(Stmt{Let{loop.index, load(order_, {get(position)})}});
    std::ranges::move(loop.body, std::back_inserter(iteration));
    body.push_back(Stmt{For{position, i(0), get(count), std::move(iteration), true, 1}});
    return For{window, loop.begin, loop.end, std::move(body), false, p_.thresholds[kWindow]};
  }

  /// Returns the loop that stores the lengths of a window's items.
  Stmt measured(const For& loop, const Length& length, ScalarId window, ScalarId count) {
    const ScalarId a = scalar("a");
    Substitutions names{{{loop.index, scalar(p_[loop.index].name)}}, {}};
    Block body;
    body.push_back(Stmt{Let{names.scalars.at(loop.index), binary(BinaryOp::add, get(window), get(a))}});
    for (const Stmt& s : length.lets) {
      const ScalarId let = std::get<Let>(s.node).scalar;
      names.scalars[let] = scalar(p_[let].name, p_[let].type);
      body.push_back(substituted(p_, names, s));
    }
    body.push_back(substituted(p_, names, Stmt{Store{lengths_, {get(a)}, length.value}}));
    return Stmt{For{a, i(0), get(count), std::move(body), false, 1}};
  }

  /// Returns the loop that stores the order of a window's items: the position of each is the number of items before it.
  Stmt ranked(ScalarId window, ScalarId count) {
    const ScalarId a = scalar("a"), b = scalar("b"), before = scalar("before"), own = scalar("own");
    const ExprId other = load(lengths_, {get(b)});
    const ExprId tie = both(compare(BinaryOp::equal, other, get(own)), less(get(b), get(a)));
    const ExprId comes = binary(BinaryOp::logical_or, less(get(own), other), tie);
    Block counted, body;
    counted.push_back(Stmt{Accumulate{before, select(comes, i(1), i(0))}});
    body.push_back(Stmt{Let{own, load(lengths_, {get(a)})}});
    body.push_back(Stmt{Local{before, i(0)}});
    body.push_back(Stmt{For{b, i(0), get(count), std::move(counted), false, 1}});
    body.push_back(Stmt{Store{order_, {get(before)}, binary(BinaryOp::add, get(window), get(a))}});
    return Stmt{For{a, i(0), get(count), std::move(body), false, 1}};
  }

  BufferId array(const std::string& stem) {
    p_.sizes.push_back({"window", p_.thresholds[kWindow], -1});
    const SizeId size(p_.sizes.size() - 1);
    p_.buffers.push_back({fmt::format("{}.{}", stem, p_.buffers.size()), Type::i64, Role::scratch, {size}});
    arrays_.emplace_back(p_.buffers.size() - 1);
    return arrays_.back();
  }

  BufferId lengths_, order_;
  std::vector<BufferId> arrays_;
};

}  // namespace

/// Returns the program in which loops over independent items visit the items of each window of 256 by decreasing
/// length. A loop qualifies if it has a recurrence (recurrence.h) whose length follows from data of the item.
Program bucket_by_length(Program program) {
  Sort(program).run();
  return program;
}

}  // namespace lehr::loops
