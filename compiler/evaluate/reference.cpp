// Each reference is propagated along the means of a model. It starts at an ill-scaled observed variable. One
// latent summand of its mean takes it over, up to a constant prior mean (which moves) or a flat prior. Every variable
// whose mean contains a summand with a reference gets one, too.
//
// Example: x[n] ~ Normal(a + b[g[n]], tau) with x near 1e8. Either `a` or b takes the reference 1e8: the one whose
// prior mean is nearest to it.
#include "compiler/evaluate/reference.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/evaluate/forward.h"
#include "compiler/evaluate/ill_scaled_columns.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;
/// A reference: one number for all columns, or one for each.
using Shift = std::vector<double>;

/// A term of a mean, with its sign.
struct Summand {
  double sign;
  ExprId expr;
};

/// Splits an expression into its summands: a - (b - c) gives +a, -b, +c.
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

/// Returns the variable of which an expression is an element (or of whose vector it is an entry); null for other
/// expressions.
const VariableRef* plain(const Model& m, ExprId e) {
  const auto* c = std::get_if<Component>(&m[e].node);
  return std::get_if<VariableRef>(&m[c ? c->vector : e].node);
}

/// A constant prior mean that must be restated as its distance from a reference.
struct RestatedPrior {
  StatementId statement;
  std::size_t distribution_index = 0;  // position among the statement's distributions, as in distributions_of()
  Shift by;
};

/// Assigns references to variables until the model is consistent, or finds that it is impossible.
class Propagation {
 public:
  Propagation(const Model& m, const BoundData& data) : m_(m), forward_(m, data), of_(m.variables.size()) {}

  /// Gives `v` the reference `by`, and every other variable what follows from it. Returns false if the model does not
  /// depend on differences alone; the object is then unusable.
  bool move(VariableId v, Shift by) {
    if (!assign(v, std::move(by)) || mentioned_in_potentials()) return false;
    for (bool again = true; again;) {
      again = false;
      moved_.clear();
      for (std::size_t k = 0; k < m_.statements.size(); ++k) {
        const Statement& s = m_.statements[k];
        const std::size_t before = assigned_;
        const std::vector<const Distribution*> all = distributions_of(s);
        for (std::size_t distribution_index = 0; distribution_index < all.size(); ++distribution_index)
          if (!follow(StatementId(k), *all[distribution_index], distribution_index)) return false;
        // Limits are absolute numbers.
        if (s.limits.any() && (of_[s.variable.index()] || mentions(roots_of(s)))) return false;
        again = again || assigned_ != before;
      }
    }
    return !mentioned_in_potentials();
  }

  /// Returns the references, by variable.
  const std::vector<std::optional<Shift>>& of() const { return of_; }
  /// Returns the prior means to restate.
  const std::vector<RestatedPrior>& moved() const { return moved_; }

 private:
  /// Gives a variable a reference. False if it has a different one, or is not a real number or vector.
  bool assign(VariableId v, Shift by) {
    const Variable& var = m_[v];
    if (var.support != math::Support::real && var.support != math::Support::vector) return false;
    if (of_[v.index()]) return *of_[v.index()] == by;
    of_[v.index()] = std::move(by);
    ++assigned_;
    return true;
  }

  /// Returns true if the expressions contain a variable with a reference.
  bool mentions(const std::vector<ExprId>& roots) const {
    return std::ranges::any_of(references_under(m_, roots),
                               [&](const VariableRef* r) { return of_[r->variable.index()].has_value(); });
  }

  /// Returns true if a potential contains a variable with a reference.
  bool mentioned_in_potentials() const {
    return std::ranges::any_of(m_.potentials, [&](const Potential& p) { return mentions({p.value}); });
  }

