#include "compiler/fitting/number_chains.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "compiler/fitting/symbolic.h"

namespace lehr {
namespace {

using namespace model;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// x = map * (states of the step before, states of this step) + offset + noise of this covariance.
struct Linear {
  Matrix map, covariance;
  Vector offset;
};

/// Of a step, given what was observed up to there: the numbers of all chains, one chain after another.
struct State {
  Vector mean;
  Matrix covariance;
  std::size_t sequence = 0;
  bool has_next = false;
};

/// The steps that something depends on.
using Steps = std::set<std::size_t>;

class Filter {
 public:
  Filter(const Forward& forward, const std::vector<VariableId>& chains)
      : forward_(forward), symbolic_(forward), chains_(chains) {
    for (const VariableId c : chains_) {
      first_.push_back(width_);
      width_ += static_cast<Eigen::Index>(forward.width(c));
    }
  }

  std::optional<std::vector<SequenceDensity>> run(const std::vector<Observation>& observations) {
    std::map<std::size_t, std::vector<Linear>> seen;
    std::map<std::size_t, std::vector<Vector>> values;
    for (const Observation& o : observations) {
      const std::span<const double> x = forward_.values(o.element);
      const auto n = static_cast<Eigen::Index>(x.size());
      const Statement& s = forward_.model()[o.statement];
      Steps of = steps(s, o.element);
      if (of.empty()) of = lies_at(o.element);
      const std::optional<Linear> l = of.size() == 1 ? linear(s, o.element, *of.begin()) : std::nullopt;
      if (!l || o.copies != 1) return std::nullopt;
      seen[*of.begin()].push_back({l->map.rightCols(width_), l->covariance, l->offset});
      values[*of.begin()].push_back(Eigen::Map<const Vector>(x.data(), n));
    }
    std::vector<SequenceDensity> out;
    std::vector<State> states;
    for (std::size_t e = 0; e < forward_.elements(chains_[0]); ++e) {
      std::optional<State> now = next(e, states, out);
      if (!now) return std::nullopt;
      for (std::size_t k = 0; k < seen[e].size(); ++k)
        out[now->sequence].log_density += update(*now, seen[e][k], values[e][k]);
      states.push_back(std::move(*now));
    }
    return out;
  }

 private:
  /// The number that an atom of another variable stands for.
  double number(const Atom& a) const {
    const std::span<const double> x = forward_.values(a.variable);
    const std::size_t width = forward_.width(a.variable), first = a.number / width * width;
    switch (a.kind) {
      case Atom::Kind::value:
        return x[a.number];
      case Atom::Kind::complement:
        return 1 - x[a.number];
      case Atom::Kind::inverse:
        return 1 / x[a.number];
      case Atom::Kind::matrix_inverse:
        break;
    }
    const auto n = static_cast<Eigen::Index>(forward_.extent(a.variable));
    const Matrix inverse = Eigen::Map<const Matrix>(x.data() + first, n, n).inverse();
    return inverse(static_cast<Eigen::Index>(a.number - first));
  }

  std::optional<double> known(const std::optional<Polynomial>& p) const {
    double out = 0;
    if (!p) return std::nullopt;
    for (const Monomial& m : *p) {
      double x = m.coefficient;
      for (const Atom& a : m.atoms) {
        if (chain_of(a)) return std::nullopt;
        x *= number(a);
      }
      out += x;
    }
    return out;
  }

  /// Its number among the chains.
  std::optional<std::size_t> chain_of(const Atom& a) const {
    const auto it = std::ranges::find(chains_, a.variable);
    return it == chains_.end() ? std::nullopt : std::optional<std::size_t>(it - chains_.begin());
  }

  Steps steps(const Statement& s, const Element& e) const {
    Steps out;
    const At at = forward_.at(e);
    forward_.clear();
    for (std::size_t j = 0; j < forward_.width(s.variable); ++j) {
      const std::optional<Polynomial> mean = symbolic_.mean(s, at, j);
      for (std::size_t k = 0; mean && k < mean->size(); ++k)
        for (const Atom& a : (*mean)[k].atoms)
          if (chain_of(a)) out.insert(a.number / forward_.width(a.variable));
    }
    return out;
  }

  /// The step that the axes of an element name; none where they are not those of the chains, with more after them.
  /// Its coefficients may all be 0 (a covariate).
  Steps lies_at(const Element& e) const {
    const std::vector<PlateId>&own = forward_.model()[e.variable].axes, &axes = forward_.model()[chains_[0]].axes;
    const std::size_t n = forward_.elements(chains_[0]);
    if (own.size() < axes.size() || !std::equal(axes.begin(), axes.end(), own.begin()) || n == 0) return {};
    for (std::size_t k = axes.size(); k < own.size(); ++k)
      if (forward_.model()[own[k]].parent) return {};
    return {e.position / (forward_.elements(e.variable) / n)};
  }

