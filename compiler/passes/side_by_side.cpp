#include "compiler/passes/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/turn_places.h"
#include "compiler/passes/waiting.h"
#include "compiler/support/overloaded.h"

namespace lehr::loops {
namespace {

constexpr std::int64_t kWidestSum = 1024;  // numbers
constexpr std::int64_t kOnStack = 4096;    // of all arrays together
constexpr std::int64_t kFewestLanes = 8;   // of turns that are written out else: a vector

class SideBySide {
 public:
  SideBySide(Program& p, const For& loop, const Varying& varying, const Arrangement& how)
      : p_(p), loop_(loop), varying_(varying), how_(how) {
    p_.sizes.push_back({"turns", how.turns, -1});
    turns_ = SizeId(p_.sizes.size() - 1);
    first_ = scalar("first", Type::i64);
    to_ = how.turns;
  }

  Block take(std::vector<BufferId>& arrays) {
    Block together = how_.written_out ? Block{} : open_lanes();
    append(together, in_groups(loop_.body));

    const ScalarId rest = scalar(p_[loop_.index].name, Type::i64);
    Block single{Stmt{Let{loop_.index, get(rest)}}};
    append(single, loop_.body);
    Block singles{Stmt{For{rest, get(first_), loop_.end, std::move(single), true, 1}}};
    const ExprId few = less(binary(BinaryOp::subtract, loop_.end, get(first_)), i(how_.fewest));
    Block body{Stmt{If{few, std::move(singles), std::move(together)}}};

    Block out;
    for (const auto& [sum, apart] : sums_)
      out.push_back(Stmt{Fill{apart, f(0)}});
    out.push_back(Stmt{For{first_, loop_.begin, loop_.end, std::move(body), false, how_.turns, true}});
    for (const auto& [sum, apart] : sums_)
      append(out, added_up(sum, apart));
    arrays.insert(arrays.end(), on_stack_.begin(), on_stack_.end());
    return out;
  }

 private:
  /// Which turns come to a statement.
  struct Mask {
    BufferId array;                // 0 or 1 by turn
    std::vector<ScalarId> ranges;  // loops that some turns have left, by their index
    bool chosen = false;           // by a branch too
  };
  using EachTurn = std::function<void(Block& out)>;

  // ---- making things ----
  ExprId make(Type type, decltype(Expr::node) node) { return loops::make(p_, type, std::move(node)); }
  ExprId f(double value) { return make(Type::f64, ConstF{value}); }
  ExprId i(std::int64_t value) { return make(Type::i64, ConstI{value}); }
  ExprId get(ScalarId s) { return make(p_[s].type, Get{s}); }
  ExprId load(BufferId b, std::vector<ExprId> at) { return make(p_[b].element, Load{b, std::move(at)}); }
  ExprId binary(BinaryOp op, ExprId a, ExprId b) { return make(p_[a].type, Binary{op, a, b}); }
  ExprId less(ExprId a, ExprId b) { return make(Type::boolean, Binary{BinaryOp::less, a, b}); }
  ExprId both(ExprId a, ExprId b) { return make(Type::boolean, Binary{BinaryOp::logical_and, a, b}); }
  ExprId select(ExprId c, ExprId a, ExprId b) { return make(p_[a].type, Select{c, a, b}); }
  ExprId in(const Mask& m) { return make(Type::boolean, Binary{BinaryOp::equal, of_turn(m.array), i(1)}); }
  static void append(Block& to, Block more) { std::ranges::move(more, std::back_inserter(to)); }

