#include "compiler/passes/jam.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "compiler/passes/effects.h"
#include "compiler/passes/independent_loops.h"
#include "compiler/passes/recompute.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/slices.h"

namespace lehr::loops {
namespace {

constexpr std::int64_t kMostTurns = 8, kFewTurns = 4;
constexpr std::int64_t kNarrow = 24;   // of a longer one the registers hold no more than kFewTurns
constexpr std::int64_t kLongest = 64;  // four of a longer one are too much for the registers, up to kInMemory
constexpr std::int64_t kLong = 8;      // a shorter loop is no vector

std::optional<std::int64_t> literal(const Program& p, ExprId e) {
  const auto* constant = std::get_if<ConstI>(&p[e].node);
  return constant ? std::optional(constant->value) : std::nullopt;
}

bool is_index(const Program& p, ExprId e, ScalarId scalar) {
  const auto* get = std::get_if<Get>(&p[e].node);
  return get && get->scalar == scalar;
}

bool mentions(const Program& p, const Stmt& s, BufferId b) {
  const Effects x = effects_of(p, s);
  return x.loads.contains(b) || x.stores.contains(b);
}

/// A loop over all of an array of one axis whose first access to it is that it stores the element of its index.
bool fills(const Program& p, const Stmt& s, BufferId b) {
  if (const auto* fill = std::get_if<Fill>(&s.node)) return fill->buffer == b;
  const auto* loop = std::get_if<For>(&s.node);
  if (!loop || p[b].axes.size() != 1) return false;
  if (literal(p, loop->begin) != 0 || literal(p, loop->end) != p[p[b].axes[0]].constant) return false;
  for (const Stmt& x : loop->body) {
    const auto* store = std::get_if<Store>(&x.node);
    const bool whole = store && store->buffer == b && !store->accumulate && is_index(p, store->indices[0], loop->index);
    if (whole) return !effects_of(p, Stmt{Let{loop->index, store->value}}).loads.contains(b);
    if (mentions(p, x, b)) return false;
  }
  return false;
}

/// Nothing of the array is read before it was filled in the same block, or in one around within this one.
bool is_filled_first(const Program& p, const Block& block, BufferId b) {
  for (const Stmt& s : block) {
    if (!mentions(p, s, b)) continue;
    if (fills(p, s, b)) return true;
    const auto* loop = std::get_if<For>(&s.node);
    const auto* branch = std::get_if<If>(&s.node);
    if (loop && is_filled_first(p, loop->body, b)) continue;
    if (branch && is_filled_first(p, branch->then_block, b) && is_filled_first(p, branch->else_block, b)) continue;
    return false;
  }
  return true;
}

/// A body in two parts, with a condition between them.
struct Parts {
  Block before, after;
  const If* branch = nullptr;
};

std::optional<Parts> parts_of(const Block& body) {
  Parts out;
  for (const Stmt& s : body) {
    if (std::holds_alternative<Comment>(s.node)) continue;
    if (const auto* branch = std::get_if<If>(&s.node)) {
      if (out.branch || !branch->else_block.empty()) return std::nullopt;
      out.branch = branch;
      continue;
    }
    (out.branch ? out.after : out.before).push_back(s);
  }
  return out;
}

/// Whether several turns of a loop are worked on at a time already.
bool is_side_by_side(const Block& b) {
  bool found = false;
  each_statement(b, [&](const Stmt& s) {
    const auto* loop = std::get_if<For>(&s.node);
    found = found || (loop && loop->step != 1);
  });
  return found;
}

class Jam {
 public:
  explicit Jam(Program& p) : p_(p) {}

  void function(std::size_t k) {
    if (is_side_by_side(p_.functions[k].body)) return;
    f_ = k;
    Block body = std::move(p_.functions[k].body);
    block(body);
    p_.functions[k].body = std::move(body);
  }

 private:
  void block(Block& b) {
    around_.push_back(&b);
    for (Stmt& s : b) {
      if (auto* branch = std::get_if<If>(&s.node)) {
        block(branch->then_block);
        block(branch->else_block);
      }
      auto* loop = std::get_if<For>(&s.node);
      if (!loop) continue;
      if (const std::optional<Parts> parts = fitting(*loop)) s = jammed(*loop, *parts);
      else block(loop->body);
    }
    around_.pop_back();
  }

