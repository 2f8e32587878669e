// The pass `outline-parallel-loops`: outlining of parallel loops.
// Threads take chunks of the items, but the loops around them (tables, global updates, the ELBO) would run on one
// thread. The pass moves independent loops into functions of a range of iterations, which threads can take chunks of.
//   update_beta(): for k in 0 .. 20: A      becomes      update_beta.0(begin, end): for k in begin .. end: A
//
// Outlining of independent loops as parallel regions (loops::ParallelRegion).
// The statements of a function are looked at in order. A loop joins the last region of equally many iterations that it
// can be moved to. Otherwise it begins a new region, or stays in the rest of the function. Regions run before the rest,
// so a loop may move only if it conflicts with nothing in the rest before it. Scalars of the function that a loop reads
// are computed again in the region; sums that it adds to get an array, which the function adds to its own variables.
#include "compiler/passes/passes.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "compiler/analysis/accesses.h"
#include "compiler/analysis/cost_model.h"
#include "compiler/analysis/effects.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/operators.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/outermost.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// The least number of iterations of a loop that is outlined.
constexpr Threshold<std::int64_t> kFewIterations("outline_parallel_loops.few_iterations", 4);

/// Returns true if an iteration contains a loop or a function call, so that there is more to do than starting it.
bool is_worth_it(const Program& p, const For& loop) {
  bool out = false;
  each_statement(loop.body, [&](const Stmt& s) { out = out || std::holds_alternative<For>(s.node); });
  Walk walk{p,
            [&](ExprId e) {
              const auto* unary = std::get_if<Unary>(&p[e].node);
              out = out || (unary && is_function(unary->op));
            },
            [](BufferId, bool) {}};
  walk.block(loop.body);
  return out;
}

/// Returns the array that a nest of loops around one statement stores to; invalid if it stores to none.
BufferId stored_by(const Stmt& s) {
  if (const auto* loop = std::get_if<For>(&s.node)) return stored_by(loop->body[0]);
  const auto* store = std::get_if<Store>(&s.node);
  return store ? store->buffer : BufferId();
}

/// A parallel region before its function is made.
struct RegionDraft {
  ExprId trip_count;                 // the trip count
  Block loops;                       // the loops, in order
  Effects effects;                   // their effects together
  std::vector<Accesses> accesses;    // the accesses of each
  std::vector<ScalarId> lets, sums;  // scalars of the function that the region computes again; scalars that it adds to
  std::vector<BufferId> scratch;     // arrays that are private to whoever runs the region
};

/// Outlines the loops of one function.
class Outliner {
 public:
  Outliner(Program& p, std::size_t function) : p_(p), f_(function) {}

  void run() {
    Block body = std::move(p_.functions[f_].body);
    for (Stmt& s : body) {
      if (std::optional<Stmt> interchanged_nest = interchanged(p_, s)) {
        s = std::move(*interchanged_nest);
        by_last_.insert(stored_by(s));
      }
    }
    for (const Stmt& s : body)
      note(s);
    erase_if(accumulators_, [&](ScalarId s) { return !only_adds(body, s); });
    for (Stmt& s : body)
      outline_or_append(s);
    for (const RegionDraft& d : drafts_)
      finish(d);
    const auto is_declaration = [](const Stmt& s) {
      return std::holds_alternative<Let>(s.node) || std::holds_alternative<Local>(s.node);
    };
    if (std::ranges::all_of(rest_, is_declaration)) rest_.clear();
    p_.functions[f_].body = std::move(rest_);
    for (const BufferId b : becomes_table_)
      make_table(b);
  }

