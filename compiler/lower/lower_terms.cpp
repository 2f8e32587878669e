// The index, coefficient and factor expressions of a term (terms.h).
#include "compiler/lower/terms.h"

#include <algorithm>

#include "compiler/binding/matrix_axes.h"
#include "compiler/conditionals/chain_lag.h"
#include "compiler/lower/functions.h"
#include "compiler/model/expectations.h"
#include "compiler/model/walk.h"
#include "compiler/support/overloaded.h"

namespace lehr::loops {

std::set<IndexVarId> Terms::index_variables(const std::vector<IndexId>& indices) const {
  std::set<IndexVarId> out;
  for (IndexId i : indices)
    a_.collect(i, out);
  return out;
}

ExprId Terms::index(IndexId i, const Env& env) {
  return std::visit(Overloaded{[&](const density::IndexVarRef& b) {
                                 const ExprId base = env.at(b.bound);
                                 return b.offset == 0 ? base : b_.add(base, b_.i(b.offset));
                               },
                               [&](const density::IndexConstant& c) { return b_.i(c.value); },
                               [&](const density::IndexLookup& l) { return data_value(l.source, l.indices, env); },
                               [&](const density::IndexCoordinate& c) { return coordinate(c, env); }},
                    a_[i]);
}

std::vector<model::PlateId> Terms::own_plates(const model::Member& member) const {
  const model::Variable& v = m_[member.variable];
  std::vector<model::PlateId> out;
  for (const std::size_t axis : member.own)
    out.push_back(v.axes[axis]);
  out.insert(out.end(), v.event.begin(), v.event.end());
  return out;
}

ExprId Terms::coordinate(const density::IndexCoordinate& c, const Env& env) {
  const std::vector<model::Member>& members = m_[c.joint].auxiliary->members;
  ExprId out = b_.i(0);
  for (std::size_t k = 0; k <= c.member; ++k) {
    // Members before it occupy as many coordinates as they have numbers; then comes its own entry, row-major.
    const std::vector<model::PlateId> plates = model::coordinate_plates(m_, members[k]);
    const std::vector<ExprId> own =
        k == c.member ? address(own_plates(members[k]), c.indices, env) : std::vector<ExprId>();
    ExprId inner = b_.i(k < c.member ? 1 : 0);
    for (std::size_t x = 0; x < plates.size(); ++x) {
      inner = b_.mul(inner, b_.extent(layout_.size[plates[x].index()]));
      if (k == c.member) inner = b_.add(inner, own[x]);
    }
    out = b_.add(out, inner);
  }
  return out;
}

std::vector<ExprId> Terms::address(const std::vector<model::PlateId>& plates, const std::vector<ExprId>& indices) {
  std::vector<ExprId> out;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const model::PlateId set = m_[plates[k]].set;
    if (m_[set].parent && k > 0) {
      out.back() = b_.add(b_.load(layout_.data.offsets[set.index()], {out.back()}), indices[k]);
    } else {
      out.push_back(indices[k]);
    }
  }
  return out;
}

std::vector<ExprId> Terms::address(const std::vector<model::PlateId>& plates, const std::vector<IndexId>& indices,
                                   const Env& env) {
  std::vector<ExprId> values;
  for (IndexId i : indices)
    values.push_back(index(i, env));
  return address(plates, values);
}

ExprId Terms::data_value(const density::DataSource& source, const std::vector<IndexId>& indices, const Env& env) {
  const auto plates = [&](const auto& x) {
    std::vector<model::PlateId> all = x.axes;
    all.insert(all.end(), x.event.begin(), x.event.end());
    return all;
  };
  return std::visit(Overloaded{[&](model::GivenId g) {
                                 return b_.load(layout_.data.givens[g.index()], address(plates(m_[g]), indices, env));
                               },
                               [&](model::VariableId v) {
                                 return b_.load(layout_.data.observed[v.index()], address(plates(m_[v]), indices, env));
                               }},
                    source);
}