  /// The parts of a loop whose turns can go together, and gain by it.
  std::optional<Parts> fitting(const For& loop) {
    if (literal(p_, loop.begin) != 0 || literal(p_, loop.end)) return std::nullopt;
    const std::optional<Parts> parts = parts_of(loop.body);
    if (!parts) return std::nullopt;
    Effects before, after;
    for (const Stmt& s : parts->before)
      before.add(effects_of(p_, s));
    for (const Stmt& s : parts->after)
      after.add(effects_of(p_, s));
    own_.clear();
    for (const auto& stores : {before.stores, after.stores}) {
      for (const BufferId b : stores) {
        if (is_own(b, loop)) own_.insert(b);
      }
    }
    Effects all = before;
    all.add(after);
    const auto own_array = [&](BufferId b) { return own_.contains(b); };
    const auto own_number = [&](ScalarId s) { return all.declares.contains(s); };
    const bool private_before =
        std::ranges::all_of(before.stores, own_array) && std::ranges::all_of(before.assigns, own_number);
    const bool unread =
        std::ranges::all_of(after.stores, [&](BufferId b) { return own_array(b) || !all.loads.contains(b); });
    if (!private_before || !unread || !std::ranges::all_of(after.assigns, own_number)) return std::nullopt;
    long_loops_ = sums_ = 0;
    turns_ = kMostTurns;
    if (!is_simple(loop, parts->before) || !is_simple(loop, parts->after)) return std::nullopt;
    return long_loops_ > 1 && sums_ > 0 ? parts : std::nullopt;
  }

  /// An array of the function that every turn fills before it reads it, and that nothing outside reads.
  bool is_own(BufferId b, const For& loop) const {
    const std::vector<BufferId>& arrays = p_.functions[f_].local_arrays;
    if (std::ranges::find(arrays, b) == arrays.end() || !is_filled_first(p_, loop.body, b)) return false;
    const auto is_apart = [&](const Stmt& s) {
      if (!mentions(p_, s, b)) return true;
      if (fills(p_, s, b)) return false;
      if (const auto* branch = std::get_if<If>(&s.node))
        return is_filled_first(p_, branch->then_block, b) && is_filled_first(p_, branch->else_block, b);
      const auto* other = std::get_if<For>(&s.node);
      return other && is_filled_first(p_, other->body, b);
    };
    return std::ranges::all_of(around_, [&](const Block* x) { return std::ranges::all_of(*x, is_apart); });
  }

  /// Numbers, loops of constant length, and sums into elements that are the same for all turns.
  bool is_simple(const For& turns, const Block& b) {
    return std::ranges::all_of(b, [&](const Stmt& s) {
      if (const auto* store = std::get_if<Store>(&s.node)) return is_simple(turns, *store);
      if (const auto* loop = std::get_if<For>(&s.node)) {
        const auto end = literal(p_, loop->end);
        if (literal(p_, loop->begin) != 0 || !end || (*end > kLongest && *end < kInMemory)) return false;
        long_loops_ += *end >= kLong;
        if (*end > kNarrow && *end <= kLongest) turns_ = kFewTurns;
        return is_simple(turns, loop->body);
      }
      return std::holds_alternative<Let>(s.node) || std::holds_alternative<Local>(s.node) ||
             std::holds_alternative<Assign>(s.node) || std::holds_alternative<Accumulate>(s.node);
    });
  }
  bool is_simple(const For& turns, const Store& store) {
    if (own_.contains(store.buffer)) return true;
    for (const ExprId at : store.indices) {
      const Effects x = effects_of(p_, Stmt{Let{turns.index, at}});
      if (!x.loads.empty() || x.reads.contains(turns.index)) return false;
    }
    ++sums_;
    return store.accumulate;
  }

  // ---- the loop that comes of it
  Stmt jammed(const For& loop, const Parts& parts) {
    copies_.assign(static_cast<std::size_t>(turns_), {});
    const ExprId first = get(scalar(p_[loop.index].name + ".first", Type::i64));
    const ScalarId group = scalar(p_[loop.index].name + ".group", Type::i64), plain = scalar("plain", Type::i64);
    Block together;
    for (std::int64_t r = 0; r < turns_; ++r) {
      Names& names = copies_[static_cast<std::size_t>(r)];
      const ScalarId turn = names.scalars[loop.index] = scalar(p_[loop.index].name, Type::i64);
      for (const BufferId b : own_)
        names.arrays[b] = copy_of(b);
      together.push_back(Stmt{Let{turn, binary(BinaryOp::add, first, integer(r))}});
    }
    put_copies(parts.before, together);
    Block rest{Stmt{Assign{plain, integer(0)}}};
    put_copies(parts.after, rest);
    if (parts.branch) {
      together.push_back(Stmt{If{none(parts.branch->condition), std::move(rest), {}}});
    } else {
      std::ranges::move(rest, std::back_inserter(together));
    }
    const ExprId next = binary(BinaryOp::add, first, integer(turns_));
    Block body;
    body.push_back(
        Stmt{Let{std::get<Get>(p_[first].node).scalar, binary(BinaryOp::multiply, get(group), integer(turns_))}});
    body.push_back(Stmt{BreakIf{condition(BinaryOp::less_equal, loop.end, first)}});
    body.push_back(Stmt{Local{plain, integer(1)}});
    body.push_back(Stmt{If{condition(BinaryOp::less_equal, next, loop.end), std::move(together), {}}});
    Block alone{Stmt{For{loop.index, first, binary(BinaryOp::minimum, next, loop.end), loop.body, loop.independent}}};
    body.push_back(Stmt{If{condition(BinaryOp::equal, get(plain), integer(1)), std::move(alone), {}}});
    return Stmt{For{group, integer(0), loop.end, std::move(body), false}};
  }

