// References are propagated along the means: from an observed variable to one latent summand of its mean, up to a
// constant prior mean or a flat prior, and down to whatever else has a summand that moved.
#include "compiler/evaluate/reference.h"

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/far_columns.h"
#include "compiler/evaluate/forward.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;
using Shift = std::vector<double>;  // one for all, or one a column

struct Summand {
  double sign;
  ExprId expr;
};

void flatten(const Model& m, ExprId e, double sign, std::vector<Summand>& to) {
  if (const auto* b = std::get_if<Binary>(&m[e].node)) {
    if (b->op == BinaryOp::add || b->op == BinaryOp::subtract) {
      flatten(m, b->left, sign, to);
      return flatten(m, b->right, b->op == BinaryOp::add ? sign : -sign, to);
    }
  }
  if (const auto* n = std::get_if<Negate>(&m[e].node)) return flatten(m, n->operand, -sign, to);
  to.push_back({sign, e});
}

/// The variable that an expression is an element of, or null; of `c[d]` for a component, of the vector.
const VariableRef* plain(const Model& m, ExprId e) {
  const auto* c = std::get_if<Component>(&m[e].node);
  return std::get_if<VariableRef>(&m[c ? c->vector : e].node);
}

/// A prior mean that is to be told from a reference.
struct Moved {
  StatementId statement;
  std::size_t which = 0;  // of its distributions, in the order of distributions_of()
  Shift by;
};

class Propagation {
 public:
  Propagation(const Model& m, const BoundData& data) : m_(m), forward_(m, data), of_(m.variables.size()) {}

  /// Tells `v` from `by`, and all that must then be told so. False: the model is none of differences.
  bool move(VariableId v, Shift by) {
    if (!assign(v, std::move(by)) || mentioned_in_potentials()) return false;
    for (bool again = true; again;) {
      again = false;
      moved_.clear();
      for (std::size_t k = 0; k < m_.statements.size(); ++k) {
        const Statement& s = m_.statements[k];
        const std::size_t before = assigned_;
        const std::vector<const Distribution*> all = distributions_of(s);
        for (std::size_t which = 0; which < all.size(); ++which)
          if (!follow(StatementId(k), *all[which], which)) return false;
        // Limits are told from zero.
        if (s.limits.any() && (of_[s.variable.index()] || mentions(roots_of(s)))) return false;
        again = again || assigned_ != before;
      }
    }
    return !mentioned_in_potentials();
  }

  const std::vector<std::optional<Shift>>& of() const { return of_; }
  const std::vector<Moved>& moved() const { return moved_; }

 private:
  bool assign(VariableId v, Shift by) {
    const Variable& var = m_[v];
    if (var.support != math::Support::real && var.support != math::Support::vector) return false;
    if (of_[v.index()]) return *of_[v.index()] == by;
    of_[v.index()] = std::move(by);
    ++assigned_;
    return true;
  }

  bool mentions(const std::vector<ExprId>& roots) const {
    return std::ranges::any_of(nodes_under(m_, roots), [&](ExprId e) {
      const auto* r = std::get_if<VariableRef>(&m_[e].node);
      return r && of_[r->variable.index()];
    });
  }

  bool mentioned_in_potentials() const {
    return std::ranges::any_of(m_.potentials, [&](const Potential& p) { return mentions({p.value}); });
  }

  /// A summand runs along the columns of the statement's variable: the last axis of both is the same index.
  bool aligned(const Statement& s, ExprId e) const {
    const Variable& own = m_[s.variable];
    const VariableRef& r = *plain(m_, e);
    const Variable& v = m_[r.variable];
    if (const auto* c = std::get_if<Component>(&m_[e].node)) return own.event.empty() && c->at == s.bounds.back();
    if (!v.event.empty()) return !own.event.empty();
    if (!own.event.empty() || s.bounds.empty() || r.indices.empty()) return false;
    const auto* last = std::get_if<Index::Shifted>(&r.indices.back().form);
    return last && last->offset == 0 && last->bound == s.bounds.back();
  }

  /// How far a prior mean is from `by`, for the choice of what moves; 0 where it would move itself.
  double misfit(VariableId v, const Shift& by) const {
    const Statement& s = m_[m_[v].statement];
    const Distribution& d = s.start ? *s.start : s.main;
    if (d.family->location.empty()) return 0;
    for (const Parameter& p : d.parameters) {
      if (p.spelling->canonical != d.family->location[0] || p.spelling->convert) continue;
      const auto is_random = [&](ExprId e) {
        const auto* r = std::get_if<VariableRef>(&m_[e].node);
        return r && !m_[r->variable].observed;
      };
      if (std::ranges::any_of(nodes_under(m_, {p.value}), is_random)) return 0;
      const double there = forward_.entry(p.value, forward_.origin());
      return std::isfinite(there) ? std::abs(by[0] - there) : 0;
    }
    return 0;
  }