  /// Returns true if a summand runs along the columns of the statement's variable: the last axis of both is the same
  /// index variable. Only then may references differ between columns.
  bool aligned(const Statement& s, ExprId e) const {
    const Variable& own = m_[s.variable];
    const VariableRef& r = *plain(m_, e);
    const Variable& v = m_[r.variable];
    if (const auto* c = std::get_if<Component>(&m_[e].node)) return own.event.empty() && c->at == s.index_vars.back();
    if (!v.event.empty()) return !own.event.empty();
    if (!own.event.empty() || s.index_vars.empty() || r.indices.empty()) return false;
    const auto* last = std::get_if<Index::Shifted>(&r.indices.back().form);
    return last && last->offset == 0 && last->bound == s.index_vars.back();
  }

  /// Returns how far the prior mean of `v` is from `by`, to choose the summand that takes a reference. It is 0 if the
  /// prior mean is not constant, because it then moves as well.
  double prior_mean_distance(VariableId v, const Shift& by) const {
    const Statement& s = m_[m_[v].statement];
    const Distribution& d = s.start ? *s.start : s.main;
    if (d.family->location.empty()) return 0;
    for (const Parameter& p : d.parameters) {
      if (p.spelling->canonical != d.family->location[0] || p.spelling->convert) continue;
      const auto is_random = [&](const VariableRef* r) { return !m_[r->variable].observed; };
      if (std::ranges::any_of(references_under(m_, {p.value}), is_random)) return 0;
      const double at_origin = forward_.entry(p.value, forward_.origin());
      return std::isfinite(at_origin) ? std::abs(by[0] - at_origin) : 0;
    }
    return 0;
  }

  /// Returns the summand that takes the reference `by`, or null: the one whose prior mean is nearest; among equals, the
  /// one with the fewest elements.
  const Summand* summand_for_offset(const Statement& s, const std::vector<Summand>& summands, const Shift& by) const {
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
      const double d = prior_mean_distance(r->variable, signed_by);
      const auto n = [&](const Summand& y) { return forward_.elements(plain(m_, y.expr)->variable); };
      if (!best || d < distance || (d == distance && n(x) < n(*best))) {
        best = &x;
        distance = d;
      }
    }
    return best;
  }

  /// Makes one distribution of a statement consistent: the reference of its variable must be the sum of those of its
  /// summands. Returns false if a variable with a reference occurs other than as a plain summand of the mean.
  bool follow(StatementId id, const Distribution& d, std::size_t distribution_index) {
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
    if (const Summand* c = summand_for_offset(s, summands, rest)) {
      for (double& x : rest)
        x *= c->sign;
      return assign(plain(m_, c->expr)->variable, std::move(rest));
    }
    for (const Summand& x : summands)
      if (!references_under(m_, {x.expr}).empty()) return false;
    moved_.push_back({id, distribution_index, std::move(rest)});
    return true;
  }

  const Model& m_;
  ModelEvaluator forward_;
  std::vector<std::optional<Shift>> of_;
  std::vector<RestatedPrior> moved_;
  std::size_t assigned_ = 0;
};

/// Rounds a mean to a number with few digits, so that adding it back loses little.
double round_reference(double mean, double sd) {
  if (!(sd > 0)) return mean;
  const double unit = std::exp2(std::floor(std::log2(sd)));
  return std::round(mean / unit) * unit;
}