  ScalarId scalar(const std::string& stem, Type type) { return make_scalar(p_, stem, type); }
  BufferId array(const std::string& stem, std::vector<SizeId> axes, Type type) {
    axes.insert(written_out() ? axes.begin() : axes.end(), turns_);
    p_.buffers.push_back({fmt::format("turns.{}.{}", stem, p_.buffers.size()), type, Role::scratch, std::move(axes)});
    const BufferId out(p_.buffers.size() - 1);
    const std::int64_t numbers = constant_extents(p_, out);
    if (has_constant_extents(p_, p_[out]) && on_stack_numbers_ + numbers <= kOnStack) {
      on_stack_numbers_ += numbers;
      on_stack_.push_back(out);
    }
    return out;
  }
  BufferId copies(ScalarId s) {
    const auto [it, made] = of_scalar_.try_emplace(s);
    if (made) it->second = array(p_[s].name, {}, p_[s].type);
    return it->second;
  }
  BufferId copies(BufferId b, std::map<BufferId, BufferId>& all) {
    const auto [it, made] = all.try_emplace(b);
    if (made) it->second = array(p_[b].name, p_[b].axes, p_[b].element);
    return it->second;
  }

  // ---- turns ----
  /// What is stated once for each turn, and not in a loop over them.
  bool written_out() const { return how_.written_out && !waiting_; }
  /// Statements for every turn.
  void turns(Block& out, const EachTurn& each, bool independent = true) {
    if (!written_out()) return in_loop(out, each, independent);
    for (turn_ = from_; turn_ < to_; ++turn_)
      each(out);
  }
  /// In a loop over the turns, where they are written out else.
  void in_loop(Block& out, const EachTurn& each, bool independent) {
    in_loop_ = true;
    turn_index_ = scalar("turn", Type::i64);
    Block body;
    each(body);
    in_loop_ = false;
    if (!body.empty()) out.push_back(Stmt{For{turn_index_, i(from_), i(to_), std::move(body), independent, 1}});
  }
  bool is_number() const { return how_.written_out && !in_loop_; }
  ExprId turn() { return is_number() ? i(turn_) : get(turn_index_); }
  std::int64_t turn_key() const {
    return is_number() ? turn_ : how_.turns + static_cast<std::int64_t>(turn_index_.index());
  }
  std::vector<ExprId> with_turn(BufferId b, std::vector<ExprId> at) {
    at.insert(p_[b].axes.front() == turns_ ? at.begin() : at.end(), turn());
    return at;
  }
  ExprId of_turn(BufferId b, std::vector<ExprId> at = {}) { return load(b, with_turn(b, std::move(at))); }
  Stmt put(BufferId b, std::vector<ExprId> at, ExprId value, bool accumulate = false) {
    return Stmt{Store{b, with_turn(b, std::move(at)), value, accumulate}};
  }

  /// Lanes beyond the end do what the last one does, but for sums.
  Block open_lanes() {
    active_ = array("active", {}, Type::i64);
    of_scalar_[loop_.index] = array(p_[loop_.index].name, {}, Type::i64);
    Block out;
    turns(out, [&](Block& lane) {
      const ExprId ahead = binary(BinaryOp::add, get(first_), turn());
      const ExprId last = binary(BinaryOp::subtract, loop_.end, i(1));
      lane.push_back(put(active_, {}, select(less(ahead, loop_.end), i(1), i(0))));
      lane.push_back(put(of_scalar_.at(loop_.index), {}, binary(BinaryOp::minimum, ahead, last)));
    });
    return out;
  }

  // ---- expressions of one turn ----
  bool varies(ExprId e) const { return varying_.holds(p_, e); }
  bool all_come(const Mask& m) const { return !m.array.valid() || m.array == active_; }

  /// Loads are done for turns that are elsewhere, too: from the beginning of an axis.
  std::vector<ExprId> place(const std::vector<ExprId>& at, const Mask& m) {
    std::vector<ExprId> out;
    for (const ExprId e : at) {
      if (const auto row = rows_.find(e); row != rows_.end()) out.push_back(of_turn(row->second.array, row->second.at));
      else out.push_back(clamped(e, m));
    }
    return out;
  }
  ExprId clamped(ExprId e, const Mask& m) {
    return !varies(e) || all_come(m) ? value(e, m) : select(in(m), value(e, m), i(0));
  }

  struct Row {
    BufferId array;
    std::vector<ExprId> at;  // beside the turn
  };

