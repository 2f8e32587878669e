// Data flow of reals: which scalars and arrays each value is formed from.
// An array stays at 64 bits if it flows into itself, by way of scalars alone: elements of a recursion lose digits at
// every step. Its sources, found by following the flow backwards, stay too. What is not a candidate (shared with other
// functions, data) keeps its type in any case.
#include "compiler/passes/narrowable.h"

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/analysis/effects.h"
#include "compiler/loops/operators.h"
#include "compiler/loops/walk.h"
#include "compiler/passes/vectoriser/vectorised.h"
#include "compiler/support/overloaded.h"

namespace lehr::loops {
namespace {

/// The scalars and arrays that a value is formed from.
struct Sources {
  SmallIdSet<ScalarId> scalars;
  SmallIdSet<BufferId> arrays;

  void add(const Sources& more) {
    scalars.insert(more.scalars.begin(), more.scalars.end());
    arrays.insert(more.arrays.begin(), more.arrays.end());
  }
};

/// Returns true if the load reads the element that the store `to` changes. An update in place, such as a[i] = a[i] + x,
/// does not make the array a source of itself.
bool is_same_element(const Store* to, const Load& x) {
  return to && to->buffer == x.buffer && to->indices == x.indices;
}

/// Adds the sources of a real expression to `out`. `to`: the store that the expression is the value of, or null.
void add_sources(const Program& p, ExprId e, const Store* to, Sources& out) {
  if (!is_real(p[e].type)) return;
  if (const auto* get = std::get_if<Get>(&p[e].node)) out.scalars.insert(get->scalar);
  const auto* load = std::get_if<Load>(&p[e].node);
  if (load && !is_same_element(to, *load)) out.arrays.insert(load->buffer);
  each_operand(p[e].node, [&](ExprId operand) { add_sources(p, operand, to, out); });
}

/// Returns true if the expression contains a function call (exp, log).
bool calls(const Program& p, ExprId e) {
  return std::visit(Overloaded{[&](const Unary& x) { return is_function(x.op) || calls(p, x.operand); },
                               [&](const Binary& x) { return calls(p, x.left) || calls(p, x.right); },
                               [&](const Select& x) { return calls(p, x.if_true) || calls(p, x.if_false); },
                               [](const auto&) { return false; }},
                    p[e].node);
}

/// The sources of all scalars and arrays of a program, and what follows from them.
class Flow {
 public:
  /// Collects the sources in all functions that may be narrowed.
  explicit Flow(const Program& p) : p_(p) {
    for (const Function& f : p.functions) {
      look_at_tables(f);
      if (f.f32_allowed)
        each_statement(f.body, [&](const Stmt& s) { std::visit([&](const auto& x) { of(x); }, s.node); });
    }
  }

  /// Returns what may be narrowed.
  Narrowable run() {
    for (const auto& [array, made_of] : arrays_) {
      if (is_made_of_itself(array)) keep_wide(array);
    }
    Narrowable out;
    for (std::size_t k = 0; k < p_.buffers.size(); ++k) {
      const BufferId b(k);
      if (is_candidate(b) && !wide_arrays_.contains(b)) out.arrays.insert(b);
    }
    for (const auto& [store, made_of] : stores_) {
      const bool exact = std::ranges::any_of(made_of.arrays, [&](BufferId b) { return wide_arrays_.contains(b); });
      if (exact && !out.arrays.contains(store->buffer)) out.exact.insert(store->buffer);
    }
    for (const auto& [store, made_of] : stores_) {
      const bool in_32 = calls_for_item(p_, *store) && !out.exact.contains(store->buffer);
      if (in_32 || out.arrays.contains(store->buffer)) add_narrow(made_of, out);
    }
    return out;
  }

 private:
  void of(const For&) {}
  void of(const Let& x) { into(x.scalar, x.value); }
  void of(const Local& x) { into(x.scalar, x.initial); }
  void of(const Assign& x) { into(x.scalar, x.value); }
  void of(const Accumulate& x) { into(x.scalar, x.value); }
  void of(const Store& x) {
    Sources made_of;
    add_sources(p_, x.value, &x, made_of);
    arrays_[x.buffer].add(made_of);
    stores_.emplace_back(&x, std::move(made_of));
  }
  void of(const Fill& x) { add_sources(p_, x.value, nullptr, arrays_[x.buffer]); }
  void of(const If&) {}
  void of(const BreakIf&) {}
  void of(const Fail&) {}
  void of(const Comment&) {}
  /// Adds the sources of a value to those of the scalar that it is assigned to.
  void into(ScalarId s, ExprId value) { add_sources(p_, value, nullptr, scalars_[s]); }