  /// Statement by statement, all turns of one after another; their loops become one.
  void put_copies(const Block& from, Block& to) {
    for (const Stmt& s : from) {
      if (const auto* loop = std::get_if<For>(&s.node)) {
        Block body;
        put_copies(loop->body, body);
        to.push_back(Stmt{For{loop->index, loop->begin, loop->end, std::move(body), loop->independent, loop->step}});
        continue;
      }
      const auto* store = std::get_if<Store>(&s.node);
      if (store && !own_.contains(store->buffer)) {
        to.push_back(sum_of_copies(*store));
        continue;
      }
      for (Names& names : copies_) {
        declare(s, names);
        to.push_back(with_names(p_, names, s));
      }
    }
  }
  void declare(const Stmt& s, Names& names) {
    for (const ScalarId x : effects_of(p_, s).declares)
      names.scalars[x] = scalar(p_[x].name, p_[x].type);
  }
  Stmt sum_of_copies(const Store& store) {
    std::vector<ExprId> parts;
    for (const Names& names : copies_) {
      const Stmt copy = with_names(p_, names, Stmt{store});
      parts.push_back(std::get<Store>(copy.node).value);
    }
    // In pairs: what is added to waits for one addition.
    for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
      for (std::size_t k = 0; k < parts.size() / 2; ++k)
        parts[k] = binary(BinaryOp::add, parts[2 * k], parts[2 * k + 1], p_[parts[2 * k]].type);
    }
    return Stmt{Store{store.buffer, store.indices, parts[0], true}};
  }
  ExprId none(ExprId of) {
    ExprId any;
    for (const Names& names : copies_) {
      const ScalarId unused = scalar("c", Type::boolean);
      const ExprId one = std::get<Let>(with_names(p_, names, Stmt{Let{unused, of}}).node).value;
      any = any.valid() ? condition(BinaryOp::logical_or, any, one) : one;
    }
    return make(p_, Type::boolean, Unary{UnaryOp::logical_not, any});
  }

  BufferId copy_of(BufferId b) {
    Buffer out = p_[b];
    out.name = fmt::format("{}.turn{}", out.name, p_.buffers.size());
    p_.buffers.push_back(std::move(out));
    p_.functions[f_].local_arrays.emplace_back(p_.buffers.size() - 1);
    return BufferId(p_.buffers.size() - 1);
  }
  ScalarId scalar(std::string name, Type type) {
    p_.scalars.push_back({std::move(name), type});
    return ScalarId(p_.scalars.size() - 1);
  }
  ExprId get(ScalarId s) { return make(p_, p_[s].type, Get{s}); }
  ExprId integer(std::int64_t n) { return make(p_, Type::i64, ConstI{n}); }
  ExprId binary(BinaryOp op, ExprId a, ExprId b, Type type = Type::i64) { return make(p_, type, Binary{op, a, b}); }
  ExprId condition(BinaryOp op, ExprId a, ExprId b) { return binary(op, a, b, Type::boolean); }

  Program& p_;
  std::size_t f_ = 0;
  std::vector<const Block*> around_;  // outermost first
  std::set<BufferId> own_;            // of a turn
  std::vector<Names> copies_;         // by turn of a group
  std::int64_t long_loops_ = 0, sums_ = 0, turns_ = kMostTurns;
};

}  // namespace

Program jam_turns(Program program) {
  Jam jam(program);
  for (std::size_t k = 0; k < program.functions.size(); ++k) {
    if (!program.functions[k].cold) jam.function(k);
  }
  return program;
}

}  // namespace lehr::loops