  /// Those that are not in arrays yet.
  std::vector<ExprId> loaded_places(const For& x, std::optional<ScalarId> index, bool all) const {
    std::vector<ExprId> out = loops::loaded_places(p_, varying_, x, index, all);
    std::erase_if(out, [&](ExprId e) { return rows_.contains(e); });
    return out;
  }

  /// Those that are the same in all turns of a constant loop are found before it; those that are added.
  std::vector<ExprId> find_rows(const For& x, const Mask& m, Block& out) {
    if (!has_turns(p_, x)) return {};
    return put_rows(loaded_places(x, std::nullopt, true), {}, {}, m, out);
  }
  /// Puts them into arrays with `axes` at `at`, and reads them there from now on.
  std::vector<ExprId> put_rows(const std::vector<ExprId>& found, const std::vector<SizeId>& axes,
                               const std::vector<ExprId>& at, const Mask& m, Block& out) {
    std::map<ExprId, Row> rows;
    turns(out, [&](Block& turn) {
      for (const ExprId e : found) {
        const Row& row = rows.try_emplace(e, Row{array("row", axes, Type::i64), at}).first->second;
        turn.push_back(put(row.array, at, clamped(e, m)));
      }
    });
    rows_.insert(rows.begin(), rows.end());
    return found;
  }
  void forget_rows(const std::vector<ExprId>& found) {
    for (const ExprId e : found)
      rows_.erase(e);
  }
  ExprId value(const Get& x) {
    if (how_.written_out && x.scalar == loop_.index) return binary(BinaryOp::add, get(first_), turn());
    return of_turn(copies(x.scalar));
  }
  ExprId value(const Load& x, const Mask& m) {
    if (const auto row = turned_.find(x.buffer); row != turned_.end()) return of_turn(row->second, {x.indices.back()});
    std::vector<ExprId> at = place(x.indices, m);
    if (varying_.arrays.contains(x.buffer)) return of_turn(copies(x.buffer, of_array_), std::move(at));
    return load(x.buffer, std::move(at));
  }
  ExprId value(ExprId e, const Mask& m) {
    if (!varies(e)) return e;
    if (const auto all = called_.find(e); all != called_.end()) return of_turn(all->second);
    if (const auto row = laid_out_.find(e); row != laid_out_.end())
      return load(row->second, {turn(), std::get<Load>(p_[e].node).indices.back()});
    const auto key = std::tuple(e, m.array, turn_key());
    if (const auto known = made_.find(key); known != made_.end()) return known->second;
    const Expr x = p_[e];
    const auto sub = [&](ExprId of) { return value(of, m); };
    const ExprId out = std::visit(
        Overloaded{
            [&](const Get& n) { return value(n); }, [&](const Load& n) { return value(n, m); },
            [&](const Unary& n) {
              return make(x.type, Unary{n.op, sub(n.operand)});
            },
            [&](const Binary& n) {
              return make(x.type, Binary{n.op, sub(n.left), sub(n.right)});
            },
            [&](const Select& n) {
              return make(x.type, Select{sub(n.condition), sub(n.if_true), sub(n.if_false)});
            },
            [&](const Random& n) {
              return make(x.type, Random{n.noise, n.key, n.site, sub(n.element), sub(n.component), sub(n.a), sub(n.b)});
            },
            [&](const auto&) { return e; }},
        x.node);
    return made_[key] = out;
  }

  // ---- statements ----
  /// What does not wait for functions, for some turns after the other; what all share, once.
  Block in_groups(const Block& b) {
    const Mask all{active_, {}, false};
    if (how_.together == 0) return block(b, all);
    Block out;
    for (auto s = b.begin(); s != b.end();) {
      if (is_shared(*s) || waits_for_functions(p_, *s)) {
        append(out, block({*s++}, all));
        continue;
      }
      const auto end =
          std::find_if(s, b.end(), [&](const Stmt& x) { return is_shared(x) || waits_for_functions(p_, x); });
      for (from_ = 0; from_ < how_.turns; from_ = to_) {
        to_ = from_ + how_.together;
        append(out, block({s, end}, all));
      }
      from_ = 0;
      to_ = how_.turns;
      s = end;
    }
    return out;
  }
  bool is_shared(const Stmt& s) const {
    return !is_own(s) && (std::holds_alternative<Let>(s.node) || std::holds_alternative<Local>(s.node));
  }