  /// Notes the tables that functions other than narrowed ones and makers of tables read, and the work arrays that other
  /// functions use too: these stay at 64 bits.
  void look_at_tables(const Function& f) {
    const Effects all = effects_of(p_, f.body);
    const bool makes_tables = std::ranges::all_of(
        all.stores, [&](BufferId b) { return p_[b].role == Role::table || p_[b].role == Role::scratch; });
    for (const BufferId b : all.loads) {
      const bool narrow_use = f.f32_allowed || (makes_tables && p_[b].role == Role::table);
      (narrow_use ? read_ : shared_).insert(b);
    }
    for (const BufferId b : all.stores) {
      if (f.f32_allowed == (p_[b].role == Role::table)) shared_.insert(b);
    }
  }
  /// Returns true if the array may have 32 bits as far as its role and its users are concerned.
  bool is_candidate(BufferId id) const {
    const Buffer& b = p_[id];
    if (b.element != Type::f64 || b.exact || shared_.contains(id)) return false;
    if (b.role == Role::table) return read_.contains(id);
    return b.role == Role::scratch && has_constant_extents(p_, b) && arrays_.contains(id);
  }

  /// Returns true if the array flows into itself by way of scalars alone.
  bool is_made_of_itself(BufferId array) const {
    SmallIdSet<ScalarId> seen;
    std::vector<ScalarId> open;
    const auto finds = [&](const Sources& x) {
      for (const ScalarId s : x.scalars) {
        if (seen.insert(s).second) open.push_back(s);
      }
      return x.arrays.contains(array);
    };
    if (finds(arrays_.at(array))) return true;
    while (!open.empty()) {
      const ScalarId next = open.back();
      open.pop_back();
      if (const auto it = scalars_.find(next); it != scalars_.end() && finds(it->second)) return true;
    }
    return false;
  }

  /// Keeps a work array or table, and everything that flows into it, at 64 bits.
  void keep_wide(BufferId array) {
    if (p_[array].role != Role::scratch && p_[array].role != Role::table) return;
    if (!wide_arrays_.insert(array).second) return;
    if (const auto it = arrays_.find(array); it != arrays_.end()) keep_wide(it->second);
  }
  /// Keeps these sources, and everything that flows into them, at 64 bits.
  void keep_wide(const Sources& x) {
    for (const BufferId b : x.arrays)
      keep_wide(b);
    for (const ScalarId s : x.scalars) {
      if (!wide_scalars_.insert(s).second) continue;
      if (const auto it = scalars_.find(s); it != scalars_.end()) keep_wide(it->second);
    }
  }

  /// Adds the scalars that flow into a narrowed value to what is narrowed, unless they must stay at 64 bits.
  void add_narrow(const Sources& x, Narrowable& out) const {
    for (const ScalarId s : x.scalars) {
      const auto made_of = scalars_.find(s);
      if (made_of == scalars_.end() || wide_scalars_.contains(s)) continue;
      if (out.scalars.insert(s).second) add_narrow(made_of->second, out);
    }
  }

  const Program& p_;
  std::map<ScalarId, Sources> scalars_;                   // sources of each scalar
  std::map<BufferId, Sources> arrays_;                    // sources of each array, of all stores together
  std::vector<std::pair<const Store*, Sources>> stores_;  // sources of each store
  // Arrays that narrowed functions read, arrays that other functions use, and arrays that stay at 64 bits.
  SmallIdSet<BufferId> read_, shared_, wide_arrays_;
  SmallIdSet<ScalarId> wide_scalars_;  // scalars that stay at 64 bits
};

}  // namespace

bool Narrowable::meets(const Program& p, ExprId e) const {
  Sources x;
  add_sources(p, e, nullptr, x);
  return intersect(x.arrays, arrays) || intersect(x.scalars, scalars);
}

bool calls_for_item(const Program& p, const Store& store) {
  const Role role = p[store.buffer].role;
  return (role == Role::parameter || role == Role::expectation) && calls(p, store.value);
}

Narrowable narrowable(const Program& program) { return Flow(program).run(); }

}  // namespace lehr::loops
