// The pass `jam-data-loops`: unroll-and-jam of loops over data.
// Eight iterations of the outer loop run together; their copies of an inner loop become one loop (jammed). An element
// that all iterations add to is then loaded and stored once for eight, and the eight values are added as a tree.
//   for n: w = 0; for k: w += b[k] * x[n, k]      for k: s[k] += w * x[n, k]
//   becomes   for n by 8: ...; for k: s[k] += (w0 * x[n, k] + w1 * x[n + 1, k]) + ...
//
// Unroll-and-jam of loops over data.
// A loop over n that qualifies becomes a loop over groups of eight n (`first`):
//   for first by 8:
//     plain = 1
//     if (first + 8 <= N): eight copies, jammed; plain = 0      if (first + 8 > N): the same with copies masked
//     if (plain = 1): for n in first .. min(first + 8, N): the original body
// `plain` stays 1 where a group cannot be jammed: the body's condition holds in one of its iterations, or fewer than
// eight are left and there is no masked version.
#include "compiler/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/analysis/effects.h"
#include "compiler/analysis/private_arrays.h"
#include "compiler/analysis/rewrite.h"
#include "compiler/analysis/varying.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vectorised.h"
#include "runtime/threshold.h"

namespace lehr::loops {
namespace {

/// The number of iterations that are jammed together.
constexpr std::int64_t kIterations = 8;
/// The least length of an inner loop that fills a vector.
constexpr Threshold<std::int64_t> kMinVectorLength("jam_data_loops.long", 8);
/// The longest row of sums that each iteration selects for itself. Longer rows are better prefetched, one iteration
/// after another.
constexpr Threshold<std::int64_t> kShortRow("jam_data_loops.short_row", 64);
/// The length of inner loops from which on a remainder of fewer than eight iterations runs one by one and not masked.
constexpr Threshold<std::int64_t> kUnmaskedLength("jam_data_loops.longest", 256);

/// A loop's body around its only branch: the statements before it and after it.
struct Parts {
  Block before, after;         // statements before the branch and after it; without a branch, all are before
  const If* branch = nullptr;  // the branch; null if there is none
};

/// Returns the parts of a body; nullopt if it has several branches, or a branch with an `else`.
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

/// Returns true if a loop in the block runs several iterations together already.
bool has_vectorised_loop(const Block& b) {
  bool found = false;
  each_statement(b, [&](const Stmt& s) {
    const auto* loop = std::get_if<For>(&s.node);
    found = found || (loop && loop->vectorised);
  });
  return found;
}

/// Rewrites the loops of a program, one function after another.
class Jam : ExprMaker {
 public:
  using ExprMaker::ExprMaker;

  /// Rewrites the loops of a function, unless iterations run together in it already.
  void function(Function& f) {
    if (has_vectorised_loop(f.body)) return;
    f_ = &f;
    block(f.body);
  }

 private:
  /// Rewrites the loops of a block, and looks into loops that do not qualify.
  void block(Block& b) {
    around_.push_back(&b);
    for (Stmt& s : b) {
      if (auto* branch = std::get_if<If>(&s.node)) {
        block(branch->then_block);
        block(branch->else_block);
      }
      auto* loop = std::get_if<For>(&s.node);
      if (!loop) continue;
      if (const std::optional<Parts> parts = qualifying_parts(*loop)) s = jammed(*loop, *parts);
      else block(loop->body);
    }
    around_.pop_back();
  }