  Block block(const Block& b, const Mask& m) {
    Block out;
    std::vector<const Stmt*> together;  // statements that share a loop over the turns
    const auto flush = [&] {
      turns(out, [&](Block& turn) {
        for (const Stmt* s : together)
          turn.push_back(*own(*s, m));
      });
      together.clear();
    };
    const bool calls_apart = written_out() && has_loop(b);
    for (const Stmt& s : b) {
      if (const std::optional<ExprId> call = calls_apart ? called(s) : std::nullopt) {
        flush();
        call_for_all(*call, m, out);
      }
      if (is_own(s)) {
        together.push_back(&s);
        if (!called_.empty()) flush();
      } else {
        // A let that all turns share is computed from what they share.
        if (!std::holds_alternative<Let>(s.node)) flush();
        std::visit([&](const auto& node) { of(node, m, out); }, s.node);
      }
      called_.clear();
    }
    flush();
    return out;
  }

  /// What a statement makes of functions, where it is a number for each turn.
  std::optional<ExprId> called(const Stmt& s) const {
    const ExprId value = value_of(s);
    const bool apart = value.valid() && p_[value].type == Type::f64 && varies(value) && calls_function(p_, value);
    return apart ? std::optional(value) : std::nullopt;
  }
  /// Turns that are written out call functions together, in a loop that is one on vectors.
  void call_for_all(ExprId call, const Mask& m, Block& out) {
    const BufferId values = array("called", {}, Type::f64);
    in_loop(
        out, [&](Block& turn) { turn.push_back(put(values, {}, value(call, m))); }, true);
    called_[call] = values;
  }

  /// An array that every turn has for itself, here.
  bool is_row(BufferId b) const { return varying_.arrays.contains(b) || turned_.contains(b); }
  /// One store of each turn to what is its own.
  bool is_own(const Stmt& s) const {
    return std::visit(Overloaded{[&](const Store& x) { return is_row(x.buffer) || is_sum(x); },
                                 [&](const Let& x) { return varying_.scalars.contains(x.scalar); },
                                 [&](const Local& x) { return varying_.scalars.contains(x.scalar); },
                                 [&](const Assign& x) { return varying_.scalars.contains(x.scalar); },
                                 [&](const Accumulate& x) { return varying_.scalars.contains(x.scalar); },
                                 [](const auto&) { return false; }},
                      s.node);
  }
  std::optional<Stmt> own(const Stmt& s, const Mask& m) {
    using Made = std::optional<Stmt>;
    return std::visit(
        Overloaded{[&](const Let& x) -> Made { return put(copies(x.scalar), {}, value(x.value, m)); },
                   [&](const Local& x) -> Made {
                     declared_[x.scalar] = m.array;
                     return put(copies(x.scalar), {}, value(x.initial, m));
                   },
                   [&](const Assign& x) -> Made { return changed(x.scalar, x.value, false, m); },
                   [&](const Accumulate& x) -> Made { return changed(x.scalar, x.value, true, m); },
                   [&](const Store& x) -> Made { return stored(x, m); }, [](const auto&) -> Made { return {}; }},
        s.node);
  }
  Stmt changed(ScalarId s, ExprId to, bool accumulate, const Mask& m) {
    const bool always = declared_.contains(s) && declared_.at(s) == m.array;
    return masked(copies(s), {}, value(to, m), accumulate, always, m);
  }
  Stmt stored(const Store& x, const Mask& m) {
    if (const auto row = turned_.find(x.buffer); row != turned_.end())
      return put(row->second, {x.indices.back()}, value(x.value, m), x.accumulate);
    if (varying_.arrays.contains(x.buffer)) {
      return masked(copies(x.buffer, of_array_), place(x.indices, m), value(x.value, m), x.accumulate, is_unread(x, m),
                    m);
    }
    if (how_.written_out && all_come(m)) return Stmt{Store{x.buffer, x.indices, value(x.value, m), true}};
    if (!how_.written_out) return masked(copies(x.buffer, sums_), x.indices, value(x.value, m), true, false, m);
    return Stmt{Store{x.buffer, x.indices, select(in(m), value(x.value, m), f(0)), true}};
  }
  Stmt masked(BufferId b, std::vector<ExprId> at, ExprId to, bool accumulate, bool always, const Mask& m) {
    if (!always && m.array.valid())
      to = select(in(m), to, !accumulate ? of_turn(b, at) : p_[b].element == Type::f64 ? f(0) : i(0));
    return put(b, std::move(at), to, accumulate);
  }
  /// Whatever turns store that do not come here is read by none, as they have left loops whose index is in the place.
  bool is_unread(const Store& x, const Mask& m) const {
    return !m.chosen && std::ranges::all_of(m.ranges, [&](ScalarId index) {
      return std::ranges::any_of(x.indices, [&](ExprId e) {
        const auto* n = std::get_if<Get>(&p_[e].node);
        return n && n->scalar == index;
      });
    });
  }
  bool is_sum(const Store& x) const {
    return x.accumulate && p_[x.buffer].role == Role::statistic && has_constant_extents(p_, p_[x.buffer]) &&
           (how_.written_out || constant_extents(p_, x.buffer) <= kWidestSum) &&
           std::ranges::none_of(x.indices, [&](ExprId e) { return varies(e); });
  }