  /// The states of a step before it is observed: after those of the step before, one chain after another as their means
  /// need each other.
  std::optional<State> next(std::size_t e, std::vector<State>& states, std::vector<SequenceDensity>& sequences) const {
    Steps before;
    std::vector<Linear> own;
    for (const VariableId c : chains_) {
      const Statement& s = forward_.model()[forward_.model()[c].statement];
      before.merge(steps(s, {c, e}));
      std::optional<Linear> l = linear(s, {c, e}, e);
      if (!l) return std::nullopt;
      own.push_back(std::move(*l));
    }
    before.erase(e);
    if (before.size() > 1 || (!before.empty() && (*before.begin() >= e || states[*before.begin()].has_next)))
      return std::nullopt;
    State last{Vector::Zero(width_), Matrix::Zero(width_, width_)};
    if (before.empty()) {
      last.sequence = sequences.size();
      sequences.push_back({e, 0});
    } else {
      State& found = states[*before.begin()];
      found.has_next = true;
      last = found;
    }
    Vector mean = Vector::Zero(2 * width_);
    Matrix covariance = Matrix::Zero(2 * width_, 2 * width_);
    mean.head(width_) = last.mean;
    covariance.topLeftCorner(width_, width_) = last.covariance;
    std::vector<bool> there(chains_.size(), false);
    for (std::size_t turn = 0; turn < chains_.size(); ++turn) {
      std::size_t c = 0;
      while (c < chains_.size() && (there[c] || needs_another(own[c], there)))
        ++c;
      if (c == chains_.size()) return std::nullopt;
      there[c] = true;
      const Eigen::Index at = width_ + first_[c], n = own[c].offset.size();
      mean.segment(at, n) = own[c].map * mean + own[c].offset;
      const Matrix across = own[c].map * covariance;
      covariance.middleRows(at, n) = across;
      covariance.middleCols(at, n) = across.transpose();
      covariance.block(at, at, n, n) = across * own[c].map.transpose() + own[c].covariance;
    }
    return State{mean.tail(width_), covariance.bottomRightCorner(width_, width_), last.sequence};
  }

  /// Whether the mean has states of this step that are not there yet.
  bool needs_another(const Linear& l, const std::vector<bool>& there) const {
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      const auto n = static_cast<Eigen::Index>(forward_.width(chains_[c]));
      if (!there[c] && !l.map.middleCols(width_ + first_[c], n).isZero(0)) return true;
    }
    return false;
  }

  /// `now`: which step is this one; states of others belong to the step before.
  std::optional<Linear> linear(const Statement& s, const Element& e, std::size_t now) const {
    const At at = forward_.at(e);
    forward_.clear();
    if (!forward_.distribution(s, at).family->gaussian || s.limits.any()) return std::nullopt;
    const auto n = static_cast<Eigen::Index>(forward_.width(s.variable));
    Linear out{Matrix::Zero(n, 2 * width_), Matrix::Zero(n, n), Vector::Zero(n)};
    for (Eigen::Index j = 0; j < n; ++j) {
      const std::optional<Polynomial> mean = symbolic_.mean(s, at, static_cast<std::size_t>(j));
      if (!mean) return std::nullopt;
      for (const Monomial& m : *mean) {
        double x = m.coefficient;
        std::optional<Eigen::Index> column;
        for (const Atom& a : m.atoms) {
          const std::optional<std::size_t> chain = chain_of(a);
          if (!chain) {
            x *= number(a);
            continue;
          }
          const std::size_t width = forward_.width(a.variable);
          if (column || a.kind != Atom::Kind::value) return std::nullopt;
          column =
              (a.number / width == now ? width_ : 0) + first_[*chain] + static_cast<Eigen::Index>(a.number % width);
        }
        (column ? out.map(j, *column) : out.offset[j]) += x;
      }
      for (Eigen::Index l = 0; l < n; ++l) {
        const std::optional<double> x =
            known(symbolic_.covariance(s, at, static_cast<std::size_t>(j), static_cast<std::size_t>(l)));
        if (!x) return std::nullopt;
        out.covariance(j, l) = *x;
      }
    }
    return forward_.unknown() ? std::nullopt : std::optional(out);
  }

  /// log density of an observation given those before it; the state is then given it too. The covariance is Joseph's
  /// sum of squares, in which a vague prior does not cancel.
  double update(State& state, const Linear& l, const Vector& y) const {
    const Matrix across = state.covariance * l.map.transpose();
    const Eigen::LLT<Matrix> factor(l.map * across + l.covariance);
    if (factor.info() != Eigen::Success) return std::nan("");
    const Vector off = y - l.map * state.mean - l.offset;
    const double log_determinant = 2 * Matrix(factor.matrixL()).diagonal().array().log().sum();
    const Matrix gain = factor.solve(across.transpose()).transpose();
    const Matrix left = Matrix::Identity(gain.rows(), gain.rows()) - gain * l.map;
    state.mean += gain * off;
    state.covariance = left * state.covariance * left.transpose() + gain * l.covariance * gain.transpose();
    return -0.5 * (static_cast<double>(y.size()) * std::log(2 * std::numbers::pi) + log_determinant +
                   off.dot(factor.solve(off)));
  }

  const Forward& forward_;
  Symbolic symbolic_;
  std::vector<VariableId> chains_;
  std::vector<Eigen::Index> first_;  // by chain: its first number in a state
  Eigen::Index width_ = 0;           // numbers of a state
};

}  // namespace

std::optional<std::vector<SequenceDensity>> densities_of_states(const Forward& forward,
                                                                const std::vector<VariableId>& chains,
                                                                const std::vector<Observation>& observations) {
  return Filter(forward, chains).run(observations);
}

}  // namespace lehr