  /// Returns the parts of a loop that qualifies and gains; nullopt otherwise. It sets own_, iteration_scalars_,
  /// longest_ and has_varying_sums_ for the rewriting.
  std::optional<Parts> qualifying_parts(const For& loop) {
    if (literal(p_, loop.begin) != 0 || literal(p_, loop.end)) return std::nullopt;
    const std::optional<Parts> parts = parts_of(loop.body);
    if (!parts) return std::nullopt;
    const Effects before = effects_of(p_, parts->before), after = effects_of(p_, parts->after);
    Effects all = before;
    all.add(after);
    own_ = all.stores;
    erase_if(own_, [&](BufferId b) { return !is_private(b, loop); });
    const auto is_own = [&](BufferId b) { return own_.contains(b); };
    const auto is_never_read = [&](BufferId b) { return is_own(b) || !all.loads.contains(b); };
    const auto is_declared = [&](ScalarId s) { return all.declares.contains(s); };
    if (!std::ranges::all_of(before.stores, is_own) || !std::ranges::all_of(after.stores, is_never_read) ||
        !std::ranges::all_of(all.assigns, is_declared))
      return std::nullopt;
    const SmallIdSet<ScalarId> declared = declared_in(loop.body);
    iteration_scalars_ = {declared.begin(), declared.end()};
    iteration_scalars_.insert(loop.index);
    long_loops_ = longest_ = sums_ = 0;
    has_varying_sums_ = false;
    if (!is_simple(parts->before) || !is_simple(parts->after)) return std::nullopt;
    if (has_varying_sums_ && longest_ > p_.thresholds[kShortRow]) return std::nullopt;
    return long_loops_ > 1 && sums_ > 0 ? parts : std::nullopt;
  }

  /// Returns true if the array can be private to each iteration: it is local, every iteration fills it before it reads
  /// it, and nothing outside of the loop reads what is left in it.
  bool is_private(BufferId b, const For& loop) const {
    if (!std::ranges::count(f_->local_arrays, b) || !is_filled_first(p_, loop.body, b)) return false;
    const auto is_separate = [&](const Stmt& s) { return !mentions(p_, s, b) || is_filled_first_inside(p_, s, b); };
    return std::ranges::all_of(around_, [&](const Block* x) { return std::ranges::all_of(*x, is_separate); });
  }

  /// Returns true if the block consists of scalars, loops of constant length, and sums. It counts the sums and the long
  /// loops.
  bool is_simple(const Block& b) {
    return std::ranges::all_of(b, [&](const Stmt& s) {
      if (const auto* store = std::get_if<Store>(&s.node)) return is_simple(*store);
      if (const auto* loop = std::get_if<For>(&s.node)) {
        const auto end = literal(p_, loop->end);
        if (literal(p_, loop->begin) != 0 || !end || (adds_to_varying_row(*loop) && !is_flat(*loop))) return false;
        long_loops_ += *end >= p_.thresholds[kMinVectorLength];
        longest_ = std::max(longest_, *end);
        return is_simple(loop->body);
      }
      return std::holds_alternative<Let>(s.node) || std::holds_alternative<Local>(s.node) ||
             std::holds_alternative<Assign>(s.node) || std::holds_alternative<Accumulate>(s.node);
    });
  }
  /// Returns true if the store fills a private array or adds to a sum.
  bool is_simple(const Store& store) {
    if (own_.contains(store.buffer)) return true;
    ++sums_;
    has_varying_sums_ = has_varying_sums_ || has_varying_address(store);
    return store.accumulate;
  }
  /// Returns true if the store may go to a different element in every iteration: an index reads memory or a scalar of
  /// the iteration.
  bool has_varying_address(const Store& store) const {
    return std::ranges::any_of(store.indices,
                               [&](ExprId at) { return loads(p_, at) || mentions(p_, at, iteration_scalars_); });
  }
  /// Returns true if the loop adds to a row that each iteration selects for itself.
  bool adds_to_varying_row(const For& loop) const {
    return std::ranges::any_of(loop.body, [&](const Stmt& s) {
      const auto* store = std::get_if<Store>(&s.node);
      return store && !own_.contains(store->buffer) && has_varying_address(*store);
    });
  }
  /// Returns true if the loop contains only stores and immutable scalars.
  static bool is_flat(const For& loop) {
    return std::ranges::all_of(loop.body, [](const Stmt& s) {
      return std::holds_alternative<Store>(s.node) || std::holds_alternative<Let>(s.node);
    });
  }

