// Uniformity analysis: propagation of differences between iterations until nothing is added.
// Differences spread by data flow: a value formed from one that differs. They also spread by control flow: a write
// under a condition that differs, or in a loop whose length differs.
#include "compiler/analysis/varying.h"

#include <algorithm>
#include <vector>

#include "compiler/loops/walk.h"

namespace lehr::loops {

namespace {

/// Adds to `varying` what differs because of what is in it.
class Spread {
 public:
  /// `together`: iterations run in step, so that they differ by control flow, too, but share the indices of loops.
  Spread(const Program& p, Varying& varying, bool together) : p_(p), varying_(varying), together_(together) {}

  /// Looks at each statement once. Returns true if anything was added. `divergent`: not all iterations execute the
  /// block.
  bool block(const Block& b, bool divergent) {
    bool more = false;
    for (const Stmt& s : b)
      more = std::visit([&](const auto& node) { return of(node, divergent); }, s.node) || more;
    return more;
  }

 private:
  bool varies(ExprId e) const { return varying_.is_varying(p_, e); }
  /// Adds a scalar. Returns true if it is new.
  bool add(ScalarId s, bool varying) { return varying && varying_.scalars.insert(s).second; }
  /// Adds an array if it is scratch: other arrays are shared by all iterations. Returns true if it is new.
  bool add(BufferId b, bool varying) { return varying && is_scratch(p_[b]) && varying_.arrays.insert(b).second; }

  /// The functions `of` look at a statement of each kind and return true if anything was added.
  bool of(const For& x, bool divergent) {
    const bool either = varies(x.begin) || varies(x.end), more = !together_ && add(x.index, either);
    return block(x.body, divergent || (together_ && either)) || more;
  }
  bool of(const Let& x, bool) { return !down_.contains(x.scalar) && add(x.scalar, varies(x.value)); }
  bool of(const Local& x, bool) { return add(x.scalar, varies(x.initial)); }
  bool of(const Assign& x, bool divergent) { return add(x.scalar, divergent || varies(x.value)); }
  bool of(const Accumulate& x, bool divergent) {
    return add(x.scalar, divergent || varies(x.value) || (together_ && !declared_.contains(x.scalar)));
  }
  bool of(const Store& x, bool divergent) {
    return add(x.buffer,
               divergent || varies(x.value) || std::ranges::any_of(x.indices, [&](ExprId e) { return varies(e); }));
  }
  bool of(const Fill& x, bool divergent) { return add(x.buffer, divergent || varies(x.value)); }
  bool of(const If& x, bool divergent) {
    const bool either = divergent || (together_ && varies(x.condition));
    const bool more = block(x.then_block, either);
    return block(x.else_block, either) || more;
  }
  bool of(const BreakIf&, bool) { return false; }
  bool of(const Fail&, bool) { return false; }
  bool of(const Comment&, bool) { return false; }

  const Program& p_;
  Varying& varying_;
  const bool together_;

 public:
  SmallIdSet<ScalarId> down_;      // scalars of countdowns: all iterations count together, so they do not differ
  SmallIdSet<ScalarId> declared_;  // scalars that the body declares
};

}  // namespace

bool Varying::is_varying(const Program& p, ExprId e) const {
  if (memo.members != scalars.size() + arrays.size()) memo = {{}, scalars.size() + arrays.size()};
  if (e.index() >= memo.found.size()) memo.found.resize(p.exprs.size(), -1);
  if (memo.found[e.index()] < 0) {
    const auto* get = std::get_if<Get>(&p[e].node);
    const auto* load = std::get_if<Load>(&p[e].node);
    const bool own = (get && scalars.contains(get->scalar)) || (load && arrays.contains(load->buffer));
    memo.found[e.index()] = own || any_operand(p[e], [&](ExprId operand) { return is_varying(p, operand); });
  }
  return memo.found[e.index()] > 0;
}

std::optional<ScalarId> countdown(const Program& p, const For& loop) {
  const auto* let = loop.body.empty() ? nullptr : std::get_if<Let>(&loop.body[0].node);
  const auto* from = let ? std::get_if<Binary>(&p[let->value].node) : nullptr;
  if (!from || from->op != BinaryOp::subtract) return std::nullopt;
  const auto* last = std::get_if<Binary>(&p[from->left].node);
  const auto* index = std::get_if<Get>(&p[from->right].node);
  const auto* begin = std::get_if<ConstI>(&p[loop.begin].node);
  if (!last || last->op != BinaryOp::subtract || last->left != loop.end || !index || index->scalar != loop.index ||
      !begin || begin->value != 0)
    return std::nullopt;
  const auto* one = std::get_if<ConstI>(&p[last->right].node);
  if (!one || one->value != 1) return std::nullopt;
  bool used = false;
  Walk walk{p, [](ExprId) {}, [](BufferId, bool) {},
            [&](ScalarId s, ScalarUse how) { used = used || (s == loop.index && how == ScalarUse::read); }};
  for (std::size_t k = 1; k < loop.body.size(); ++k)
    std::visit([&](const auto& node) { walk.statement(node); }, loop.body[k].node);
  return used ? std::nullopt : std::optional(let->scalar);
}

namespace {

/// Adds the scalars of all countdowns in the block to `out`.
void find_countdowns(const Program& p, const Block& b, SmallIdSet<ScalarId>& out) {
  for (const Stmt& s : b) {
    if (const auto* loop = std::get_if<For>(&s.node)) {
      if (const auto let = countdown(p, *loop)) out.insert(*let);
      find_countdowns(p, loop->body, out);
    }
    if (const auto* branch = std::get_if<If>(&s.node)) {
      find_countdowns(p, branch->then_block, out);
      find_countdowns(p, branch->else_block, out);
    }
  }
}

}  // namespace

SmallIdSet<ScalarId> declared_in(const Block& block) {
  SmallIdSet<ScalarId> out;
  each_statement(block, [&](const Stmt& s) {
    if (const auto scalar = declared(s)) out.insert(*scalar);
  });
  return out;
}

Varying varying_in(const Program& program, const For& loop) {
  Varying out;
  out.scalars.insert(loop.index);
  Spread spread(program, out, true);
  find_countdowns(program, loop.body, spread.down_);
  spread.declared_ = declared_in(loop.body);
  while (spread.block(loop.body, false)) {
  }
  return out;
}

Varying formed_from(const Program& program, const Block& block, SmallIdSet<ScalarId> from) {
  Varying out{std::move(from), {}};
  Spread spread(program, out, false);
  while (spread.block(block, false)) {
  }
  return out;
}

}  // namespace lehr::loops