/// Returns the references that would suit an observed variable, in order of preference: one number for all columns, or
/// one for each.
std::vector<Shift> candidates(const Model& m, const BoundData& data, VariableId id) {
  const Variable& v = m[id];
  const std::vector<double>& x = data.observed[id.index()].values;
  const std::size_t columns = data_columns(m, data, v.axes, v.event);
  const ColumnMoments each = column_moments(x, columns), all = column_moments(x, 1);
  // A constant column (standard deviation 0) is far from every other number.
  const auto is_far = [&](std::size_t k, double from) {
    return std::abs(each.mean[k] - from) > kIllScaledRatio * each.sd[k];
  };
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

/// Adds to the model an input with the values of a prior mean less its reference, and returns the expression that reads
/// it. As a symbolic difference it would be expanded, and its digits lost.
ExprId less(CentredModel& to, const ModelEvaluator& forward, ExprId e, const Statement& s, const Shift& by) {
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
  IndexValues at = forward.origin();
  forward.each(s.index_vars, at, [&] {
    for (std::size_t i = 0; i < width; ++i)
      values.values.push_back(forward.entry(e, at, i));
  });
  add_centring_offset(values.values, by, -1);
  std::vector<Index> indices;
  for (const IndexVarId b : s.index_vars)
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

/// Returns the same as distributions_of(), for changing them.
std::vector<Distribution*> distributions_in(Statement& s) {
  std::vector<Distribution*> out{&s.main};
  if (s.start) out.push_back(&*s.start);
  for (Distribution& other : s.others)
    out.push_back(&other);
  return out;
}

/// The arrays of the posterior of earlier data that is the prior of a joint Normal factor (JointPrior).
struct NormalPrior {
  std::vector<double>* linear;     // natural parameters of x, by element and coordinate
  std::vector<double>* quadratic;  // those of products of two coordinates
  std::vector<double>* constant;   // minus the log normaliser, by element
};

/// Returns the arrays; nullopt if the factor is no Normal one.
std::optional<NormalPrior> normal_prior(const JointPrior& prior, BoundData& data) {
  NormalPrior out{nullptr, nullptr, &data.givens[prior.constant.index()].values};
  for (const auto& [stat, given] : prior.naturals) {
    if (stat == math::Stat::comp) out.linear = &data.givens[given.index()].values;
    if (stat == math::Stat::comp2) out.quadratic = &data.givens[given.index()].values;
  }
  const bool normal = prior.naturals.size() == 2 && out.linear && out.quadratic && !out.linear->empty();
  return normal ? std::optional(out) : std::nullopt;
}

/// Restates a joint Normal prior of numbers x as that of x - c, with c by coordinate. Returns false if it lacks the
/// digits: its natural parameters are those of distances from 0.
bool restate(const NormalPrior& prior, const Eigen::VectorXd& c) {
  const Eigen::Index size = c.size();
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon(), kMostLost = 1e-4;
  for (std::size_t e = 0; e < prior.constant->size(); ++e) {
    const auto at = static_cast<Eigen::Index>(e);
    Eigen::Map<Eigen::VectorXd> h(prior.linear->data() + at * size, size);
    const Eigen::MatrixXd p =
        -2 * Eigen::Map<const Eigen::MatrixXd>(prior.quadratic->data() + at * size * size, size, size);
    const Eigen::LLT<Eigen::MatrixXd> root(p);
    if (root.info() != Eigen::Success) return false;
    const Eigen::VectorXd lost = kEpsilon * (h.cwiseAbs() + p.cwiseAbs() * c.cwiseAbs());
    const Eigen::MatrixXd covariance = root.solve(Eigen::MatrixXd::Identity(size, size));
    const Eigen::ArrayXd sd = covariance.diagonal().array().sqrt();
    if (!((covariance.cwiseAbs() * lost).array() < kMostLost * sd).all()) return false;
    h -= p * c;
    const double half_log = Eigen::MatrixXd(root.matrixL()).diagonal().array().log().sum();
    (*prior.constant)[e] =
        half_log - 0.5 * h.dot(root.solve(h)) - 0.5 * static_cast<double>(size) * std::log(2 * std::numbers::pi);
  }
  return true;
}

/// Restates the joint priors of `out` by its references. Returns false if that is impossible: a prior is not Normal, a
/// member has a reference for each column, or digits are lost.
bool restate_joint_priors(CentredModel& out, const ModelEvaluator& forward) {
  for (const JointPrior& joint : out.model.joint_priors) {
    const std::vector<VariableId>& members = out.model.guide.joint[joint.guide].members;
    if (std::ranges::all_of(members, [&](VariableId v) { return out.references[v.index()].empty(); })) continue;
    const std::optional<NormalPrior> prior = normal_prior(joint, out.data);
    if (!prior) return false;
    const std::size_t elements = prior->constant->size(),
                      size = prior->linear->size() / std::max<std::size_t>(1, elements);
    std::vector<double> c;
    for (const VariableId v : members) {
      const Shift& by = out.references[v.index()];
      if (by.size() > 1 || elements == 0) return false;
      c.insert(c.end(), forward.elements(v) * forward.width(v) / elements, by.empty() ? 0 : by[0]);
    }
    if (c.size() != size || prior->quadratic->size() != elements * size * size) return false;
    if (!restate(*prior, Eigen::Map<const Eigen::VectorXd>(c.data(), std::ssize(c)))) return false;
  }
  return true;
}

/// Restates model and data by the references of `propagation`; nullopt if priors of joint factors cannot be restated.
std::optional<CentredModel> moved_by(const Model& m, const BoundData& data, const Propagation& propagation) {
  CentredModel out{m, data, CentringOffsets(m.variables.size())};
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    if (!propagation.of()[k]) continue;
    out.references[k] = *propagation.of()[k];
    add_centring_offset(out.data.observed[k].values, out.references[k], -1);
  }
  const ModelEvaluator forward(m, data);
  for (const RestatedPrior& x : propagation.moved()) {
    Statement& s = out.model.statements[x.statement.index()];
    Distribution& d = *distributions_in(s)[x.distribution_index];
    for (Parameter& p : d.parameters)
      if (p.spelling->canonical == d.family->location[0]) p.value = less(out, forward, p.value, s, x.by);
  }
  if (!restate_joint_priors(out, forward)) return std::nullopt;
  return out;
}

}  // namespace

