// Liveness of statements, by marking until nothing changes.
// A loop can carry a value from a later statement to an earlier one, so that one backward walk is not enough.
#include "compiler/analysis/liveness.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "compiler/loops/walk.h"

namespace lehr::loops {
namespace {

/// Returns a walk that collects the scalars and arrays which the visited code reads.
auto reader(const Program& p, std::unordered_set<ScalarId>& scalars, std::unordered_set<BufferId>& arrays) {
  const auto load = [&arrays](BufferId b, bool stored) {
    if (!stored) arrays.insert(b);
  };
  const auto read = [&scalars](ScalarId x, ScalarUse how) {
    if (how == ScalarUse::read) scalars.insert(x);
  };
  return Walk{p, [](ExprId) {}, load, read};
}

}  // namespace

Liveness::Liveness(const Program& program, const Function& f, SmallIdSet<BufferId> own,
                   const SmallIdSet<BufferId>& never_read)
    : p_(program), own_(std::move(own)), never_read_(never_read) {
  std::size_t before = 0;
  do {
    before = scalars_.size() + arrays_.size();
    mark(f.body);
  } while (scalars_.size() + arrays_.size() > before);
}

bool Liveness::operator()(const Block& b) const {
  return std::ranges::any_of(b, [&](const Stmt& s) { return (*this)(s); });
}

bool Liveness::operator()(const Stmt& s) const {
  return std::visit([&](const auto& x) { return is_live(x); }, s.node);
}

void Liveness::reads(ExprId e) { reader(p_, scalars_, arrays_).expr(e); }

void Liveness::reads(const Stmt& s) {
  auto through = reader(p_, scalars_, arrays_);
  std::visit([&](const auto& node) { through.statement(node); }, s.node);
}

/// A value comes from statements before the one that reads it, so the walk goes backwards.
bool Liveness::mark(const Block& b) {
  bool out = false;
  for (auto s = b.rbegin(); s != b.rend(); ++s)
    out = mark(*s) || out;
  return out;
}

bool Liveness::mark(const Stmt& s) {
  if (const auto* loop = std::get_if<For>(&s.node)) {
    if (!mark(loop->body)) return false;
    reads(loop->begin);
    reads(loop->end);
    return true;
  }
  if (const auto* branch = std::get_if<If>(&s.node)) {
    const bool in_then = mark(branch->then_block), in_else = mark(branch->else_block);
    if (in_then || in_else) reads(branch->condition);
    return in_then || in_else;
  }
  if (!(*this)(s)) return false;
  reads(s);
  return true;
}

Block Liveness::rest(const Block& b) const {
  Block out;
  for (const Stmt& s : b) {
    const bool is_comment = std::holds_alternative<Comment>(s.node);
    if (!is_comment && !(*this)(s)) {
      while (!out.empty() && std::holds_alternative<Comment>(out.back().node))
        out.pop_back();
      continue;
    }
    Stmt& live = out.emplace_back(s);
    if (auto* loop = std::get_if<For>(&live.node)) loop->body = rest(loop->body);
    if (auto* branch = std::get_if<If>(&live.node)) {
      branch->then_block = rest(branch->then_block);
      branch->else_block = rest(branch->else_block);
    }
  }
  return out;
}

}  // namespace lehr::loops
