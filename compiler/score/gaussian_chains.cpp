// The Kalman filter for chains in a model. Each statement is first converted to a linear map with noise, evaluated at
// its element: number = map * (state of this step, the one before, ...) + offset + noise.
//
// Several chains are filtered together. A state has the numbers of all chains, for as many steps as the chains reach
// back. Within a step the chains are added in an order in which each needs only those added before.
#include "compiler/score/gaussian_chains.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "compiler/model/roles.h"
#include "compiler/posterior/symbolic.h"

namespace lehr {
namespace {

using namespace model;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// A linear map with noise: x = map * (states of this step, of the one before, ...) + offset + N(0, covariance).
struct Linear {
  Matrix map, covariance;
  Vector offset;
};

/// The distribution of a step and of the steps before it within reach, newest first, given the observations so far.
/// Each step has the numbers of all chains, one chain after another. Steps before the first are 0.
struct State {
  Vector mean;
  Matrix covariance;
  std::size_t sequence = 0;  // the sequence that the step belongs to
};

/// Steps of the chains, as positions of elements.
using Steps = std::set<std::size_t>;

/// The filter for one model.
class KalmanFilter {
 public:
  KalmanFilter(const ModelEvaluator& forward, const std::vector<VariableId>& chains)
      : forward_(forward), symbolic_(forward), chains_(chains) {
    for (const VariableId c : chains_) {
      first_.push_back(width_);
      width_ += static_cast<Eigen::Index>(forward.width(c));
      reach_ = std::max(reach_, lag_of(forward.model(), forward.model()[forward.model()[c].statement]));
    }
    const Statement& first = forward.model()[forward.model()[chains_[0]].statement];
    const auto step = [&](std::size_t e) { return forward.at({chains_[0], e})[first.lagged->index()]; };
    while (stride_ < forward.elements(chains_[0]) && step(stride_) == step(0))
      ++stride_;
  }

