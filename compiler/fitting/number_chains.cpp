#include "compiler/fitting/number_chains.h"

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <numbers>

#include "compiler/fitting/symbolic.h"

namespace lehr {
namespace {

using namespace model;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// x = map * state + offset + noise of this covariance.
struct Linear {
  Matrix map, covariance;
  Vector offset;
};

/// Of an element, given what was observed up to there.
struct State {
  Vector mean;
  Matrix covariance;
  std::size_t sequence = 0;
  bool has_next = false;
};

class Filter {
 public:
  Filter(const Forward& forward, VariableId chain) : forward_(forward), symbolic_(forward), chain_(chain) {}

  std::optional<std::vector<SequenceDensity>> run(const std::vector<Observation>& observations) {
    std::map<std::size_t, std::vector<Linear>> seen;
    std::map<std::size_t, std::vector<Vector>> values;
    for (const Observation& o : observations) {
      const std::span<const double> x = forward_.values(o.element);
      const auto n = static_cast<Eigen::Index>(x.size());
      std::optional<std::size_t> of;
      const std::optional<Linear> l = linear(forward_.model()[o.statement], o.element, of);
      if (!l || !of || o.copies != 1) return std::nullopt;
      seen[*of].push_back(*l);
      values[*of].push_back(Eigen::Map<const Vector>(x.data(), n));
    }
    std::vector<SequenceDensity> out;
    const Statement& s = forward_.model()[forward_.model()[chain_].statement];
    std::vector<State> states;
    for (std::size_t e = 0; e < forward_.elements(chain_); ++e) {
      std::optional<std::size_t> before;
      const std::optional<Linear> l = linear(s, {chain_, e}, before);
      if (!l || (before && (*before >= e || states[*before].has_next))) return std::nullopt;
      if (!before) out.push_back({e, 0});
      State now{l->offset, l->covariance, out.size() - 1};
      if (before) {
        State& last = states[*before];
        last.has_next = true;
        now.sequence = last.sequence;
        now.mean += l->map * last.mean;
        now.covariance += l->map * last.covariance * l->map.transpose();
      }
      for (std::size_t k = 0; k < seen[e].size(); ++k)
        out[now.sequence].log_density += update(now, seen[e][k], values[e][k]);
      states.push_back(std::move(now));
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
        if (a.variable == chain_) return std::nullopt;
        x *= number(a);
      }
      out += x;
    }
    return out;
  }

  /// `of`: the one state that it depends on, if any.
  std::optional<Linear> linear(const Statement& s, const Element& e, std::optional<std::size_t>& of) const {
    const At at = forward_.at(e);
    forward_.clear();
    if (!forward_.distribution(s, at).family->gaussian) return std::nullopt;
    const auto n = static_cast<Eigen::Index>(forward_.width(s.variable));
    const std::size_t width = forward_.width(chain_);
    Linear out{Matrix::Zero(n, static_cast<Eigen::Index>(width)), Matrix::Zero(n, n), Vector::Zero(n)};
    for (Eigen::Index j = 0; j < n; ++j) {
      const std::optional<Polynomial> mean = symbolic_.mean(s, at, static_cast<std::size_t>(j));
      if (!mean) return std::nullopt;
      for (const Monomial& m : *mean) {
        double x = m.coefficient;
        std::optional<std::size_t> component;
        for (const Atom& a : m.atoms) {
          if (a.variable != chain_) {
            x *= number(a);
            continue;
          }
          const std::size_t element = a.number / width;
          if (component || a.kind != Atom::Kind::value || (of && *of != element)) return std::nullopt;
          of = element;
          component = a.number % width;
        }
        (component ? out.map(j, static_cast<Eigen::Index>(*component)) : out.offset[j]) += x;
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
  VariableId chain_;
};

}  // namespace

std::optional<std::vector<SequenceDensity>> densities_of_states(const Forward& forward, VariableId chain,
                                                                const std::vector<Observation>& observations) {
  return Filter(forward, chain).run(observations);
}

}  // namespace lehr
