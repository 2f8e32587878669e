// The verifier of parallel regions: what functions of a range of items or iterations may access, as several of them run
// at the same time. Every worker has a copy of its own of scratch and of sums; everything else is common to all
// (runtime/parallel/workers.h).
//
// An access belongs to the range if one of its indices depends on the range. "Depends" is a fixed point over the
// scalars and private arrays of the function. A value depends on the range if it is computed from the range or from
// such a value, or loaded at an index that depends on it. For items n in begin .. end,
//
//     E[n, k] = ...             allowed: n is of the range
//     S[w] += ...               a reduction, if nothing reads S
//     E[w, k] = ...             a race: w is not of the range
#include "compiler/analysis/verify_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/loops/facts.h"
#include "compiler/loops/walk.h"

namespace lehr::loops {
namespace {

/// The arrays that the statements of a function load, and those that they store to.
struct Touched {
  std::set<BufferId> loads, stores;

  bool contains(BufferId b) const { return loads.contains(b) || stores.contains(b); }
};

/// Adds the arrays of a function to `out`.
void touch(const Program& p, const Function& f, Touched& out) {
  Walk{p, [](ExprId) {}, [&](BufferId b, bool stored) { (stored ? out.stores : out.loads).insert(b); }}.block(f.body);
}

/// The scalars and private arrays of a function that depend on the range with which it is called.
class FromRange {
 public:
  FromRange(const Program& p, const Function& f) : p_(p) {
    scalars_.insert(f.parameters[0]);
    scalars_.insert(f.parameters[1]);
    do {
      more_ = false;
      memo_.assign(p.exprs.size(), -1);
      block(f.body);
    } while (more_);
  }

  /// Returns true if the expression depends on the range.
  bool holds(ExprId e) const {
    signed char& memo = memo_[e.index()];
    if (memo < 0) memo = of(p_[e]) ? 1 : 0;
    return memo > 0;
  }
  /// Returns true if one of the expressions depends on the range.
  bool holds_any(const std::vector<ExprId>& all) const {
    return std::ranges::any_of(all, [&](ExprId e) { return holds(e); });
  }

 private:
  template <class Id>
  void add(std::set<Id>& to, Id id, bool formed) {
    if (formed) more_ = to.insert(id).second || more_;
  }
  void block(const Block& b) {
    each_statement(b, [&](const Stmt& s) {
      if (const auto* x = std::get_if<For>(&s.node)) add(scalars_, x->index, holds_any({x->begin, x->end}));
      if (const auto* x = std::get_if<Let>(&s.node)) add(scalars_, x->scalar, holds(x->value));
      if (const auto* x = std::get_if<Local>(&s.node)) add(scalars_, x->scalar, holds(x->initial));
      if (const auto* x = std::get_if<Assign>(&s.node)) add(scalars_, x->scalar, holds(x->value));
      if (const auto* x = std::get_if<Accumulate>(&s.node)) add(scalars_, x->scalar, holds(x->value));
      if (const auto* x = std::get_if<Store>(&s.node); x && is_scratch(p_[x->buffer]))
        add(arrays_, x->buffer, holds(x->value) || holds_any(x->indices));
    });
  }

  /// Computes holds().
  bool of(const Expr& e) const {
    const auto* get = std::get_if<Get>(&e.node);
    const auto* load = std::get_if<Load>(&e.node);
    if ((get && scalars_.contains(get->scalar)) || (load && arrays_.contains(load->buffer))) return true;
    return any_operand(e, [&](ExprId operand) { return holds(operand); });
  }

  const Program& p_;
  std::set<ScalarId> scalars_;
  std::set<BufferId> arrays_;
  mutable std::vector<signed char> memo_;  // memo by expression, for the current sets: 1 yes, 0 no, -1 not computed
  bool more_ = false;
};

/// Checks all parallel regions of a program.
class Regions {
 public:
  explicit Regions(const Program& p) : p_(p) {}