  void of(const For& x, const Mask& m, Block& out) {
    if (written_out() && adds_functions_up(p_, varying_, x)) return turn_by_turn(x, m, out);
    if (written_out() && how_.turns >= kFewestLanes && waits_for_functions(p_, x)) {
      if (const auto rows = item_rows(p_, varying_, loop_.index, x)) return wait(x, *rows, m, out);
    }
    if (!varies(x.end)) {
      const std::vector<ExprId> rows = how_.written_out ? std::vector<ExprId>{} : find_rows(x, m, out);
      if (!how_.written_out && has_turns(p_, x) && puts_away(x)) one_by_one(x, m, out);
      else out.push_back(Stmt{For{x.index, x.begin, x.end, block(x.body, m), false, x.step}});
      return forget_rows(rows);
    }
    const BufferId ends = array("end", {}, Type::i64);
    const ScalarId longest = scalar("longest", Type::i64);
    const std::optional<ScalarId> down = countdown(p_, x);
    const ScalarId index = down.value_or(x.index);
    Mask within{array("within", {}, Type::i64), m.ranges, m.chosen};
    within.ranges.push_back(index);
    out.push_back(Stmt{Local{longest, x.begin}});
    turns(
        out,
        [&](Block& turn) {
          const ExprId end = value(x.end, m);
          turn.push_back(put(ends, {}, all_come(m) ? end : select(in(m), end, x.begin)));
          turn.push_back(Stmt{Assign{longest, binary(BinaryOp::maximum, get(longest), of_turn(ends))}});
        },
        false);
    Block body, rest = x.body;
    if (down) {
      const ExprId last = binary(BinaryOp::subtract, get(longest), i(1));
      body.push_back(Stmt{Let{*down, binary(BinaryOp::subtract, last, get(x.index))}});
      rest.erase(rest.begin());
    }
    turns(body, [&](Block& turn) {
      ExprId inside = less(get(index), of_turn(ends));
      if (m.array.valid()) inside = both(in(m), inside);
      turn.push_back(put(within.array, {}, select(inside, i(1), i(0))));
    });
    std::vector<ExprId> rows;
    if (const auto steps = axis_of(p_, varying_, x, index)) {
      // In a loop before it, so that what waits for memory waits for nothing else.
      if (const std::vector<ExprId> found = loaded_places(x, index, false); !found.empty()) {
        Block finding = body;
        rows = put_rows(found, {*steps}, {get(index)}, within, finding);
        out.push_back(Stmt{For{x.index, x.begin, get(longest), std::move(finding), false, x.step}});
      }
    }
    append(body, block(rest, within));
    forget_rows(rows);
    out.push_back(Stmt{For{x.index, x.begin, get(longest), std::move(body), false, x.step}});
  }