const std::vector<double>* centring_offset_of(const CentringOffsets& references, VariableId v) {
  const bool moved = v.index() < references.size() && !references[v.index()].empty();
  return moved ? &references[v.index()] : nullptr;
}

void add_centring_offset(std::span<double> values, const std::vector<double>& reference, double sign) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += sign * reference[i % reference.size()];
}

std::optional<CentredModel> centre_model(const Model& m, const BoundData& data) {
  // Other factors than Normal ones, and of a mean with its precision, store locations as distances from zero.
  const auto may_move = [&](const model::JointGuide& joint) {
    const std::vector<VariableId>& block = joint.members;
    using math::Support;
    const auto has = [&](Support s) {
      return std::ranges::any_of(block, [&](VariableId v) { return m[v].support == s; });
    };
    const auto is_normal = [&](VariableId v) {
      return m[v].support == Support::real || m[v].support == Support::vector;
    };
    if (std::ranges::all_of(block, is_normal)) return true;
    return block.size() == 2 && m[block[0]].axes.size() == m[block[1]].axes.size() &&
           ((has(Support::real) && has(Support::positive)) || (has(Support::vector) && has(Support::spd_matrix)));
  };
  if (!std::ranges::all_of(m.guide.joint, may_move)) return std::nullopt;
  if (std::ranges::count(data.clamped, true) > 0) return std::nullopt;
  std::optional<Propagation> accepted;
  for (std::size_t k = 0; k < m.variables.size(); ++k) {
    const Variable& v = m.variables[k];
    const bool real = v.support == math::Support::real || v.support == math::Support::vector;
    if (!v.observed || v.auxiliary || !real || (accepted && accepted->of()[k])) continue;
    for (Shift& by : candidates(m, data, VariableId(k))) {
      Propagation tried = accepted ? *accepted : Propagation(m, data);
      if (!tried.move(VariableId(k), std::move(by))) continue;
      accepted.emplace(std::move(tried));
      break;
    }
  }
  if (!accepted) return std::nullopt;
  return moved_by(m, data, *accepted);
}

}  // namespace lehr