 private:
  /// Collects what the decisions need to know of a statement of the function.
  void note(const Stmt& s) {
    const Effects x = effects_of(p_, s);
    SmallIdSet<BufferId> mentioned = x.loads;
    mentioned.insert(x.stores.begin(), x.stores.end());
    for (const BufferId b : mentioned)
      ++mentions_[b];
    stored_.insert(x.stores.begin(), x.stores.end());
    const auto* loop = std::get_if<For>(&s.node);
    const auto trip_count = loop ? trip_count_of(*loop) : std::nullopt;
    if (trip_count && loops::is_worth_it(p_, *loop)) worthy_.insert(literal(p_, *trip_count).value_or(0));
    if (const auto* let = std::get_if<Let>(&s.node)) lets_[let->scalar] = let->value;
    if (const auto* local = std::get_if<Local>(&s.node); local && p_[local->scalar].type == Type::f64)
      accumulators_.insert(local->scalar);
  }

  /// Moves a statement into a region, or appends it to the rest of the function.
  void outline_or_append(Stmt& s) {
    if (std::optional<Stmt> loops = filled_by_loops(s); loops && join_region(*loops)) return;
    if (join_region(s)) return;
    before_.add(effects_of(p_, s));
    stops_ = stops_ || fails(s);
    rest_.push_back(std::move(s));
  }

  /// Returns true if the statement may end the function. Loops after such a statement stay.
  static bool fails(const Stmt& s) {
    if (const auto* loop = std::get_if<For>(&s.node)) return std::ranges::any_of(loop->body, fails);
    if (const auto* branch = std::get_if<If>(&s.node))
      return std::ranges::any_of(branch->then_block, fails) || std::ranges::any_of(branch->else_block, fails);
    return std::holds_alternative<Fail>(s.node);
  }

  /// Returns the trip count of a loop that begins at 0; nullopt if it is small, or neither a constant nor a size.
  std::optional<ExprId> trip_count_of(const For& loop) const {
    const auto* begin = std::get_if<ConstI>(&p_[loop.begin].node);
    const auto* end = std::get_if<ConstI>(&p_[loop.end].node);
    if (!begin || begin->value != 0) return std::nullopt;
    if (end ? end->value < p_.thresholds[kFewIterations] : !std::holds_alternative<Extent>(p_[loop.end].node))
      return std::nullopt;
    return loop.end;
  }
  /// Returns true if two trip counts are the same.
  bool same(ExprId a, ExprId b) const {
    const auto *n = std::get_if<ConstI>(&p_[a].node), *m = std::get_if<ConstI>(&p_[b].node);
    if (n || m) return n && m && n->value == m->value;
    return std::get<Extent>(p_[a].node).size == std::get<Extent>(p_[b].node).size;
  }

  /// Returns true if the iterations can fill a vector, and a loop of equally many that is worth outlining is in the
  /// function.
  bool are_many(std::int64_t trip_count) const {
    return trip_count >= p_.thresholds[kFillsVector] && worthy_.contains(trip_count);
  }
  /// Returns true if outlining the loop is a gain.
  bool is_worth_it(const For& loop, ExprId trip_count) const {
    return are_many(literal(p_, trip_count).value_or(0)) || loops::is_worth_it(p_, loop);
  }

  /// Returns the loops that do the same as a Fill of an array with rows; nullopt for other statements. If the array is
  /// later added to along its last axis, that axis becomes the outermost loop.
  std::optional<Stmt> filled_by_loops(const Stmt& s) {
    const auto* fill = std::get_if<Fill>(&s.node);
    if (!fill || p_[fill->buffer].axes.empty()) return std::nullopt;
    if (p_[fill->buffer].axes.size() < 2 && !are_many(p_[p_[fill->buffer].axes[0]].constant)) return std::nullopt;
    std::vector<ExprId> at;
    std::vector<ScalarId> indices;
    for (std::size_t k = 0; k < p_[fill->buffer].axes.size(); ++k) {
      indices.push_back(scalar(fmt::format("e{}", p_.scalars.size())));
      at.push_back(expr(Type::i64, Get{indices.back()}));
    }
    Stmt out{Store{fill->buffer, at, fill->value}};
    std::vector<std::size_t> order(indices.size());
    std::iota(order.begin(), order.end(), 0);
    if (by_last_.contains(fill->buffer)) std::ranges::rotate(order, order.end() - 1);
    for (const std::size_t k : order | std::views::reverse) {
      const SizeId size = p_[fill->buffer].axes[k];
      const std::int64_t constant = p_[size].constant;
      const ExprId end = constant >= 0 ? expr(Type::i64, ConstI{constant}) : expr(Type::i64, Extent{size});
      Block body;
      body.push_back(std::move(out));
      out = Stmt{For{indices[k], expr(Type::i64, ConstI{0}), end, std::move(body), true}};
    }
    return out;
  }

