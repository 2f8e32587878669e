// The loop nest of one term (terms.h).
//
// The nest is written from outside to inside. At each level, whatever depends on open index variables alone is
// multiplied into one scalar, and conditions that are decided become branches. Then the next index variable opens. A
// guard i >= j shortens the loop that opens second, and a loop on whose index nothing depends becomes a multiplication
// by its length.
#include "compiler/lower/terms.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "runtime/threshold.h"

namespace lehr::loops {

/// The state of a nest: what is still to be opened, multiplied and tested.
struct Terms::Nest {
  std::vector<IndexVarId> order;                          // index variables still to open, outermost first
  std::vector<Factor> factors, conditions;                // not emitted yet
  std::vector<std::pair<IndexVarId, IndexVarId>> halves;  // pairs i, j with the guard i >= j
  const std::function<void(ExprId, const Env&)>& leaf;
  const std::optional<std::set<IndexVarId>>& read;  // index variables that the leaf reads, if it only adds
};

namespace {

/// Returns true if all the index variables are open.
bool open(const std::set<IndexVarId>& bounds, const Env& env) {
  return std::all_of(bounds.begin(), bounds.end(), [&](IndexVarId b) { return env.contains(b); });
}

/// A factor that is often 0 becomes a branch if it leaves out at least so many loops.
constexpr Threshold<std::size_t> kWorthABranch("lower_terms.worth_a_branch", 2);

}  // namespace

bool Terms::only_repeats(const Nest& nest, IndexVarId b) const {
  if (!nest.read || nest.read->contains(b) || a_[b].parent) return false;
  const auto mention = [&](const Factor& f) { return f.index_vars.contains(b); };
  return std::none_of(nest.factors.begin(), nest.factors.end(), mention) &&
         std::none_of(nest.conditions.begin(), nest.conditions.end(), mention) &&
         std::none_of(nest.halves.begin(), nest.halves.end(),
                      [&](const auto& half) { return half.first == b || half.second == b; }) &&
         std::none_of(nest.order.begin(), nest.order.end(),
                      [&](IndexVarId x) { return a_[x].parent && index_variables({*a_[x].parent}).contains(b); });
}

std::optional<std::pair<IndexVarId, IndexVarId>> Terms::triangle_of(const Guard& g) const {
  if (g.present || g.relation != density::Relation::greater_equal) return std::nullopt;
  const auto *first = std::get_if<density::IndexVarRef>(&a_[g.left]),
             *second = std::get_if<density::IndexVarRef>(&a_[g.right]);
  const bool plain = first && second && first->offset == 0 && second->offset == 0 && !a_[first->bound].parent &&
                     !a_[second->bound].parent && m_[a_[first->bound].plate].set == m_[a_[second->bound].plate].set;
  return plain ? std::optional(std::pair(first->bound, second->bound)) : std::nullopt;
}

bool Terms::is_half_of_pairs(const Term& t, std::size_t atom) const {
  const std::set<IndexVarId> own = index_variables(t.atoms[atom].axes);
  return std::ranges::any_of(t.guards, [&](const Guard& g) {
    const auto half = triangle_of(g);
    return half && own.contains(half->first) && !own.contains(half->second);
  });
}

void Terms::emit(const Term& t, std::vector<Factor> factors, std::vector<Factor> conditions, Env env,
                 std::optional<IndexVarId> innermost, const std::function<void(ExprId, const Env&)>& leaf,
                 const std::optional<std::set<IndexVarId>>& read) {
  std::vector<std::pair<IndexVarId, IndexVarId>> halves;
  for (const Guard& g : t.guards) {
    if (const auto half = triangle_of(g); half && !(env.contains(half->first) && env.contains(half->second))) {
      halves.push_back(*half);
      continue;
    }
    std::set<IndexVarId> bounds = g.present ? index_variables(g.element) : index_variables({g.left, g.right});
    conditions.push_back({bounds, [this, &g](const Env& e) { return guard(g, e); }});
  }
  std::vector<IndexVarId> left;
  for (IndexVarId b : t.index_vars) {
    if (!env.contains(b) && b != innermost) left.push_back(b);
  }
  if (innermost && !env.contains(*innermost)) left.push_back(*innermost);
  // A nested index variable opens after those on which its row depends.
  std::vector<IndexVarId> order;
  std::set<IndexVarId> in_scope;
  for (const auto& [b, e] : env)
    in_scope.insert(b);
  while (!left.empty()) {
    const auto ready = std::find_if(left.begin(), left.end(), [&](IndexVarId b) {
      if (!a_[b].parent) return true;
      const std::set<IndexVarId> needs = index_variables({*a_[b].parent});
      return std::includes(in_scope.begin(), in_scope.end(), needs.begin(), needs.end());
    });
    if (ready == left.end()) throw std::logic_error("a nested bound is summed without the row it hangs on");
    order.push_back(*ready);
    in_scope.insert(*ready);
    left.erase(ready);
  }
  // Of a guard i >= j, i opens first: its value ends the loop over j.
  for (const auto& [first, second] : halves) {
    const auto early = std::find(order.begin(), order.end(), second),
               late = std::find(order.begin(), order.end(), first);
    if (late != order.end() && early < late) std::rotate(early, late, late + 1);
  }
  Nest nest{std::move(order), std::move(factors), std::move(conditions), std::move(halves), leaf, read};
  emit_level(nest, std::move(env), ExprId());
}

void Terms::emit_level(Nest& nest, Env env, ExprId product) {
  const auto take = [&](std::vector<Factor>& from) {
    std::vector<Factor> ready;
    for (auto f = from.begin(); f != from.end();) {
      if (open(f->index_vars, env)) {
        ready.push_back(std::move(*f));
        f = from.erase(f);
      } else {
        ++f;
      }
    }
    return ready;
  };
  const std::vector<Factor> conditions = take(nest.conditions);
  if (!conditions.empty()) {
    ExprId all = conditions[0].value(env);
    for (std::size_t k = 1; k < conditions.size(); ++k)
      all = b_.logical_and(all, conditions[k].value(env));
    b_.if_then(all, [&] { emit_level(nest, env, product); });
    return;
  }
  ExprId bit;
  for (const Factor& f : take(nest.factors)) {
    ExprId v = f.value(env);
    // A bit that is 0 makes the product 0: a branch skips the loops inside.
    if (f.often_zero && nest.order.size() >= options_.thresholds[kWorthABranch]) bit = v = b_.let(b_.fresh("bit"), v);
    product = product.valid() ? b_.mul(product, v) : v;
  }
  if (bit.valid()) {
    product = b_.let(b_.fresh("c"), product);
    b_.if_then(b_.less(b_.f(0), bit), [&] { emit_level(nest, env, product); });
    return;
  }
  if (nest.order.empty()) {
    nest.leaf(product.valid() ? product : b_.f(1), env);
    return;
  }
  if (product.valid()) product = b_.let(b_.fresh("c"), product);
  const IndexVarId next = nest.order.front();
  nest.order.erase(nest.order.begin());
  const auto [begin, whole] = range(next, env);
  ExprId start = begin, end = whole;
  for (const auto& [first, second] : nest.halves) {
    if (second == next && env.contains(first)) {
      const ExprId past = b_.add(env.at(first), b_.i(1));
      end = end == whole ? past : b_.min(end, past);
    }
    if (first == next && env.contains(second)) start = start == begin ? env.at(second) : b_.max(start, env.at(second));
  }
  // Every iteration of this loop would add the same value.
  if (only_repeats(nest, next)) {
    const ExprId count = b_.to_f64(end);
    return emit_level(nest, std::move(env), b_.let(b_.fresh("c"), product.valid() ? b_.mul(product, count) : count));
  }
  b_.for_range(a_[next].name, start, end, [&](ExprId i) {
    Env inner = env;
    inner[next] = i;
    emit_level(nest, std::move(inner), product);
  });
}

void Terms::each_event(const model::Variable& var, int rank,
                       const std::function<void(const std::vector<ExprId>&)>& body) {
  std::vector<ExprId> event;
  const std::vector<model::PlateId> axes = event_axes(var, rank);
  const std::function<void(std::size_t)> level = [&](std::size_t k) {
    if (k == axes.size()) {
      body(event);
      return;
    }
    b_.for_range("e", b_.i(0), b_.extent(layout_.size[m_[axes[k]].set.index()]), [&](ExprId i) {
      event.push_back(i);
      level(k + 1);
      event.pop_back();
    });
  };
  level(0);
}

}  // namespace lehr::loops
