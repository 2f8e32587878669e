// Translates index expressions, coefficients, atoms, guards and terms of the density to formulas.
//
// The order of summands and factors is chosen for people: what is positive first, numbers last in a sum and first in a
// product, indicators before other statistics. Statistics of joint variables are shown as products of their members.
#include "compiler/conditionals/formula_writer.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/support/overloaded.h"

namespace lehr::conditionals {

using density::CoefId;
using density::IndexId;
using density::IndexVarId;
using math::Stat;

namespace {

/// Returns f^2; for a reciprocal 1/x it is 1/x^2.
Formula squared(Formula f) {
  const auto* a = std::get_if<FormulaApply>(&f.form);
  if (!a || a->function != math::Function::reciprocal) return {FormulaSquare{{std::move(f)}}};
  return {FormulaApply{math::Function::reciprocal, {{FormulaSquare{a->argument}}}}};
}

/// Returns true if `l` comes before `r` among positive summands: names before numbers, in alphabetical order.
bool sorts_before(const Formula& l, const Formula& r) {
  const std::string a = text(l), b = text(r);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digit(a[0]) != digit(b[0])) return digit(b[0]);
  return a < b;
}

}  // namespace

Formulas FormulaWriter::indices(const std::vector<IndexId>& list) {
  Formulas out;
  for (IndexId i : list)
    out.push_back(index(i));
  return out;
}

Formulas FormulaWriter::elements(const std::vector<model::PlateId>& plates, const std::vector<IndexId>& list) {
  Formulas out = indices(list);
  for (std::size_t k = 0; k < std::min(out.size(), plates.size()); ++k)
    add_first_number(plates[k], list[k], out[k]);
  return out;
}

void FormulaWriter::add_first_number(model::PlateId plate, IndexId i, Formula& to) {
  if (std::holds_alternative<density::IndexConstant>(a_[i]))
    std::get<FormulaNumber>(to.form).value += static_cast<double>(m_[m_[plate].set].from);
}

std::optional<model::PlateId> FormulaWriter::plate_of(IndexId i) const {
  if (const auto* b = std::get_if<density::IndexVarRef>(&a_[i])) return a_[b->bound].plate;
  const auto* l = std::get_if<density::IndexLookup>(&a_[i]);
  return l ? std::visit([&](auto id) { return m_[id].value_plate; }, l->source) : std::nullopt;
}

Formula FormulaWriter::source(const density::DataSource& s, const std::vector<IndexId>& list) {
  const std::vector<model::PlateId>& axes =
      std::visit([&](auto id) -> const std::vector<model::PlateId>& { return m_[id].axes; }, s);
  FormulaSymbol out{std::visit([&](auto id) { return m_[id].name; }, s), {}, {}};
  const Formulas all = elements(axes, list);
  for (std::size_t k = 0; k < all.size(); ++k)
    (k < axes.size() ? out.axes : out.event).push_back(all[k]);
  return {std::move(out)};
}

Formula FormulaWriter::extent(model::PlateId plate, std::optional<IndexId> row) {
  FormulaSize out{m_[plate].name, {}};
  if (row) out.row.push_back(index(*row));
  return {std::move(out)};
}

Formula FormulaWriter::index(IndexId i) {
  return std::visit(Overloaded{[&](const density::IndexVarRef& b) {
                                 FormulaIndex out = bound(b.bound);
                                 out.offset = b.offset;
                                 return Formula{std::move(out)};
                               },
                               [](const density::IndexConstant& c) { return Formula{FormulaNumber{double(c.value)}}; },
                               [&](const density::IndexLookup& l) { return source(l.source, l.indices); },
                               [&](const density::IndexCoordinate& c) { return Formula{entry({}, c)}; }},
                    a_[i]);
}