  /// Notes in `d` the scalars of the function that a loop needs: lets to be computed again, and sums. Returns false if
  /// it needs others.
  bool take_scalars(const Effects& x, RegionDraft& d) const {
    for (const ScalarId s : x.reads) {
      if (!x.declares.contains(s) && !take_let(s, d)) return false;
    }
    for (const ScalarId s : x.assigns) {
      if (x.declares.contains(s)) continue;
      if (!accumulators_.contains(s) || x.reads.contains(s) || before_.reads.contains(s)) return false;
      if (std::ranges::find(d.sums, s) == d.sums.end()) d.sums.push_back(s);
    }
    return true;
  }
  /// Notes a let, and those that it needs, in the order of declaration. Returns false if it loads an array that the
  /// function stores to.
  bool take_let(ScalarId s, RegionDraft& d) const {
    const auto let = lets_.find(s);
    if (let == lets_.end()) return false;
    if (std::ranges::find(d.lets, s) != d.lets.end()) return true;
    const Effects x = effects_of(p_, let->second);
    if (intersect(x.loads, stored_)) return false;
    for (const ScalarId of : x.reads) {
      if (!take_let(of, d)) return false;
    }
    d.lets.push_back(s);
    return true;
  }
  /// Returns true if no statement of the block assigns to the scalar other than by adding.
  static bool only_adds(const Block& b, ScalarId to) {
    return std::ranges::all_of(b, [&](const Stmt& s) {
      if (const auto* loop = std::get_if<For>(&s.node)) return only_adds(loop->body, to);
      if (const auto* branch = std::get_if<If>(&s.node))
        return only_adds(branch->then_block, to) && only_adds(branch->else_block, to);
      const auto* assign = std::get_if<Assign>(&s.node);
      return !assign || assign->scalar != to;
    });
  }

  /// Returns true if each iteration of the loops accesses only its own rows of the array: one axis is always indexed by
  /// the loop.
  bool own_rows(BufferId b, const std::vector<Accesses>& loops) const {
    for (std::size_t axis = 0; axis < p_[b].axes.size(); ++axis)
      if (std::ranges::all_of(loops, [&](const Accesses& x) { return x.is_own(b, axis); })) return true;
    return false;
  }
  /// Notes in `d` the scratch that becomes private to the region. Returns false if an array that the loops store to is
  /// neither accessed by own rows nor private scratch.
  bool take_arrays(RegionDraft& d) const {
    const std::vector<BufferId>& own = p_.functions[f_].local_arrays;
    SmallIdSet<BufferId> touched = d.effects.stores;
    for (const BufferId b : own) {
      if (d.effects.loads.contains(b)) touched.insert(b);
    }
    d.scratch.clear();
    for (const BufferId b : touched) {
      const bool local = std::ranges::find(own, b) != own.end();
      if (!local && own_rows(b, d.accesses)) continue;
      if (!is_scratch(p_[b]) || mentions_.at(b) > 1) return false;
      // An iteration would find there what another one has left.
      if (std::ranges::any_of(d.accesses, [&](const Accesses& x) { return x.varies(b); })) return false;
      d.scratch.push_back(b);
    }
    return true;
  }