  /// In lanes, which wait together: rows of the turns are turned over before the loop, and back what it stored to.
  void wait(const For& x, const ItemRows& mentioned, const Mask& m, Block& out) {
    for (const BufferId b : mentioned.scratch)
      copies(b, of_array_);  // with the turn first
    waiting_ = true;
    const auto turn_over = [&](BufferId b, bool back) {
      const ScalarId e = scalar("e", Type::i64);
      const BufferId row = turned_.at(b);
      Block column;
      turns(column, [&](Block& turn) {
        const bool is_own = mentioned.scratch.contains(b);
        const BufferId of = is_own ? copies(b, of_array_) : b;
        const std::vector<ExprId> at =
            is_own ? with_turn(of, {get(e)}) : std::vector<ExprId>{value(get(loop_.index), m), get(e)};
        turn.push_back(back ? Stmt{Store{of, at, of_turn(row, {get(e)}), false}} : put(row, {get(e)}, load(of, at)));
      });
      out.push_back(Stmt{For{e, i(0), i(p_[p_[row].axes[0]].constant), std::move(column), false, 1}});
    };
    for (const auto* all : {&mentioned.rows, &mentioned.scratch}) {
      for (const BufferId b : *all) {
        turned_[b] = array(p_[b].name + ".lanes", {p_[b].axes.back()}, p_[b].element);
        if (mentioned.there.contains(b)) turn_over(b, false);
      }
    }
    out.push_back(Stmt{For{x.index, x.begin, x.end, block(x.body, m), false, x.step}});
    for (const BufferId b : mentioned.stored)
      turn_over(b, true);
    turned_.clear();
    waiting_ = false;
  }

  /// The loop for one turn after the other.
  void turn_by_turn(const For& x, const Mask& m, Block& out) {
    in_loop(
        out,
        [&](Block& turn) {
          Block body;
          for (const Stmt& s : x.body)
            body.push_back(*own(s, m));
          turn.push_back(Stmt{For{x.index, x.begin, x.end, std::move(body), x.independent, x.step}});
        },
        false);
  }

  /// Does nothing but store to what belongs to all, and reads nothing of it.
  bool puts_away(const For& x) const {
    FewIds<BufferId> stored, loaded;
    const bool stores = std::ranges::all_of(x.body, [&](const Stmt& s) {
      const auto* store = std::get_if<Store>(&s.node);
      return store && !is_scratch(p_[store->buffer]) && !is_sum(*store);
    });
    Walk{p_, [](ExprId) {}, [&](BufferId b, bool is_stored) { (is_stored ? stored : loaded).insert(b); }}.block(x.body);
    return stores && std::ranges::none_of(loaded, [&](BufferId b) { return stored.contains(b); });
  }