bool Terms::mentions_observed(CoefId c) const {
  return std::visit(
      Overloaded{[](const density::CoefData& d) { return std::holds_alternative<model::VariableId>(d.source); },
                 [&](const density::CoefAdd& s) {
                   return std::ranges::any_of(s.parts, [&](CoefId part) { return mentions_observed(part); });
                 },
                 [&](const density::CoefMultiply& p) {
                   return std::ranges::any_of(p.parts, [&](CoefId part) { return mentions_observed(part); });
                 },
                 [](const auto&) { return false; }},
      a_[c]);
}

std::optional<double> Terms::number(CoefId c) const {
  using Number = std::optional<double>;
  const auto sum = [&](const density::CoefAdd& s) {
    Number out = 0.0;
    for (const CoefId part : s.parts) {
      const Number x = number(part);
      out = out && x ? Number(*out + *x) : std::nullopt;
    }
    return out;
  };
  const auto product = [&](const density::CoefMultiply& p) {
    Number out = 1.0;
    for (const CoefId part : p.parts) {
      const Number x = number(part);
      if (x == 0.0) return x;
      out = out && x ? Number(*out * *x) : std::nullopt;
    }
    return out;
  };
  return std::visit(Overloaded{[](const density::CoefNumber& n) -> Number { return n.value; },
                               [&](const density::CoefConstant& k) -> Number {
                                 return shared_.data.constants.at(k.constant.index());
                               },
                               sum, product, [](const auto&) -> Number { return std::nullopt; }},
                    a_[c]);
}

ExprId Terms::sum(const std::vector<CoefId>& parts, const Env& env) {
  std::vector<std::pair<CoefId, std::vector<CoefId>>> groups;  // parts by the logarithm of which they are multiples
  for (const CoefId part : parts) {
    const std::vector<CoefId> factors = a_.factors(part);
    const auto log = std::ranges::find_if(factors, [&](CoefId f) {
      const auto* x = std::get_if<density::CoefApply>(&a_[f]);
      return x && (x->function == math::Function::log || x->function == math::Function::log1m);
    });
    const CoefId key = log == factors.end() ? part : *log;
    const auto group = std::ranges::find(groups, key, &std::pair<CoefId, std::vector<CoefId>>::first);
    if (group == groups.end()) groups.push_back({key, {part}});
    else group->second.push_back(part);
  }
  ExprId out;
  const auto put = [&](ExprId x) { out = out.valid() ? b_.add(out, x) : x; };
  for (const auto& [log, multiples] : groups) {
    if (multiples.size() == 1 || std::ranges::none_of(multiples, [&](CoefId m) { return mentions_observed(m); })) {
      for (const CoefId part : multiples)
        put(coef(part, env));
      continue;
    }
    ExprId times;
    for (const CoefId part : multiples) {
      ExprId x = b_.f(1);
      bool found = false;
      for (const CoefId f : a_.factors(part)) {
        if (f == log && !found) found = true;
        else x = b_.mul(x, coef(f, env));
      }
      times = times.valid() ? b_.add(times, x) : x;
    }
    put(b_.select(b_.equal(times, b_.f(0)), b_.f(0), b_.mul(coef(log, env), times)));
  }
  return out;
}