  /// Makes scratch a table, because it carries rows from a region to later code, while scratch is private to whoever
  /// runs a region. If other functions use the same scratch, this function gets an array of its own.
  void make_table(BufferId b) {
    std::vector<std::size_t> here{f_};
    for (const ParallelRegion& phase : p_.functions[f_].regions)
      here.push_back(phase.function);
    const auto is_mentioned = [&](const Function& f) {
      return std::ranges::any_of(f.body, [&](const Stmt& s) { return mentions(p_, s, b); });
    };
    bool elsewhere = false;
    for (std::size_t k = 0; k < p_.functions.size() && !elsewhere; ++k)
      elsewhere = std::ranges::find(here, k) == here.end() && is_mentioned(p_.functions[k]);
    if (!elsewhere) {
      p_.buffers[b.index()].role = Role::table;
      return;
    }
    p_.buffers.push_back(p_[b]);
    p_.buffers.back().name = fmt::format("{}.{}", p_[b].name, p_.functions[f_].name);
    p_.buffers.back().role = Role::table;
    Substitutions names;
    names.arrays[b] = BufferId(p_.buffers.size() - 1);
    for (const std::size_t k : here) {
      Block renamed;
      for (const Stmt& s : p_.functions[k].body)
        renamed.push_back(substituted(p_, names, s));
      p_.functions[k].body = std::move(renamed);
    }
  }

  /// Returns true if two groups of statements may not change their order.
  static bool conflict(const Effects& a, const Effects& b) {
    return intersect(a.stores, b.loads) || intersect(a.loads, b.stores) || intersect(a.stores, b.stores);
  }

  /// Moves a loop to a region. Returns false if it must stay.
  bool join_region(const Stmt& s) {
    const auto* loop = std::get_if<For>(&s.node);
    const auto trip_count = loop && !stops_ ? trip_count_of(*loop) : std::nullopt;
    if (!trip_count || !is_worth_it(*loop, *trip_count) || std::ranges::any_of(loop->body, has_break)) return false;
    const Effects x = effects_of(p_, s);
    if (conflict(x, before_)) return false;
    for (std::size_t k = drafts_.size(); k-- > 0;) {
      RegionDraft joined = drafts_[k];
      if (same(joined.trip_count, *trip_count) && add(joined, s, x)) {
        drafts_[k] = std::move(joined);
        return true;
      }
      if (conflict(x, drafts_[k].effects)) break;
    }
    RegionDraft alone{*trip_count, {}, {}, {}, {}, {}, {}};
    if (!add(alone, s, x)) return false;
    drafts_.push_back(std::move(alone));
    return true;
  }
  /// Appends a loop to a region. Returns false, with `d` unusable, if scalars or arrays forbid it.
  bool add(RegionDraft& d, const Stmt& s, const Effects& x) const {
    d.loops.push_back(s);
    d.effects.add(x);
    d.accesses.emplace_back(p_, std::get<For>(s.node));
    return take_scalars(x, d) && take_arrays(d);
  }
  /// Makes the function of a region, with the parameters begin and end, and the ParallelRegion that names it.
  void finish(const RegionDraft& d) {
    Function out{fmt::format("{}.{}", p_.functions[f_].name, p_.functions[f_].regions.size()), {}, {}, {}};
    ParallelRegion phase{p_.functions.size(), d.trip_count, {}};
    const ScalarId begin = scalar("begin"), end = scalar("end");
    out.parameters = {begin, end};
    for (const ScalarId s : d.lets)
      out.body.push_back(Stmt{Let{s, lets_.at(s)}});
    for (const ScalarId s : d.sums)
      out.body.push_back(Stmt{Local{s, expr(Type::f64, ConstF{0})}});
    for (const Stmt& s : d.loops) {
      out.body.push_back(s);
      auto& loop = std::get<For>(out.body.back().node);
      loop.begin = expr(Type::i64, Get{begin});
      loop.end = expr(Type::i64, Get{end});
      loop.independent = literal(p_, d.trip_count).value_or(0) >= p_.thresholds[kFillsVector];
    }
    if (!d.sums.empty()) phase.sums = sums_of(out.name, d.sums.size());
    for (std::size_t k = 0; k < d.sums.size(); ++k) {
      const std::vector<ExprId> at{expr(Type::i64, ConstI{static_cast<std::int64_t>(k)})};
      out.body.push_back(Stmt{Store{phase.sums, at, expr(Type::f64, Get{d.sums[k]}), true}});
      add_up(d.sums[k], expr(Type::f64, Load{phase.sums, at}));
    }
    std::vector<BufferId>& own = p_.functions[f_].local_arrays;
    for (const BufferId b : d.scratch) {
      if (std::erase(own, b) > 0) out.local_arrays.push_back(b);
    }
    for (const BufferId b : d.effects.stores) {
      if (is_scratch(p_[b]) && std::ranges::find(d.scratch, b) == d.scratch.end()) becomes_table_.insert(b);
    }
    p_.functions[f_].regions.push_back(std::move(phase));
    p_.functions.push_back(std::move(out));
  }