FormulaSymbol FormulaWriter::entry(const Formulas& axes, const density::IndexCoordinate& c) {
  const model::Member& member = m_[c.joint].auxiliary->members[c.member];
  const model::Variable& v = m_[member.variable];
  FormulaSymbol out{v.name, {}, {}};
  if (!axes.empty() || member.shared.empty()) out.axes.resize(v.axes.size());
  for (std::size_t k = 0; k < member.shared.size() && !axes.empty(); ++k)
    out.axes[member.shared[k]] = axes[k];
  for (std::size_t k = 0; k < c.indices.size(); ++k) {
    if (k >= member.own.size()) out.event.push_back(index(c.indices[k]));
    else if (out.axes.empty()) out.event.push_back(index(c.indices[k]));
    else out.axes[member.own[k]] = index(c.indices[k]);
  }
  return out;
}

Formula FormulaWriter::coef(CoefId c) {
  const density::CoefNode node = a_[c];
  return std::visit(
      Overloaded{[](const density::CoefNumber& n) { return Formula{FormulaNumber{n.value}}; },
                 [&](const density::CoefConstant& k) {
                   return Formula{FormulaSymbol{m_[k.constant].name, {}, {}}};
                 },
                 [&](const density::CoefData& d) { return source(d.source, d.indices); },
                 [&](const density::CoefArray& d) {
                   return Formula{FormulaSymbol{"array" + std::to_string(d.array.value), indices(d.indices), {}}};
                 },
                 [&](const density::CoefExtent& e) { return extent(e.plate, e.row); },
                 [&](const density::CoefIndexValue& v) { return index(v.index); },
                 [&](const density::CoefAdd& s) {
                   // Positive parts come first, literal numbers last: `eta - 1`, but `1 - x` if nothing else is
                   // positive.
                   std::array<Formulas, 4> ranks;
                   for (CoefId p : s.parts) {
                     Formula f = coef(p);
                     Formula rest = f;
                     const bool minus = take_minus(rest);
                     ranks[a_.literal(p) ? (minus ? 3 : 2) : minus ? 1 : 0].push_back(std::move(f));
                   }
                   if (ranks[0].empty()) std::swap(ranks[0], ranks[2]);
                   std::stable_sort(ranks[0].begin(), ranks[0].end(), sorts_before);
                   FormulaAdd out;
                   for (const Formulas& r : ranks)
                     out.parts.insert(out.parts.end(), r.begin(), r.end());
                   return Formula{std::move(out)};
                 },
                 [&](const density::CoefMultiply& p) {
                   Formulas factors;
                   for (std::size_t k = 0; k < p.parts.size(); ++k) {
                     const bool twice = k + 1 < p.parts.size() && p.parts[k] == p.parts[k + 1];
                     factors.push_back(twice ? squared(coef(p.parts[k])) : coef(p.parts[k]));
                     if (twice) ++k;
                   }
                   // Numbers and sizes come first.
                   std::stable_partition(factors.begin(), factors.end(), [](const Formula& f) {
                     return std::holds_alternative<FormulaNumber>(f.form) ||
                            std::holds_alternative<FormulaSize>(f.form);
                   });
                   return product(std::move(factors));
                 },
                 [&](const density::CoefApply& f) {
                   return Formula{FormulaApply{f.function, {coef(f.argument)}}};
                 },
                 [&](const density::CoefSum& s) {
                   const density::IndexVar b = a_[s.bound];
                   if (!a_.mentions(s.body, s.bound)) return product({extent(b.plate, b.parent), coef(s.body)});
                   const std::string name = bound(s.bound).bound;
                   return Formula{FormulaSum{{name}, {}, {coef(s.body)}}};
                 },
                 [&](const density::CoefInverse& x) {
                   Formulas at{index(x.row), index(x.column)};
                   // The matrix is symmetric, and the order of its indices an accident of ids.
                   if (text(at[1]) < text(at[0])) std::swap(at[0], at[1]);
                   return Formula{FormulaInverse{{source(x.matrix, x.lead)}, std::move(at)}};
                 },
                 [&](const density::CoefLogDet& x) {
                   return Formula{FormulaApply{math::Function::logdet, {source(x.matrix, x.lead)}}};
                 }},
      node);
}