  /// The summand that takes up `by`, or null: the one whose prior mean is nearest, of equal ones the least numerous.
  const Summand* carrier(const Statement& s, const std::vector<Summand>& summands, const Shift& by) const {
    const Summand* best = nullptr;
    double distance = 0;
    for (const Summand& x : summands) {
      const VariableRef* r = plain(m_, x.expr);
      if (!r || m_[r->variable].observed || of_[r->variable.index()]) continue;
      const math::Support support = m_[r->variable].support;
      const bool real = support == math::Support::real || support == math::Support::vector;
      if (!real || (by.size() > 1 && !aligned(s, x.expr))) continue;
      Shift signed_by = by;
      for (double& b : signed_by)
        b *= x.sign;
      const double d = misfit(r->variable, signed_by);
      const auto n = [&](const Summand& y) { return forward_.elements(plain(m_, y.expr)->variable); };
      if (!best || d < distance || (d == distance && n(x) < n(*best))) {
        best = &x;
        distance = d;
      }
    }
    return best;
  }

  /// One distribution of a statement: false where what moved stands in it as no plain summand of its mean.
  bool follow(StatementId id, const Distribution& d, std::size_t which) {
    const Statement& s = m_[id];
    const std::optional<Shift>& own = of_[s.variable.index()];
    std::vector<Summand> summands;
    std::vector<ExprId> others;
    for (const Parameter& p : d.parameters) {
      const bool location = !d.family->location.empty() && p.spelling->canonical == d.family->location[0];
      if (location && !p.spelling->convert) flatten(m_, p.value, 1, summands);
      else others.push_back(p.value);
    }
    if (mentions(others)) return false;
    if (summands.empty()) return !own || d.family->improper;
    Shift sum{0};
    for (const Summand& x : summands) {
      if (!mentions({x.expr})) continue;
      const VariableRef* r = plain(m_, x.expr);
      if (!r || !of_[r->variable.index()]) return false;
      const Shift& part = *of_[r->variable.index()];
      if (part.size() > 1 && !aligned(s, x.expr)) return false;
      sum.resize(std::max(sum.size(), part.size()), sum[0]);
      for (std::size_t k = 0; k < sum.size(); ++k)
        sum[k] += x.sign * part[part.size() == 1 ? 0 : k];
    }
    const bool still = std::ranges::all_of(sum, [](double x) { return x == 0; });
    if (!own) return still || assign(s.variable, sum);
    Shift rest = *own;
    rest.resize(std::max(rest.size(), sum.size()), rest[0]);
    for (std::size_t k = 0; k < rest.size(); ++k)
      rest[k] -= sum[sum.size() == 1 ? 0 : k];
    if (std::ranges::all_of(rest, [](double x) { return x == 0; })) return true;
    if (const Summand* c = carrier(s, summands, rest)) {
      for (double& x : rest)
        x *= c->sign;
      return assign(plain(m_, c->expr)->variable, std::move(rest));
    }
    const auto is_random = [&](ExprId e) { return std::get_if<VariableRef>(&m_[e].node) != nullptr; };
    for (const Summand& x : summands)
      if (std::ranges::any_of(nodes_under(m_, {x.expr}), is_random)) return false;
    moved_.push_back({id, which, std::move(rest)});
    return true;
  }

  const Model& m_;
  Forward forward_;
  std::vector<std::optional<Shift>> of_;
  std::vector<Moved> moved_;
  std::size_t assigned_ = 0;
};

/// A number near the mean with few digits, so that little is lost where it is added again.
double round_reference(double mean, double sd) {
  if (!(sd > 0)) return mean;
  const double unit = std::exp2(std::floor(std::log2(sd)));
  return std::round(mean / unit) * unit;
}

/// What an observed variable may be told from: one number for all of it, or one a column; the first that does.
std::vector<Shift> candidates(const Model& m, const BoundData& data, VariableId id) {
  const Variable& v = m[id];
  const std::vector<double>& x = data.observed[id.index()].values;
  const std::size_t columns = columns_of(m, data, v.axes, v.event);
  const ColumnMoments each = column_moments(x, columns), all = column_moments(x, 1);
  // Values that are all the same are far from everything else.
  const auto is_far = [&](std::size_t k, double from) { return std::abs(each.mean[k] - from) > kFar * each.sd[k]; };
  Shift by_column(columns, 0.0);
  double widest = 0;
  for (std::size_t k = 0; k < columns; ++k) {
    if (is_far(k, 0)) by_column[k] = round_reference(each.mean[k], each.sd[k]);
    widest = std::max(widest, each.sd[k]);
  }
  if (std::ranges::all_of(by_column, [](double c) { return c == 0; })) return {};
  std::vector<Shift> out;
  const double one = round_reference(all.mean[0], widest);
  bool does = true;
  for (std::size_t k = 0; k < columns; ++k)
    does = does && !is_far(k, one);
  if (does) out.push_back({one});
  if (columns > 1) out.push_back(std::move(by_column));
  return out;
}