  /// Filters all sequences, and returns their log densities; nullopt if an observation or a state is not linear and
  /// Normal.
  std::optional<std::vector<SequenceDensity>> run(const std::vector<Observation>& observations) {
    std::map<std::size_t, std::vector<Linear>> seen;
    std::map<std::size_t, std::vector<Vector>> values;
    for (const Observation& o : observations) {
      const std::span<const double> x = forward_.values(o.element);
      const auto n = static_cast<Eigen::Index>(x.size());
      const Statement& s = forward_.model()[o.statement];
      // An observation belongs to the step that its mean reads. If its coefficients are all zero, its axes name the
      // step.
      Steps of = steps(s, o.element);
      if (of.empty()) of = lies_at(o.element);
      const std::optional<Linear> l = of.size() == 1 ? linear(s, o.element, *of.begin()) : std::nullopt;
      if (!l || o.copies != 1) return std::nullopt;
      seen[*of.begin()].push_back({l->map.leftCols(reach_ * width_), l->covariance, l->offset});
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
  /// Returns the value of an atom of a variable outside the chains.
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

  /// Returns the value of a polynomial without chains; nullopt if it has one.
  std::optional<double> value_without_chains(const MaybePolynomial& p) const {
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

  /// Returns which chain an atom belongs to, or nullopt.
  std::optional<std::size_t> chain_of(const Atom& a) const {
    const auto it = std::ranges::find(chains_, a.variable);
    return it == chains_.end() ? std::nullopt : std::optional<std::size_t>(it - chains_.begin());
  }

  /// Returns the steps that the mean of an element reads.
  Steps steps(const Statement& s, const Element& e) const {
    Steps out;
    const IndexValues at = forward_.at(e);
    forward_.clear();
    for (std::size_t j = 0; j < forward_.width(s.variable); ++j) {
      const MaybePolynomial mean = symbolic_.mean(s, at, j);
      for (std::size_t k = 0; mean && k < mean->size(); ++k)
        for (const Atom& a : (*mean)[k].atoms)
          if (chain_of(a)) out.insert(a.number / forward_.width(a.variable));
    }
    return out;
  }

  /// Returns the step that the axes of an element name; empty if its first axes are not those of the chains.
  Steps lies_at(const Element& e) const {
    const std::vector<PlateId>&own = forward_.model()[e.variable].axes, &axes = forward_.model()[chains_[0]].axes;
    const std::size_t n = forward_.elements(chains_[0]);
    if (own.size() < axes.size() || !std::equal(axes.begin(), axes.end(), own.begin()) || n == 0) return {};
    for (std::size_t k = axes.size(); k < own.size(); ++k)
      if (forward_.model()[own[k]].parent) return {};
    return {e.position / (forward_.elements(e.variable) / n)};
  }

  /// Predicts the state of step e from that of its predecessor, or from nothing at the beginning of a sequence.
  std::optional<State> next(std::size_t e, const std::vector<State>& states,
                            std::vector<SequenceDensity>& sequences) const {
    const Eigen::Index before = reach_ * width_;
    State last{Vector::Zero(before), Matrix::Zero(before, before), sequences.size()};
    if (begins(e)) sequences.push_back({e, 0});
    else last = states[e - stride_];
    // The transition of each chain. It must read only earlier states of the same sequence.
    std::vector<Linear> own;
    for (const VariableId c : chains_) {
      const Statement& s = forward_.model()[forward_.model()[c].statement];
      for (const std::size_t of : steps(s, {c, e}))
        if (of > e || (of < e && states[of].sequence != last.sequence)) return std::nullopt;
      std::optional<Linear> l = linear(s, {c, e}, e);
      if (!l) return std::nullopt;
      own.push_back(std::move(*l));
    }
    // The joint distribution of the new step, which comes first, and of the steps before it.
    Vector mean = Vector::Zero(width_ + before);
    Matrix covariance = Matrix::Zero(width_ + before, width_ + before);
    mean.tail(before) = last.mean;
    covariance.bottomRightCorner(before, before) = last.covariance;
    // Adds one chain at a time: the first that needs no other chain that is still absent.
    std::vector<bool> added(chains_.size(), false);
    for (std::size_t iteration = 0; iteration < chains_.size(); ++iteration) {
      std::size_t c = 0;
      while (c < chains_.size() && (added[c] || needs_another(own[c], added)))
        ++c;
      if (c == chains_.size()) return std::nullopt;
      added[c] = true;
      const Eigen::Index at = first_[c], n = own[c].offset.size();
      mean.segment(at, n) = own[c].map * mean + own[c].offset;
      const Matrix across = own[c].map * covariance;
      covariance.middleRows(at, n) = across;
      covariance.middleCols(at, n) = across.transpose();
      covariance.block(at, at, n, n) = across * own[c].map.transpose() + own[c].covariance;
    }
    return State{mean.head(before), covariance.topLeftCorner(before, before), last.sequence};
  }

  /// Returns true if a sequence begins with the step.
  bool begins(std::size_t e) const {
    const Model& m = forward_.model();
    const IndexVarId lagged = *m[m[chains_[0]].statement].lagged;
    const auto at = [&](std::size_t k, IndexVarId b) { return forward_.at({chains_[0], k})[b.index()]; };
    if (!m[lagged].parent) return at(e, lagged) == 0;
    return e < stride_ || at(e, *m[lagged].parent) != at(e - stride_, *m[lagged].parent);
  }

  /// Returns true if the mean reads a chain of this step that has not been added yet.
  bool needs_another(const Linear& l, const std::vector<bool>& added) const {
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      const auto n = static_cast<Eigen::Index>(forward_.width(chains_[c]));
      if (!added[c] && !l.map.middleCols(first_[c], n).isZero(0)) return true;
    }
    return false;
  }

  /// Returns the linear map of an element's distribution, `now` its step; nullopt if it is not Normal, not linear, or
  /// reads steps beyond reach.
  std::optional<Linear> linear(const Statement& s, const Element& e, std::size_t now) const {
    const IndexValues at = forward_.at(e);
    forward_.clear();
    if (!forward_.distribution(s, at).family->gaussian || s.limits.any()) return std::nullopt;
    const auto n = static_cast<Eigen::Index>(forward_.width(s.variable));
    Linear out{Matrix::Zero(n, (1 + reach_) * width_), Matrix::Zero(n, n), Vector::Zero(n)};
    for (Eigen::Index j = 0; j < n; ++j) {
      const MaybePolynomial mean = symbolic_.mean(s, at, static_cast<std::size_t>(j));
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
          const std::size_t step = a.number / width;
          if (column || a.kind != Atom::Kind::value || step > now || (now - step) % stride_ != 0) return std::nullopt;
          const auto back = static_cast<Eigen::Index>((now - step) / stride_);
          if (back > reach_) return std::nullopt;
          column = back * width_ + first_[*chain] + static_cast<Eigen::Index>(a.number % width);
        }
        (column ? out.map(j, *column) : out.offset[j]) += x;
      }
      for (Eigen::Index l = 0; l < n; ++l) {
        const std::optional<double> x =
            value_without_chains(symbolic_.covariance(s, at, static_cast<std::size_t>(j), static_cast<std::size_t>(l)));
        if (!x) return std::nullopt;
        out.covariance(j, l) = *x;
      }
    }
    return forward_.unknown() ? std::nullopt : std::optional(out);
  }

  /// Conditions the state on an observation, and returns its log density given the earlier ones, in nats. The
  /// covariance is updated in Joseph's form, a sum of squares, in which a vague prior does not cancel.
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

  const ModelEvaluator& forward_;  // values of everything but the chains
  Symbolic symbolic_;              // evaluates means and covariances
  std::vector<VariableId> chains_;
  std::vector<Eigen::Index> first_;  // by chain: its first number in a state
  Eigen::Index width_ = 0;           // numbers of a step
  std::int64_t reach_ = 1;           // steps of a state
  std::size_t stride_ = 1;           // elements from one step to the next
};

}  // namespace

std::optional<std::vector<SequenceDensity>> kalman_log_densities(const ModelEvaluator& forward,
                                                                 const std::vector<VariableId>& chains,
                                                                 const std::vector<Observation>& observations) {
  return KalmanFilter(forward, chains).run(observations);
}

}  // namespace lehr