  /// Returns the loop over groups that replaces `loop`.
  Stmt jammed(const For& loop, const Parts& parts) {
    loop_ = &loop;
    const ScalarId first = variable(p_[loop.index].name + ".first");
    first_ = get(first);
    one_by_one_ = variable("plain");
    const ExprId next = binary(BinaryOp::add, first_, i(kIterations));
    Block body;
    body.push_back(Stmt{Local{one_by_one_, i(1)}});
    Block whole = together(parts, false), fewer;
    if (longest_ < p_.thresholds[kUnmaskedLength] && !has_varying_sums_) fewer = together(parts, true);
    body.push_back(Stmt{If{compare(BinaryOp::less_equal, next, loop.end), std::move(whole), std::move(fewer)}});
    Block alone{Stmt{For{loop.index, first_, binary(BinaryOp::minimum, next, loop.end), loop.body, loop.independent}}};
    body.push_back(Stmt{If{compare(BinaryOp::equal, get(one_by_one_), i(1)), std::move(alone), {}}});
    return Stmt{For{first, i(0), loop.end, std::move(body), false, kIterations}};
  }

  /// Returns the jammed statements of a group. `fewer`: the group may have less than eight iterations; the last one is
  /// repeated for those that are missing, and adds 0.
  Block together(const Parts& parts, bool fewer) {
    masked_ = fewer;
    copies_.assign(kIterations, {});
    arrays_.clear();
    Block out;
    for (std::int64_t r = 0; r < kIterations; ++r) {
      const ScalarId index = names(r).scalars[loop_->index] = variable(p_[loop_->index].name);
      for (const BufferId b : own_)
        names(r).arrays[b] = new_array(p_[b]);
      out.push_back(Stmt{Let{index, iteration_at(i(r))}});
    }
    put_copies(parts.before, out);
    Block rest{Stmt{Assign{one_by_one_, i(0)}}};
    put_scalars_and_copies(parts.after, rest);
    if (parts.branch) out.push_back(Stmt{If{none(parts.branch->condition), std::move(rest), {}}});
    else append(out, std::move(rest));
    return out;
  }
  /// Returns the index of iteration r of the group; in the masked version, at most the last index of the loop.
  ExprId iteration_at(ExprId r) {
    const ExprId at = binary(BinaryOp::add, first_, r);
    return masked_ ? binary(BinaryOp::minimum, at, binary(BinaryOp::subtract, loop_->end, i(1))) : at;
  }

  /// Appends the copies of the statements `from`. Runs of real scalars and sums become a loop over the iterations
  /// (put_as_loop()), which LLVM vectorises; other statements are copied one by one.
  void put_scalars_and_copies(const Block& from, Block& to) {
    Block run;
    const auto close = [&] {
      if (!put_as_loop(run, to)) put_copies(run, to);
      run.clear();
    };
    for (const Stmt& s : from) {
      const auto* let = std::get_if<Let>(&s.node);
      const auto* store = std::get_if<Store>(&s.node);
      if ((let && is_real(p_[let->scalar].type)) ||
          (store && !own_.contains(store->buffer) && !has_varying_address(*store))) {
        run.push_back(s);
        continue;
      }
      close();
      put_copies({s}, to);
    }
    close();
  }
  /// Appends a run of statements as a loop over the iterations of the group. Scalars that they read or declare are in
  /// arrays by iteration. Returns false, with nothing appended, if they load private arrays.
  bool put_as_loop(const Block& run, Block& to) {
    const Effects all = effects_of(p_, run);
    if (run.empty() || intersect(all.loads, own_)) return false;
    const ScalarId r = variable("lane");
    Substitutions in_loop;
    in_loop.values[loop_->index] = iteration_at(get(r));
    for (const ScalarId s : all.reads) {
      const bool has_array = arrays_.contains(s);
      if (s == loop_->index || all.declares.contains(s) || !(has_array || names(0).scalars.contains(s))) continue;
      const BufferId array = has_array ? arrays_.at(s) : array_by_iteration(s);
      for (std::int64_t k = 0; k < kIterations && !has_array; ++k)
        to.push_back(Stmt{Store{array, {i(k)}, get(names(k).scalars.at(s))}});
      in_loop.values[s] = load(array, {get(r)});
    }
    Block body, sums;
    for (const Stmt& s : run) {
      if (const auto* store = std::get_if<Store>(&s.node)) {
        const Type type = p_[store->value].type;
        const ScalarId sum = variable("sum", type);
        to.push_back(Stmt{Local{sum, zero(type)}});
        const ExprId value = substituted(p_, in_loop, store->value);
        body.push_back(Stmt{Accumulate{sum, masked_ ? masked_value(get(r), value) : value}});
        sums.push_back(Stmt{Store{store->buffer, store->indices, get(sum), true}});
        continue;
      }
      const ScalarId number = std::get<Let>(s.node).scalar;
      body.push_back(copy(s, in_loop));
      const BufferId array = arrays_[number] = array_by_iteration(number);
      body.push_back(Stmt{Store{array, {get(r)}, get(in_loop.scalars.at(number))}});
      for (std::int64_t k = 0; k < kIterations; ++k)
        names(k).values[number] = load(array, {i(k)});
    }
    to.push_back(Stmt{For{r, i(0), i(kIterations), std::move(body), sums.empty()}});
    append(to, std::move(sums));
    return true;
  }
  /// Makes a local array with an element of the scalar for each iteration of the group.
  BufferId array_by_iteration(ScalarId s) {
    if (!iterations_size_.valid()) {
      p_.sizes.push_back({"group", kIterations});
      iterations_size_ = SizeId(p_.sizes.size() - 1);
    }
    return new_array({p_[s].name, p_[s].type, Role::scratch, {iterations_size_}});
  }