ExprId Terms::coef(CoefId c, const Env& env) {
  const auto matrix = [&](const density::DataSource& source) {
    return layout_.data_inverse.at(source.index() == 0 ? m_[std::get<0>(source)].name : m_[std::get<1>(source)].name);
  };
  const auto lead_plates = [&](const density::DataSource& source) {
    return std::visit([&](auto id) { return model::matrix_axes(m_[id]).lead; }, source);
  };
  return std::visit(
      Overloaded{[&](const density::CoefNumber& n) { return b_.f(n.value); },
                 [&](const density::CoefConstant& k) { return b_.f(shared_.data.constants.at(k.constant.index())); },
                 [&](const density::CoefData& d) { return b_.to_f64(data_value(d.source, d.indices, env)); },
                 [&](const density::CoefArray& d) { return array_value(d.array, d.indices, env); },
                 [&](const density::CoefExtent& e) {
                   if (!e.row) return b_.to_f64(b_.extent(layout_.size[e.plate.index()]));
                   return b_.to_f64(row_length(e.plate, packed_row(*e.row, env)));
                 },
                 [&](const density::CoefIndexValue& v) { return b_.to_f64(index(v.index, env)); },
                 [&](const density::CoefAdd& s) { return sum(s.parts, env); },
                 [&](const density::CoefMultiply& p) {
                   ExprId out = coef(p.parts[0], env);
                   for (std::size_t k = 1; k < p.parts.size(); ++k)
                     out = b_.mul(out, coef(p.parts[k], env));
                   return out;
                 },
                 [&](const density::CoefApply& f) {
                   const ExprId y = apply(b_, f.function, coef(f.argument, env));
                   // Simplex data may have zeros. log 0 is then multiplied by an indicator that is never 1, and
                   // -inf * 0 would be NaN.
                   const bool log = f.function == math::Function::log || f.function == math::Function::log1m;
                   return log ? b_.max(y, b_.f(kLogZero)) : y;
                 },
                 [&](const density::CoefSum& s) {
                   const auto [begin, end] = range(s.bound, env);
                   if (const auto each = number(s.body)) return b_.mul(b_.f(*each), b_.to_f64(b_.sub(end, begin)));
                   const ScalarId sum = b_.local(b_.fresh("sum"), b_.f(0));
                   b_.for_range(a_[s.bound].name, begin, end, [&](ExprId i) {
                     Env inner = env;
                     inner[s.bound] = i;
                     b_.accumulate(sum, coef(s.body, inner));
                   });
                   return b_.get(sum);
                 },
                 [&](const density::CoefInverse& x) {
                   std::vector<ExprId> at = address(lead_plates(x.matrix), x.lead, env);
                   at.push_back(index(x.row, env));
                   at.push_back(index(x.column, env));
                   return b_.load(matrix(x.matrix).first, at);
                 },
                 [&](const density::CoefLogDet& x) {
                   return b_.load(matrix(x.matrix).second, address(lead_plates(x.matrix), x.lead, env));
                 }},
      a_[c]);
}

ExprId Terms::is_present(ExprId x) {
  return b_.type(x) == Type::f64 ? b_.logical_not(b_.is_nan(x)) : b_.greater_equal(x, b_.i(0));
}

ExprId Terms::guard(const Guard& g, const Env& env) {
  if (g.present) {
    const model::Variable& v = m_[*g.present];
    std::vector<ExprId> at = address(v.axes, g.element, env);
    for (std::size_t k = 0; k < v.event.size(); ++k)
      at.push_back(b_.i(0));
    return is_present(b_.load(layout_.data.observed[g.present->index()], at));
  }
  const ExprId l = index(g.left, env), r = index(g.right, env);
  switch (g.relation) {
    case density::Relation::equal:
      return b_.equal(l, r);
    case density::Relation::not_equal:
      return b_.not_equal(l, r);
    case density::Relation::less:
      return b_.less(l, r);
    case density::Relation::greater_equal:
      return b_.greater_equal(l, r);
  }
  return b_.boolean(true);
}

std::vector<ExprId> Terms::array_indices(ArrayId array, const std::vector<IndexId>& at, const Env& env) {
  if (const auto r = layout_.residual.find(array); r != layout_.residual.end())
    return address(r->second.of->sides[r->second.side].axes, at, env);
  std::vector<ExprId> logical, out;
  for (IndexId i : at)
    logical.push_back(index(i, env));
  const auto of = layout_.statistic.find(array);
  if (of == layout_.statistic.end()) return logical;
  const schedule::Statistic& s = *of->second;
  // Only one half of a symmetric statistic is stored: the index of the first axis is the larger one.
  if (s.symmetric && at != s.at) {
    ExprId &first = logical[s.symmetric->first], &second = logical[s.symmetric->second];
    std::tie(first, second) = std::pair(b_.max(first, second), b_.min(first, second));
  }
  for (std::size_t k = 0; k < at.size(); ++k) {
    // The contiguous axis is the last one in memory.
    if (k != s.contiguous) out.push_back(logical[k]);
  }
  if (!at.empty()) out.push_back(logical[s.contiguous]);
  return out;
}

