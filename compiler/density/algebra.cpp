// The arena of index expressions and coefficients: hash-consing, folding and substitution.
//
// Each node is looked up by its contents, whose children are ids, so structurally equal expressions get one id. Sums
// and products are sorted by id, and so a + b and b + a are equal. The free index variables of each node are stored
// with it, which makes `mentions` a search in a sorted list.
#include "compiler/density/algebra.h"

#include <algorithm>
#include <cmath>

#include "compiler/support/overloaded.h"

namespace lehr::density {

std::vector<CoefId> parts_of(const CoefNode& node) {
  if (const auto* sum = std::get_if<CoefAdd>(&node)) return sum->parts;
  if (const auto* product = std::get_if<CoefMultiply>(&node)) return product->parts;
  if (const auto* f = std::get_if<CoefApply>(&node)) return {f->argument};
  if (const auto* sum = std::get_if<CoefSum>(&node)) return {sum->body};
  return {};
}

IndexVarId Algebra::bound(IndexVar b) {
  bounds_.push_back(std::move(b));
  return IndexVarId(bounds_.size() - 1);
}

IndexVarId Algebra::fresh_like(IndexVarId b, std::optional<IndexId> parent) {
  IndexVar copy = bounds_[b.index()];
  copy.parent = parent;
  return bound(std::move(copy));
}

IndexId Algebra::index(IndexNode node) {
  auto [it, inserted] = index_ids_.try_emplace(node, IndexId(indices_.size()));
  if (inserted) {
    index_bounds_.push_back(find_index_vars(node));
    indices_.push_back(std::move(node));
  }
  return it->second;
}

CoefId Algebra::coef(CoefNode node) {
  // The matrix is symmetric, so both orders of row and column name one entry.
  if (auto* x = std::get_if<CoefInverse>(&node); x && x->column < x->row) std::swap(x->row, x->column);
  auto [it, inserted] = coef_ids_.try_emplace(node, CoefId(coefs_.size()));
  if (inserted) {
    coef_bounds_.push_back(find_index_vars(node));
    coefs_.push_back(std::move(node));
  }
  return it->second;
}

std::optional<double> Algebra::literal(CoefId c) const {
  if (const auto* n = std::get_if<CoefNumber>(&coefs_[c.index()])) return n->value;
  return std::nullopt;
}

std::vector<CoefId> Algebra::factors(CoefId c) const {
  if (const auto* m = std::get_if<CoefMultiply>(&coefs_[c.index()])) return m->parts;
  return {c};
}

CoefId Algebra::add(const std::vector<CoefId>& summands) {
  // Each summand is split into a literal number and the rest. Equal rests are collected: `x - x` vanishes and `2*x + x`
  // is `3*x`.
  std::vector<std::pair<CoefId, double>> parts;  // the rest (the literal 1 for numbers), and its number
  std::map<CoefId, std::size_t> positions;       // the position in `parts`, by rest
  const CoefId one = number(1);
  auto insert = [&](CoefId part) {
    double scale = 1;
    std::vector<CoefId> rest;
    for (CoefId f : factors(part)) {
      if (auto v = literal(f)) scale *= *v;
      else rest.push_back(f);
    }
    CoefId key = rest.empty() ? one : rest.size() == 1 ? rest[0] : coef(CoefMultiply{rest});
    const auto [it, inserted] = positions.try_emplace(key, parts.size());
    if (inserted) parts.emplace_back(key, scale);
    else parts[it->second].second += scale;
  };
  for (CoefId c : summands) {
    if (const auto* sum = std::get_if<CoefAdd>(&coefs_[c.index()])) {
      // A copy, because insert() may add nodes, which moves the arena.
      for (CoefId p : std::vector<CoefId>(sum->parts))
        insert(p);
    } else {
      insert(c);
    }
  }
  std::vector<CoefId> out;
  for (auto& [key, scale] : parts) {
    if (scale != 0) out.push_back(multiply(number(scale), key));
  }
  if (out.empty()) return number(0);
  if (out.size() == 1) return out[0];
  std::sort(out.begin(), out.end());
  return coef(CoefAdd{out});
}

CoefId Algebra::multiply(const std::vector<CoefId>& all) {
  double scale = 1;
  std::vector<CoefId> rest;
  for (CoefId c : all) {
    for (CoefId f : factors(c)) {
      if (auto v = literal(f)) scale *= *v;
      else rest.push_back(f);
    }
  }
  // A literal number stands first, the other factors follow by id.
  if (scale == 0) return number(0);
  if (rest.empty()) return number(scale);
  std::sort(rest.begin(), rest.end());
  if (scale != 1) rest.insert(rest.begin(), number(scale));
  return rest.size() == 1 ? rest[0] : coef(CoefMultiply{rest});
}

CoefId Algebra::apply(Function f, CoefId a) {
  if (auto v = literal(a)) {
    const double value = math::value_of(f, *v);
    if (std::isfinite(value)) return number(value);
  }
  // A copy, because the calls below may add nodes.
  const CoefNode node = coefs_[a.index()];
  if (const auto* inner = std::get_if<CoefApply>(&node)) {
    if (f == Function::reciprocal && inner->function == Function::reciprocal) return inner->argument;
    if (f == Function::log && inner->function == Function::exp) return inner->argument;
    if (f == Function::log && inner->function == Function::reciprocal) {
      return multiply(number(-1), apply(f, inner->argument));
    }
  }
  if (f == Function::reciprocal && std::holds_alternative<CoefMultiply>(node)) {
    CoefId out = number(1);
    for (CoefId p : std::get<CoefMultiply>(node).parts)
      out = multiply(out, apply(f, p));
    return out;
  }
  return coef(CoefApply{f, a});
}

std::vector<IndexVarId> Algebra::find_index_vars(const IndexNode& node) const {
  std::set<IndexVarId> out;
  if (const auto* b = std::get_if<IndexVarRef>(&node)) out.insert(b->bound);
  if (const auto* l = std::get_if<IndexLookup>(&node)) {
    for (IndexId k : l->indices)
      collect(k, out);
  }
  if (const auto* c = std::get_if<IndexCoordinate>(&node)) {
    for (IndexId k : c->indices)
      collect(k, out);
  }
  return {out.begin(), out.end()};
}

std::vector<IndexVarId> Algebra::find_index_vars(const CoefNode& node) const {
  std::set<IndexVarId> out;
  const auto all = [&](const auto& expressions) {
    for (auto e : expressions)
      collect(e, out);
  };
  std::visit(
      Overloaded{[](const CoefNumber&) {}, [](const CoefConstant&) {}, [&](const CoefData& d) { all(d.indices); },
                 [&](const CoefArray& d) { all(d.indices); },
                 [&](const CoefExtent& e) {
                   if (e.row) collect(*e.row, out);
                 },
                 [&](const CoefIndexValue& v) { collect(v.index, out); }, [&](const CoefAdd& a) { all(a.parts); },
                 [&](const CoefMultiply& m) { all(m.parts); }, [&](const CoefApply& a) { collect(a.argument, out); },
                 [&](const CoefSum& s) {
                   collect(s.body, out);
                   // The sum binds its own index variable; the row that it runs over stays free.
                   out.erase(s.bound);
                   if (const auto& parent = bounds_[s.bound.index()].parent) collect(*parent, out);
                 },
                 [&](const CoefInverse& m) {
                   all(m.lead);
                   collect(m.row, out);
                   collect(m.column, out);
                 },
                 [&](const CoefLogDet& m) { all(m.lead); }},
      node);
  return {out.begin(), out.end()};
}

Algebra::Substitution Algebra::replace(IndexVarId b, IndexId by) {
  return [this, b, by](IndexId i) -> std::optional<IndexId> {
    const auto* bound = std::get_if<IndexVarRef>(&indices_[i.index()]);
    // The occurrence may have an offset of its own: t-1 with t = u+1 is u.
    if (!bound || bound->bound != b) return std::nullopt;
    if (bound->offset == 0) return by;
    // A copy, because index() may add nodes.
    const IndexNode target = indices_[by.index()];
    if (const auto* t = std::get_if<IndexVarRef>(&target)) return index(t->bound, t->offset + bound->offset);
    if (const auto* t = std::get_if<IndexConstant>(&target)) return index(IndexConstant{t->value + bound->offset});
    return std::nullopt;
  };
}

IndexId Algebra::substitute(IndexId i, const Substitution& s) {
  if (auto r = s(i)) return *r;
  IndexNode node = indices_[i.index()];
  auto* lookup = std::get_if<IndexLookup>(&node);
  auto* coordinate = std::get_if<IndexCoordinate>(&node);
  if (!lookup && !coordinate) return i;
  for (IndexId& k : lookup ? lookup->indices : coordinate->indices)
    k = substitute(k, s);
  return index(std::move(node));
}

CoefId Algebra::substitute(CoefId c, const Substitution& s) {
  auto all = [&](std::vector<IndexId> v) {
    for (IndexId& i : v)
      i = substitute(i, s);
    return v;
  };
  const auto each = [&](std::vector<CoefId> v) {
    for (CoefId& p : v)
      p = substitute(p, s);
    return v;
  };
  // A copy, because the substitution adds nodes.
  const CoefNode node = coefs_[c.index()];
  return std::visit(
      Overloaded{[&](const CoefNumber&) { return c; }, [&](const CoefConstant&) { return c; },
                 [&](const CoefData& d) {
                   return coef(CoefData{d.source, all(d.indices)});
                 },
                 [&](const CoefArray& d) {
                   return coef(CoefArray{d.array, all(d.indices)});
                 },
                 [&](const CoefExtent& e) {
                   return e.row ? coef(CoefExtent{e.plate, substitute(*e.row, s)}) : c;
                 },
                 [&](const CoefIndexValue& v) { return coef(CoefIndexValue{substitute(v.index, s)}); },
                 [&](const CoefAdd& a) {
                   const std::vector<CoefId> parts = each(a.parts);
                   return parts == a.parts ? c : add(parts);
                 },
                 [&](const CoefMultiply& m) {
                   const std::vector<CoefId> parts = each(m.parts);
                   return parts == m.parts ? c : multiply(parts);
                 },
                 [&](const CoefApply& a) { return apply(a.function, substitute(a.argument, s)); },
                 [&](const CoefSum& sum) {
                   const IndexVar inner = bounds_[sum.bound.index()];
                   if (!inner.parent) return coef(CoefSum{sum.bound, substitute(sum.body, s)});
                   const IndexId parent = substitute(*inner.parent, s);
                   if (parent == *inner.parent) return coef(CoefSum{sum.bound, substitute(sum.body, s)});
                   // The sum runs over another row now, so it gets an index variable of its own with the new parent.
                   const IndexVarId b = fresh_like(sum.bound, parent);
                   return coef(CoefSum{b, substitute(substitute(sum.body, replace(sum.bound, index(b))), s)});
                 },
                 [&](const CoefInverse& m) {
                   return coef(CoefInverse{m.matrix, all(m.lead), substitute(m.row, s), substitute(m.column, s)});
                 },
                 [&](const CoefLogDet& m) {
                   return coef(CoefLogDet{m.matrix, all(m.lead)});
                 }},
      node);
}

}  // namespace lehr::density