  /// What the loop loads along its own index of the turns' own arrays, each row from beginning to end in new ones.
  void lay_out_rows(const For& x, const Mask& m, Block& out) {
    std::vector<ExprId> found;
    const auto on_expr = [&](ExprId e) {
      const auto* l = std::get_if<Load>(&p_[e].node);
      if (!l || l->indices.empty() || !varying_.arrays.contains(l->buffer) || std::ranges::count(found, e)) return;
      const auto* along = std::get_if<Get>(&p_[l->indices.back()].node);
      const bool others = std::any_of(l->indices.begin(), l->indices.end() - 1, [&](ExprId i) {
        bool mentioned = varies(i);
        Walk{p_, [](ExprId) {}, [](BufferId, bool) {},
             [&](ScalarId s, Mention) { mentioned = mentioned || s == x.index; }}
            .expr(i);
        return mentioned;
      });
      if (along && along->scalar == x.index && !others) found.push_back(e);
    };
    Walk{p_, on_expr, [](BufferId, bool) {}}.block(x.body);
    for (const ExprId e : found) {
      const BufferId from = std::get<Load>(p_[e].node).buffer;
      p_.buffers.push_back({fmt::format("turns.{}.rows.{}", p_[from].name, p_.buffers.size()),
                            p_[from].element,
                            Role::scratch,
                            {turns_, p_[from].axes.back()}});
      const BufferId rows(p_.buffers.size() - 1);
      on_stack_.push_back(rows);
      Block column;
      turns(column, [&](Block& turn) {
        turn.push_back(Stmt{Store{rows, {this->turn(), get(x.index)}, value(e, m), false}});
      });
      out.push_back(Stmt{For{x.index, x.begin, x.end, std::move(column), false, x.step}});
      laid_out_[e] = rows;
    }
  }

  /// The whole loop for one turn after the other: rows are written from beginning to end.
  void one_by_one(const For& x, const Mask& m, Block& out) {
    lay_out_rows(x, m, out);
    turns(
        out,
        [&](Block& turn) {
          Block body;
          for (const Stmt& s : x.body) {
            const auto& store = std::get<Store>(s.node);
            body.push_back(Stmt{Store{store.buffer, place(store.indices, m), value(store.value, m), store.accumulate}});
          }
          Stmt loop{For{x.index, x.begin, x.end, std::move(body), x.independent, x.step}};
          if (!m.array.valid()) turn.push_back(std::move(loop));
          else turn.push_back(Stmt{If{in(m), {std::move(loop)}, {}}});
        },
        false);
    laid_out_.clear();
  }

  void of(const If& x, const Mask& m, Block& out) {
    if (!varies(x.condition)) {
      Block then_block = block(x.then_block, m), else_block = block(x.else_block, m);
      return out.push_back(Stmt{If{x.condition, std::move(then_block), std::move(else_block), x.rare}});
    }
    for (const bool side : {true, false}) {
      const Block& taken = side ? x.then_block : x.else_block;
      if (taken.empty()) continue;
      const Mask chosen{array("chosen", {}, Type::i64), m.ranges, true};
      turns(out, [&](Block& turn) {
        ExprId here = value(x.condition, m);
        if (!side) here = make(Type::boolean, Unary{UnaryOp::logical_not, here});
        if (m.array.valid()) here = both(in(m), here);
        turn.push_back(put(chosen.array, {}, select(here, i(1), i(0))));
      });
      Block inside = block(taken, chosen);
      if (has_loop(taken)) if_any(chosen, std::move(inside), out, x.rare);
      else append(out, std::move(inside));
    }
  }

  void if_any(const Mask& m, Block then, Block& out, bool rare) {
    const ScalarId any = scalar("any", Type::i64);
    out.push_back(Stmt{Local{any, i(0)}});
    turns(
        out,
        [&](Block& turn) {
          turn.push_back(Stmt{Assign{any, binary(BinaryOp::maximum, get(any), of_turn(m.array))}});
        },
        false);
    out.push_back(Stmt{If{less(i(0), get(any)), std::move(then), {}, rare}});
  }

  /// To what belongs to all, or is the same for all.
  void of(const Store& x, const Mask& m, Block& out) {
    if (is_scratch(p_[x.buffer])) return out.push_back(Stmt{x});
    turns(
        out,
        [&](Block& turn) {
          Stmt one{Store{x.buffer, place(x.indices, m), value(x.value, m), x.accumulate}};
          if (!m.array.valid()) turn.push_back(std::move(one));
          else turn.push_back(Stmt{If{in(m), {std::move(one)}, {}}});
        },
        false);
  }
  void of(const Fill& x, const Mask& m, Block& out) {
    if (!varying_.arrays.contains(x.buffer)) return out.push_back(Stmt{x});
    const Nest nest = over(x.buffer);
    Block inner;
    turns(inner, [&](Block& turn) {
      turn.push_back(masked(copies(x.buffer, of_array_), nest.place, value(x.value, m), false, all_come(m), m));
    });
    append(out, nested(nest, std::move(inner)));
  }
  void of(const Fail& x, const Mask& m, Block& out) {
    if (m.array.valid()) if_any(m, {Stmt{x}}, out, true);
    else out.push_back(Stmt{x});
  }
  void of(const auto& x, const Mask&, Block& out) { out.push_back(Stmt{x}); }