/// A prior mean less its reference, as numbers: written as a difference it would be multiplied out, and lost.
ExprId less(AboutReferences& to, const Forward& forward, ExprId e, const Statement& s, const Shift& by) {
  const Model& m = forward.model();
  const Variable& v = m[s.variable];
  Given g{"prior mean of " + v.name,
          v.span,
          v.axes,
          v.event,
          v.event.empty() ? GivenType::real : GivenType::vector,
          {},
          true};
  BoundArray values;
  const std::size_t width = forward.width(s.variable);
  At at = forward.origin();
  forward.each(s.bounds, at, [&] {
    for (std::size_t i = 0; i < width; ++i)
      values.values.push_back(forward.entry(e, at, i));
  });
  add_reference(values.values, by, -1);
  std::vector<Index> indices;
  for (const BoundId b : s.bounds)
    indices.push_back({Index::Shifted{b, 0}, m[m[b].plate].set, v.span});
  std::vector<PlateId> shape;
  for (const PlateId p : v.event)
    shape.push_back(m[p].set);
  to.data.givens.push_back(std::move(values));
  to.model.exprs.push_back(
      {GivenRef{GivenId(to.model.givens.size()), std::move(indices)}, std::move(shape), std::nullopt, m[e].span});
  to.model.givens.push_back(std::move(g));
  return ExprId(to.model.exprs.size() - 1);
}

/// As distributions_of(), to change them.
std::vector<Distribution*> distributions_in(Statement& s) {
  std::vector<Distribution*> out{&s.main};
  if (s.start) out.push_back(&*s.start);
  for (Distribution& other : s.others)
    out.push_back(&other);
  return out;
}

AboutReferences moved_by(const Model& m, const BoundData& data, const Propagation& found) {
  AboutReferences out{m, data, References(m.variables.size())};
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    if (!found.of()[k]) continue;
    out.references[k] = *found.of()[k];
    add_reference(out.data.observed[k].values, out.references[k], -1);
  }
  const Forward forward(m, data);
  for (const Moved& x : found.moved()) {
    Statement& s = out.model.statements[x.statement.index()];
    Distribution& d = *distributions_in(s)[x.which];
    for (Parameter& p : d.parameters)
      if (p.spelling->canonical == d.family->location[0]) p.value = less(out, forward, p.value, s, x.by);
  }
  return out;
}

}  // namespace

const std::vector<double>* reference_of(const References& references, VariableId v) {
  const bool moved = v.index() < references.size() && !references[v.index()].empty();
  return moved ? &references[v.index()] : nullptr;
}

void add_reference(std::span<double> values, const std::vector<double>& reference, double sign) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += sign * reference[i % reference.size()];
}

std::optional<AboutReferences> about_references(const Model& m, const BoundData& data) {
  // Locations of joint variables are told from zero: of the blocks of the guide only means and their precisions move.
  const auto are_a_pair = [&](const std::vector<VariableId>& block) {
    const auto has = [&](math::Support s) {
      return std::ranges::any_of(block, [&](VariableId v) { return m[v].support == s; });
    };
    using math::Support;
    return block.size() == 2 && m[block[0]].axes.size() == m[block[1]].axes.size() &&
           ((has(Support::real) && has(Support::positive)) || (has(Support::vector) && has(Support::spd_matrix)));
  };
  if (!std::ranges::all_of(m.guide.joint, are_a_pair) || !m.joint_priors.empty()) return std::nullopt;
  if (std::ranges::count(data.clamped, true) > 0) return std::nullopt;
  std::optional<Propagation> found;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const bool real = v.support == math::Support::real || v.support == math::Support::vector;
    if (!v.observed || v.auxiliary || !real || (found && found->of()[k])) continue;
    for (Shift& by : candidates(m, data, VariableId(k))) {
      Propagation tried = found ? *found : Propagation(m, data);
      if (!tried.move(VariableId(k), std::move(by))) continue;
      found.emplace(std::move(tried));
      break;
    }
  }
  if (!found) return std::nullopt;
  return moved_by(m, data, *found);
}

}  // namespace lehr