  /// Appends the copies of statements: of each statement those of iterations `begin` to `end` - 1 of the group, then of
  /// the next. The copies of an inner loop become one loop (jammed).
  void put_copies(const Block& from, Block& to, std::int64_t begin = 0, std::int64_t end = kIterations) {
    for (const Stmt& s : from) {
      const auto* loop = std::get_if<For>(&s.node);
      const auto* store = std::get_if<Store>(&s.node);
      const bool is_sum = store && !own_.contains(store->buffer);
      if (loop && end - begin > 1 && adds_to_varying_row(*loop)) {
        // The rows that two iterations add to may be the same, so their loops cannot be jammed.
        for (std::int64_t r = begin; r < end; ++r)
          put_copies({s}, to, r, r + 1);
      } else if (loop) {
        Block body;
        put_copies(loop->body, body, begin, end);
        to.push_back(Stmt{For{loop->index, loop->begin, loop->end, std::move(body), loop->independent, loop->step}});
      } else if (is_sum && !has_varying_address(*store)) {
        to.push_back(sum_of_copies(*store, begin, end));
      } else {
        for (std::int64_t r = begin; r < end; ++r)
          to.push_back(is_sum ? copy_of_sum(*store, r) : copy(s, names(r)));
      }
    }
  }
  /// Returns the copy of a statement with the names of one iteration. Scalars that it declares get new names there.
  Stmt copy(const Stmt& s, Substitutions& iteration) {
    for (const ScalarId x : effects_of(p_, s).declares)
      iteration.scalars[x] = variable(p_[x].name, p_[x].type);
    return substituted(p_, iteration, s);
  }
  /// Returns the copy of a sum for iteration r; in the masked version it adds 0 if the iteration is missing.
  Stmt copy_of_sum(const Store& store, std::int64_t r) {
    Stmt out = substituted(p_, names(r), Stmt{store});
    ExprId& value = std::get<Store>(out.node).value;
    if (masked_ && r > 0) value = masked_value(i(r), value);
    return out;
  }
  /// Returns one addition to an element of the values of iterations `begin` to `end` - 1.
  Stmt sum_of_copies(const Store& store, std::int64_t begin, std::int64_t end) {
    std::vector<ExprId> parts;
    for (std::int64_t r = begin; r < end; ++r)
      parts.push_back(std::get<Store>(copy_of_sum(store, r).node).value);
    // The values are added in pairs, so that the element waits for one addition only.
    for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
      for (std::size_t k = 0; k < parts.size() / 2; ++k)
        parts[k] = binary(BinaryOp::add, parts[2 * k], parts[2 * k + 1]);
    }
    return Stmt{Store{store.buffer, store.indices, parts[0], true}};
  }
  /// Returns the value that an iteration adds, or 0 if it is beyond the end. Of a product whose left factor is a
  /// scalar, the factor is masked, which costs less than masking the vector.
  ExprId masked_value(ExprId iteration, ExprId value) {
    if (const auto* product = std::get_if<Binary>(&p_[value].node); product && product->op == BinaryOp::multiply) {
      const ExprId left = product->left, right = product->right;
      if (is_number(left)) return binary(BinaryOp::multiply, masked_value(iteration, left), right);
    }
    const ExprId at = binary(BinaryOp::add, first_, iteration);
    return select(less(at, loop_->end), value, zero(p_[value].type));
  }
  /// Returns true if the expression is a scalar, or an element of an array by iteration.
  bool is_number(ExprId e) const {
    const auto* load = std::get_if<Load>(&p_[e].node);
    return std::holds_alternative<Get>(p_[e].node) || (load && p_[load->buffer].axes == std::vector{iterations_size_});
  }
  /// Returns the condition that `of` holds in no iteration of the group.
  ExprId none(ExprId of) {
    ExprId any;
    for (const Substitutions& iteration : copies_) {
      const ExprId one = substituted(p_, iteration, of);
      any = any.valid() ? binary(BinaryOp::logical_or, any, one) : one;
    }
    return make(Type::boolean, Unary{UnaryOp::logical_not, any});
  }