Formula FormulaWriter::switched(const density::Atom& x) {
  const std::vector<model::Member>& members = m_[x.variable].auxiliary->members;
  const auto member = [&](std::size_t k) {
    FormulaSymbol out{m_[members[k].variable].name, Formulas(x.axes.size()), {}};
    for (std::size_t axis = 0; axis < x.axes.size(); ++axis)
      out.axes[members[k].shared[axis]] = index(x.axes[axis]);
    return Formula{std::move(out)};
  };
  Formula chosen{FormulaRelation{{member(0), index(x.event[0])}, "="}};
  if (x.stat == Stat::indicator) return chosen;
  Formula number = x.stat == Stat::switched ? member(1) : Formula{FormulaSquare{{member(1)}}};
  return {FormulaMultiply{{std::move(chosen), std::move(number)}}};
}

Formula FormulaWriter::weighted(const density::Atom& x, const FormulaSymbol& precision, const Formulas& event) {
  const model::VariableId mean = *c_[c_.block_of[x.variable.index()]].mean;
  return {FormulaQuadratic{
      {{precision}}, {{FormulaSymbol{m_[mean].name, precision.axes, {}}}}, event, x.stat == Stat::weighted_square}};
}

Formula FormulaWriter::scaled(const density::Atom& x) {
  const model::Member& precision = m_[x.variable].auxiliary->members.back();
  FormulaSymbol scale{m_[precision.variable].name, Formulas(x.axes.size()), {}};
  for (std::size_t axis = 0; axis < x.axes.size(); ++axis)
    scale.axes[precision.shared[axis]] = index(x.axes[axis]);
  if (x.stat == Stat::log) return {FormulaApply{math::Function::log, {{scale}}}};
  Formulas factors{{scale}}, entries;
  const FormulaSymbol v{m_[x.variable].name, elements(m_[x.variable].axes, x.axes), {}};
  for (const IndexId i : x.event) {
    const auto* c = std::get_if<density::IndexCoordinate>(&a_[i]);
    entries.push_back(c ? Formula{entry(v.axes, *c)} : Formula{FormulaSymbol{v.name, v.axes, {index(i)}}});
  }
  if (entries.size() == 2 && text(entries[1]) < text(entries[0])) std::swap(entries[0], entries[1]);
  if (entries.size() == 2 && x.event[0] == x.event[1]) factors.push_back({FormulaSquare{{entries[0]}}});
  else factors.insert(factors.end(), entries.begin(), entries.end());
  return factors.size() == 1 ? factors[0] : Formula{FormulaMultiply{std::move(factors)}};
}

namespace {

/// Returns log(1 - exp(-x)).
Formula log_of_gap(Formula x) {
  Formula minus{FormulaMultiply{{Formula{FormulaNumber{-1}}, std::move(x)}}};
  return {FormulaApply{math::Function::log1m, {Formula{FormulaApply{math::Function::exp, {std::move(minus)}}}}}};
}

/// Returns the function that is the slope of the tangent at a point: digamma for log Gamma.
math::Function tangent_of(const model::Variable& point) {
  return point.auxiliary->bound == &math::log_gamma_bound() ? math::Function::digamma : math::Function::slope;
}

/// Returns true if exchanging the two event indices of the statistic gives the same number.
bool is_symmetric(math::Stat s) {
  return s == math::Stat::entry || s == math::Stat::inverse_entry || s == math::Stat::comp2;
}

/// Returns the function that a formula writes for a statistic of a number between limits.
math::Function limit_of(math::Stat s) {
  return s == math::Stat::above   ? math::Function::above
         : s == math::Stat::below ? math::Function::below
         : s == math::Stat::lower ? math::Function::lower
                                  : math::Function::upper;
}

}  // namespace

Formulas FormulaWriter::event_of(const density::Atom& x) {
  const auto& value = m_[x.variable].value_plate;
  return elements(value ? std::vector{*value} : m_[x.variable].event, x.event);
}