ExprId Terms::array_value(ArrayId array, const std::vector<IndexId>& at, const Env& env) {
  return b_.load(layout_.array.at(array), array_indices(array, at, env));
}

ExprId Terms::packed_row(IndexId row, const Env& env) {
  const ExprId within = index(row, env);
  const auto* b = std::get_if<density::IndexVarRef>(&a_[row]);
  if (!b || !a_[b->bound].parent) return within;
  return b_.add(b_.load(layout_.data.offsets[a_[b->bound].plate.index()], {packed_row(*a_[b->bound].parent, env)}),
                within);
}

std::pair<ExprId, ExprId> Terms::range(IndexVarId b, const Env& env) {
  const model::PlateId set = m_[a_[b].plate].set;
  if (!a_[b].parent) return {b_.i(0), b_.extent(layout_.size[set.index()])};
  return {b_.i(0), row_length(set, packed_row(*a_[b].parent, env))};
}

Env Terms::at_all_steps(const Term& t, Env env) const {
  for (const Atom& x : t.atoms) {
    const auto chain = layout_.chains.find(s_.conditionals.block_of[x.variable.index()]);
    if (chain == layout_.chains.end() || !chain->second.summed) continue;
    if (std::ranges::count(t.atoms, x.variable, &Atom::variable) == 2)
      // Step 1 is the first that has a step before it.
      env[std::get<density::IndexVarRef>(a_[x.axes.back()]).bound] = b_.i(1);
  }
  return env;
}

bool Terms::is_plain(const Term& t, std::size_t atom) const {
  const Atom& own = t.atoms[atom];
  std::set<IndexVarId> in_scope = index_variables(own.axes);
  in_scope.merge(index_variables(own.event));
  const auto owned = [&](const density::Multiplicity& x) { return density::has_factor_per_copy(m_, own.variable, x); };
  return a_.literal(t.coef) == 1.0 && t.guards.empty() && std::ranges::all_of(t.multiplicities, owned) &&
         std::ranges::all_of(t.index_vars, [&](IndexVarId b) { return in_scope.contains(b); });
}

bool Terms::is_row(const Term& t, std::size_t atom, const schedule::Statistic& table,
                   const std::vector<IndexId>& at) const {
  if (at.empty() || !is_plain(t, atom)) return false;
  const auto *value = std::get_if<density::IndexVarRef>(&a_[t.atoms[atom].event[0]]),
             *column = std::get_if<density::IndexVarRef>(&a_[at[table.contiguous]]);
  return value && column && value->bound == column->bound;
}

bool Terms::is_bit(CoefId c) const {
  if (const auto* data = std::get_if<density::CoefData>(&a_[c])) {
    const auto* v = std::get_if<model::VariableId>(&data->source);
    return v && m_[*v].support == math::Support::bit;
  }
  const auto* sum = std::get_if<density::CoefAdd>(&a_[c]);
  if (!sum || sum->parts.size() != 2) return false;
  const auto less_one = [&](CoefId part) {
    const auto* product = std::get_if<density::CoefMultiply>(&a_[part]);
    return product && product->parts.size() == 2 &&
           std::ranges::any_of(product->parts, [&](CoefId x) { return a_.literal(x) == -1.0; }) &&
           std::ranges::any_of(product->parts, [&](CoefId x) { return is_bit(x); });
  };
  return std::ranges::any_of(sum->parts, [&](CoefId x) { return a_.literal(x) == 1.0; }) &&
         std::ranges::any_of(sum->parts, less_one);
}

ExprId Terms::choice_weight(model::VariableId owner, ExprId p) {
  constexpr double kLeast = 1e-150;
  return model::has_expectation(m_[owner]) ? b_.max(p, b_.f(kLeast)) : p;
}