  /// Inserts an addition of `value` to a sum right after its declaration in the rest of the function.
  void add_up(ScalarId scalar, ExprId value) {
    const auto declares = [&](const Stmt& s) {
      const auto* local = std::get_if<Local>(&s.node);
      return local && local->scalar == scalar;
    };
    rest_.insert(std::ranges::find_if(rest_, declares) + 1, Stmt{Accumulate{scalar, value}});
  }

  /// Adds the array of the sums of a region to the program.
  BufferId sums_of(const std::string& name, std::size_t count) {
    p_.sizes.push_back({"sums of " + name, static_cast<std::int64_t>(count), -1});
    p_.buffers.push_back({"sums." + name, Type::f64, Role::scratch, {SizeId(p_.sizes.size() - 1)}});
    return BufferId(p_.buffers.size() - 1);
  }
  ScalarId scalar(std::string name) {
    p_.scalars.push_back({std::move(name), Type::i64});
    return ScalarId(p_.scalars.size() - 1);
  }
  ExprId expr(Type type, decltype(Expr::node) node) { return make(p_, type, std::move(node)); }

  Program& p_;
  const std::size_t f_;
  std::map<BufferId, int> mentions_;    // how many statements of the body access each array
  SmallIdSet<BufferId> stored_;         // arrays that the function stores to
  SmallIdSet<BufferId> by_last_;        // arrays that interchanged loops add to along the last axis
  std::set<std::int64_t> worthy_;       // trip counts of loops that are worth outlining; 0 if only the data tell
  std::map<ScalarId, ExprId> lets_;     // values of the immutable scalars of the function
  SmallIdSet<ScalarId> accumulators_;   // variables of the body that are only added to
  std::vector<RegionDraft> drafts_;     // regions so far, in order
  SmallIdSet<BufferId> becomes_table_;  // scratch whose rows later code reads, so that it becomes a table
  Block rest_;                          // statements that stay in the function
  Effects before_;                      // their effects so far
  bool stops_ = false;                  // true once one of them may end the function
};

}  // namespace

/// Returns the program in which independent loops of functions without parameters are parallel regions
/// (loops::ParallelRegion). Loops of equally many iterations share a region where dependences allow it. An iteration
/// may store to its own rows of arrays, to scratch that nothing else in the function mentions, and add to scalars. It
/// may depend on constants and on regions before it, but on no other statement before it in the function. Scratch whose
/// rows a region leaves for later statements becomes a table, because scratch is private to a thread. Loops stay if
/// they have few iterations, or neither an inner loop nor a function call; the latter move if loops of equally many
/// iterations (kFillsVector or more) move. Nests around a sum are interchanged first (outermost.h). Cold functions
/// stay as they are.
Program outline_parallel_loops(Program program) {
  for (std::size_t k = 0, n = program.functions.size(); k < n; ++k) {
    if (!program.functions[k].cold && program.functions[k].parameters.empty()) Outliner(program, k).run();
  }
  return program;
}

}  // namespace lehr::loops