  std::vector<std::string> run() {
    std::set<std::size_t> phases;
    for (const Function& f : p_.functions) {
      for (const ParallelRegion& phase : f.regions) {
        phases.insert(phase.function);
        where_ = p_.functions[phase.function].name;
        check_private(f, phase);
        check_shared(p_.functions[phase.function], [&](BufferId b) { return b == phase.sums; });
      }
    }
    for (std::size_t k = 0; k < p_.functions.size(); ++k) {
      if (phases.contains(k)) continue;  // checked with the function to which it belongs
      where_ = p_.functions[k].name;
      check_scratch(p_.functions[k]);
      if (p_.functions[k].parameters.size() > 1)
        check_shared(p_.functions[k], [&](BufferId x) { return !is_scratch(p_[x]); });
    }
    return std::move(problems_);
  }

 private:
  void problem(BufferId b, std::string_view text) {
    problems_.push_back(fmt::format("{}: `{}` {}", where_, p_[b].name, text));
  }

  /// Checks that no private array of a phase is accessed outside of it: the copies of the workers are lost when the
  /// region ends.
  void check_private(const Function& owner, const ParallelRegion& phase) {
    Touched here, outside;
    touch(p_, p_.functions[phase.function], here);
    touch(p_, owner, outside);
    for (const ParallelRegion& sibling : owner.regions)
      if (sibling.function != phase.function) touch(p_, p_.functions[sibling.function], outside);
    for (const BufferId b : here.stores)
      if (is_scratch(p_[b]) && b != phase.sums && outside.contains(b))
        problem(b, "is private to a parallel region, and touched outside of it");
  }

  /// Checks that a call stores the scratch that it reads: scratch has no meaning between calls.
  void check_scratch(const Function& f) {
    Touched all;
    touch(p_, f, all);
    for (const ParallelRegion& phase : f.regions) {
      touch(p_, p_.functions[phase.function], all);
      if (phase.sums.valid()) all.stores.insert(phase.sums);
    }
    for (const BufferId b : all.loads)
      if (is_scratch(p_[b]) && !all.stores.contains(b))
        problem(b, "is scratch that is read and never stored in the same call");
  }

  /// Checks the arrays that other workers access at the same time. Each access must belong to the range, unless the
  /// array is a sum that is added to and not read. `may_be_sum` returns true for arrays that may be sums, of which
  /// every worker has a copy.
  template <class MayBeSum>
  void check_shared(const Function& f, const MayBeSum& may_be_sum) {
    const FromRange from_range(p_, f);
    std::set<BufferId> stored, added;
    each_statement(f.body, [&](const Stmt& s) {
      const auto* fill = std::get_if<Fill>(&s.node);
      if (fill && !is_scratch(p_[fill->buffer])) problem(fill->buffer, "is filled as a whole in a parallel region");
      const auto* store = std::get_if<Store>(&s.node);
      if (!store || (is_scratch(p_[store->buffer]) && !may_be_sum(store->buffer))) return;
      if (from_range.holds_any(store->indices)) stored.insert(store->buffer);
      else if (store->accumulate && may_be_sum(store->buffer)) added.insert(store->buffer);
      else problem(store->buffer, "is stored in a parallel region at a place that is not its own");
    });
    const auto on_expr = [&](ExprId e) {
      const auto* load = std::get_if<Load>(&p_[e].node);
      if (!load) return;
      if (added.contains(load->buffer)) problem(load->buffer, "is a sum of a parallel region that it reads");
      if (stored.contains(load->buffer) && !from_range.holds_any(load->indices))
        problem(load->buffer, "is stored in a parallel region that reads places of others");
    };
    Walk{p_, on_expr, [](BufferId, bool) {}}.block(f.body);
  }

  const Program& p_;
  std::vector<std::string> problems_;
  std::string where_;
};

}  // namespace

std::vector<std::string> verify_regions(const Program& program) { return Regions(program).run(); }

}  // namespace lehr::loops