Formula FormulaWriter::atom(const density::Atom& x) {
  const FormulaSymbol v{m_[x.variable].name, elements(m_[x.variable].axes, x.axes), {}};
  Formulas event = event_of(x);
  // The indices of a symmetric statistic are sorted by their text.
  std::vector<std::size_t> order{0, 1};
  if (is_symmetric(x.stat) && text(event[1]) < text(event[0])) {
    std::swap(event[0], event[1]);
    std::swap(order[0], order[1]);
  }
  const auto with_event = [&](const Formula& e) { return Formula{FormulaSymbol{v.name, v.axes, {e}}}; };
  const auto entry_or = [&](std::size_t k) {
    const auto* c = std::get_if<density::IndexCoordinate>(&a_[x.event[order[k]]]);
    return c ? Formula{entry(v.axes, *c)} : with_event(event[k]);
  };
  const auto statistic = [&]() -> Formula {
    if (m_[x.variable].support == math::Support::scaled) return scaled(x);
    switch (x.stat) {
      case Stat::value:
        return {v};
      case Stat::square:
        return {FormulaSquare{{{v}}}};
      case Stat::log:
        return {FormulaApply{math::Function::log, {{v}}}};
      case Stat::inverse:
        return {FormulaApply{math::Function::reciprocal, {{v}}}};
      case Stat::complement:
        return {FormulaAdd{{Formula{FormulaNumber{1}}, Formula{FormulaMultiply{{Formula{FormulaNumber{-1}}, {v}}}}}}};
      case Stat::log1m:
        return {FormulaApply{math::Function::log1m, {{v}}}};
      case Stat::inverse_square:
        return {FormulaApply{math::Function::reciprocal, {{FormulaSquare{{{v}}}}}}};
      case Stat::log_gamma:
        return {FormulaApply{math::Function::lgamma, {{v}}}};
      case Stat::value_log:
        return {FormulaApply{math::Function::xlogx, {{v}}}};
      case Stat::log_gap:
        return log_of_gap({v});
      case Stat::tangent:
        return {FormulaApply{tangent_of(m_[x.variable]), {{v}}}};
      case Stat::indicator:
        if (m_[x.variable].support == math::Support::switched) return switched(x);
        return {FormulaRelation{{{v}, event[0]}, "="}};
      case Stat::log_comp:
        return {FormulaApply{math::Function::log, {with_event(event[0])}}};
      case Stat::comp:
        return entry_or(0);
      case Stat::comp2:
        if (x.event[0] == x.event[1]) return {FormulaSquare{{entry_or(0)}}};
        return {FormulaMultiply{{entry_or(0), entry_or(1)}}};
      case Stat::entry:
        return {FormulaSymbol{v.name, v.axes, event}};
      case Stat::inverse_entry:
        return {FormulaInverse{{{v}}, event}};
      case Stat::logdet:
        return {FormulaApply{math::Function::logdet, {{v}}}};
      case Stat::curvature:
        return {FormulaApply{math::Function::curvature, {{v}}}};
      case Stat::offset:
        return {FormulaApply{math::Function::offset, {{v}}}};
      case Stat::above:
      case Stat::below:
      case Stat::lower:
      case Stat::upper:
        return {FormulaApply{limit_of(x.stat), {{v}}}};
      case Stat::slope:
        return {FormulaApply{math::Function::slope, {with_event(event[0])}}};
      case Stat::switched:
      case Stat::switched_square:
        return switched(x);
      case Stat::weighted2:
        return scaled(x);
      case Stat::weighted:
      case Stat::weighted_square:
        return weighted(x, v, event);
    }
    return {v};
  };
  return mode_ == FormulaMode::conditional ? statistic() : Formula{FormulaExpectation{{statistic()}}};
}

Formula FormulaWriter::guard(const density::Guard& g) {
  if (g.present) return {FormulaPresent{{source(*g.present, g.element)}}};
  const char* sign[] = {"=", "!=", "<", ">="};
  const bool symmetric = g.relation == density::Relation::equal || g.relation == density::Relation::not_equal;
  IndexId left = g.left, right = g.right;
  // A constant stands on the right side.
  if (symmetric && std::holds_alternative<density::IndexConstant>(a_[left])) std::swap(left, right);
  Formulas sides{index(left), index(right)};
  if (const auto plate = plate_of(left)) add_first_number(*plate, right, sides[1]);
  return {FormulaRelation{std::move(sides), sign[static_cast<int>(g.relation)]}};
}