  /// Adds a local array to the function.
  BufferId new_array(Buffer out) {
    out.name = fmt::format("{}.lane{}", out.name, p_.buffers.size());
    p_.buffers.push_back(std::move(out));
    return f_->local_arrays.emplace_back(p_.buffers.size() - 1);
  }
  /// Adds a scalar with just this name.
  ScalarId variable(std::string name, Type type = Type::i64) {
    p_.scalars.push_back({std::move(name), type});
    return ScalarId(p_.scalars.size() - 1);
  }
  /// Returns the names in iteration r of the group.
  Substitutions& names(std::int64_t r) { return copies_[static_cast<std::size_t>(r)]; }

  Function* f_ = nullptr;                 // the function at hand
  std::vector<const Block*> around_;      // the blocks around, outermost first
  SmallIdSet<BufferId> own_;              // arrays that are private to an iteration
  std::vector<Substitutions> copies_;     // the names in each iteration of a group
  std::set<ScalarId> iteration_scalars_;  // scalars of an iteration, without indices of inner loops
  std::map<ScalarId, BufferId> arrays_;   // arrays with the values of a scalar in the iterations of a group
  // Inner loops that fill a vector, the longest length of an inner loop, and the number of sums.
  std::int64_t long_loops_ = 0, longest_ = 0, sums_ = 0;
  bool has_varying_sums_ = false;  // true if some sums go to different elements in each iteration
  const For* loop_ = nullptr;      // the loop whose iterations are jammed
  ExprId first_;                   // index of the first iteration of a group
  bool masked_ = false;            // true while the masked version is made
  ScalarId one_by_one_;            // 1 if the iterations of the group run one by one
  SizeId iterations_size_;         // the size of arrays by iteration
};

}  // namespace

/// Returns the program with unroll-and-jam of loops whose trip count only the data tell. A loop qualifies if at least
/// two of its inner loops have a constant length that fills a vector. Its iterations may only fill private arrays and
/// add to sums. One `if` without `else` may stand in the body: a group in which any iteration meets its condition runs
/// one by one. Cold functions, and functions in which iterations run together already, stay as they are.
Program jam_data_loops(Program program) {
  Jam jam(program);
  for (Function& f : program.functions)
    if (!f.cold) jam.function(f);
  return program;
}

}  // namespace lehr::loops