  // ---- all of an array ----
  struct Nest {
    std::vector<ScalarId> indices;
    std::vector<ExprId> place, ends;
  };
  Nest over(BufferId b) {
    Nest out;
    for (const SizeId s : std::vector<SizeId>(p_[b].axes)) {
      out.indices.push_back(scalar("e", Type::i64));
      out.place.push_back(get(out.indices.back()));
      out.ends.push_back(p_[s].constant >= 0 ? i(p_[s].constant) : make(Type::i64, Extent{s}));
    }
    return out;
  }
  Block nested(const Nest& nest, Block inner) {
    for (std::size_t k = nest.indices.size(); k-- > 0;) {
      Stmt loop{For{nest.indices[k], i(0), nest.ends[k], std::move(inner), false, 1}};
      inner = Block{};
      inner.push_back(std::move(loop));
    }
    return inner;
  }
  Block added_up(BufferId sum, BufferId apart) {
    const Nest nest = over(sum);
    const ScalarId all = scalar("all", Type::f64);
    Block inner{Stmt{Local{all, f(0)}}};
    turns(
        inner,
        [&](Block& turn) {
          turn.push_back(Stmt{Accumulate{all, of_turn(apart, nest.place)}});
        },
        false);
    inner.push_back(Stmt{Store{sum, nest.place, get(all), true}});
    return nested(nest, std::move(inner));
  }

  Program& p_;
  const For& loop_;
  const Varying& varying_;
  const Arrangement how_;
  SizeId turns_;
  ScalarId first_;
  std::int64_t turn_ = 0;           // that is being written out
  std::int64_t from_ = 0, to_ = 0;  // the turns that are
  ScalarId turn_index_;             // of the loop over turns that is being written
  bool in_loop_ = false;            // over turns
  bool waiting_ = false;            // turns that are written out else stand in lanes
  BufferId active_;                 // turns that are not beyond the end; invalid: there are no others
  std::map<ScalarId, BufferId> of_scalar_;
  std::map<BufferId, BufferId> of_array_, sums_;
  std::map<BufferId, BufferId> turned_;                                // rows of the turns, with these last
  std::map<ExprId, BufferId> called_;                                  // values that all turns have formed
  std::map<ExprId, BufferId> laid_out_;                                // loads whose rows are in arrays of their own
  std::map<ExprId, Row> rows_;                                         // places that are known, by turn
  std::map<ScalarId, BufferId> declared_;                              // under which mask
  std::map<std::tuple<ExprId, BufferId, std::int64_t>, ExprId> made_;  // by expression, mask and turn
  std::vector<BufferId> on_stack_;
  std::int64_t on_stack_numbers_ = 0;
};

}  // namespace

bool is_scratch(const Buffer& b) { return b.role == Role::scratch || b.role == Role::natural; }

bool has_constant_extents(const Program& p, const Buffer& b) {
  return std::ranges::all_of(b.axes, [&](SizeId s) { return p[s].constant >= 0; });
}

std::int64_t constant_extents(const Program& p, BufferId b) {
  std::int64_t out = 1;
  for (const SizeId s : p[b].axes)
    out *= std::max<std::int64_t>(1, p[s].constant);
  return out;
}

Block side_by_side(Program& program, const For& loop, const Varying& varying, const Arrangement& how,
                   std::vector<BufferId>& arrays) {
  return SideBySide(program, loop, varying, how).take(arrays);
}

}  // namespace lehr::loops