Formula FormulaWriter::term(const density::Term& t) { return term_with_factors(t, {}); }

Formula FormulaWriter::term_with_factors(const density::Term& t, Formulas extra) {
  // The names of the term's own index variables are free again when this copy is gone.
  FormulaWriter inner(*this);
  FormulaSum sum;
  for (IndexVarId b : t.index_vars)
    sum.index_vars.push_back(inner.bound(b).bound);
  Formulas outer, factors;
  for (const density::Multiplicity& x : t.multiplicities)
    factors.push_back(inner.coef(x.count));
  // Numbers and sizes stand before the sum, all other factors inside it.
  CoefId before = a_.number(1), rest = a_.number(1);
  for (CoefId c : a_.factors(t.coef)) {
    const bool own =
        std::any_of(t.index_vars.begin(), t.index_vars.end(), [&](IndexVarId b) { return a_.mentions(c, b); });
    const bool size = std::holds_alternative<density::CoefExtent>(a_[c]);
    CoefId& side = a_.literal(c) || (size && !own) ? before : rest;
    side = a_.multiply(side, c);
  }
  outer.push_back(inner.coef(before));
  if (!a_.literal(rest)) factors.push_back(inner.coef(rest));
  std::map<BlockId, std::size_t> of_chain;
  // Indicators come before other statistics.
  for (bool indicators : {true, false}) {
    for (const density::Atom& x : t.atoms) {
      if ((x.stat == Stat::indicator) != indicators) continue;
      Formula f = inner.atom(x);
      auto* e = std::get_if<FormulaExpectation>(&f.form);
      const BlockId block = c_.block_of[x.variable.index()];
      if (!e || !c_[block].chain) {
        factors.push_back(std::move(f));
        continue;
      }
      // Elements of one chain are dependent under q, so all of them stand in one expectation.
      if (!of_chain.contains(block)) {
        of_chain[block] = factors.size();
        factors.push_back(std::move(f));
      } else {
        Formulas& body = std::get<FormulaExpectation>(factors[of_chain[block]].form).body;
        body.insert(body.end(), e->body.begin(), e->body.end());
      }
    }
  }
  for (const density::Guard& g : t.guards) {
    // A guard on the sum's own index variables limits the sum. A solved index, [w[doc, token] = term], is an indicator
    // and stands as a factor.
    const auto inside = [&](IndexId i) {
      return std::any_of(t.index_vars.begin(), t.index_vars.end(), [&](IndexVarId b) { return a_.mentions(i, b); });
    };
    const bool limits = g.present ? std::any_of(g.element.begin(), g.element.end(), inside)
                        : g.relation == density::Relation::equal ? inside(g.left) && inside(g.right)
                                                                 : inside(g.left) || inside(g.right);
    (limits ? sum.conditions : factors).push_back(inner.guard(g));
  }
  for (Formula& f : extra)
    factors.push_back(std::move(f));
  Formula body = product(std::move(factors));
  if (sum.index_vars.empty()) {
    outer.push_back(std::move(body));
  } else {
    sum.body.push_back(std::move(body));
    outer.push_back({std::move(sum)});
  }
  return product(std::move(outer));
}

Formula FormulaWriter::summand(const Summand& s) {
  if (!s.in_range) return term(s.term);
  const auto& moved = std::get<density::IndexVarRef>(a_[*s.in_range]);
  const density::IndexVar& b = a_[moved.bound];
  // The condition t+1 < size(t), with the first element's number added to the size.
  Formula end = extent(b.plate, b.parent);
  if (const std::int64_t from = m_[m_[b.plate].set].from)
    end = {FormulaAdd{{std::move(end), Formula{FormulaNumber{static_cast<double>(from)}}}}};
  return term_with_factors(s.term, {{FormulaRelation{{index(*s.in_range), std::move(end)}, "<"}}});
}

}  // namespace lehr::conditionals