std::vector<Factor> Terms::factors(const ArrayTerm& t, const std::vector<std::size_t>& without,
                                   std::optional<model::VariableId> owner) {
  std::vector<Factor> out;
  for (CoefId c : a_.factors(t.term->coef)) {
    if (a_.literal(c) == 1.0) continue;
    std::set<IndexVarId> bounds;
    a_.collect(c, bounds);
    out.push_back({bounds, [this, c](const Env& env) { return coef(c, env); }, is_bit(c)});
  }
  for (Weight w : t.weights) {
    const bool of_data = w == Weight::local_data || w == Weight::global_data;
    // Temperatures of the data do not apply to priors.
    if (of_data && !s_.tempered[t.term->origin]) continue;
    out.push_back({{}, [this, w](const Env&) { return weight(w); }});
  }
  for (const density::Multiplicity& x : t.term->multiplicities) {
    if (owner && density::has_factor_per_copy(m_, *owner, x)) continue;
    std::set<IndexVarId> bounds;
    a_.collect(x.count, bounds);
    out.push_back({bounds, [this, c = x.count](const Env& env) { return coef(c, env); }});
  }
  const auto weight_in = [this, owner](ExprId p, const Atom& atom) {
    const bool chooses = atom.stat == math::Stat::indicator || m_[atom.variable].support == math::Support::bit;
    return owner && chooses ? choice_weight(*owner, p) : p;
  };
  for (std::size_t k = 0; k < t.term->atoms.size(); ++k) {
    if (std::find(without.begin(), without.end(), k) != without.end()) continue;
    const Atom& atom = t.term->atoms[k];
    std::set<IndexVarId> bounds = index_variables(atom.axes);
    bounds.merge(index_variables(atom.event));
    // Elements of one chain are dependent: they have one expectation of their product, which stands in place of all.
    if (layout_.chains.contains(s_.conditionals.block_of[atom.variable.index()])) {
      std::vector<const Atom*> together{&atom};
      for (const Atom& x : t.term->atoms) {
        if (x.variable == atom.variable && conditionals::lag_between(a_, atom, x)) together.push_back(&x);
      }
      // The first of the atoms makes the factor for all of them.
      if (std::ranges::min(together) != &atom) continue;
      for (const Atom* x : together)
        bounds.merge(index_variables(x->event));
      if (together.size() > 1) {
        out.push_back({bounds, [this, together, weight_in](const Env& env) {
                         return weight_in(values_.together(together, env), *together[0]);
                       }});
        continue;
      }
    }
    out.push_back(
        {bounds, [this, &atom, weight_in](const Env& env) { return weight_in(values_.one(atom, env), atom); }});
  }
  if (t.array) {
    out.push_back({index_variables(*t.at), [this, t](const Env& env) { return array_value(*t.array, *t.at, env); }});
  }
  out.insert(out.end(), t.more.begin(), t.more.end());
  return out;
}

ExprId Terms::row_length(model::PlateId set, ExprId row) {
  const BufferId off = layout_.data.offsets[set.index()];
  return b_.sub(b_.load(off, {b_.add(row, b_.i(1))}), b_.load(off, {row}));
}

ExprId Terms::axis_length(const std::vector<model::PlateId>& plates, const std::vector<ExprId>& lead) {
  const model::PlateId set = m_[plates[lead.size()]].set;
  if (!m_[set].parent || lead.empty()) return b_.extent(layout_.size[set.index()]);
  return row_length(set, address(plates, lead).back());
}

void Terms::for_elements(const std::vector<model::PlateId>& plates,
                         const std::function<void(const std::vector<ExprId>&)>& body, std::vector<ExprId> lead) {
  const std::function<void()> level = [&] {
    if (lead.size() == plates.size()) {
      body(lead);
      return;
    }
    const ExprId end = axis_length(plates, lead);
    b_.for_range(m_[plates[lead.size()]].name, b_.i(0), end, [&](ExprId i) {
      lead.push_back(i);
      level();
      lead.pop_back();
    });
  };
  level();
}

}  // namespace lehr::loops
