// Newton steps for J(R), by conjugate gradients. With R = exp(X) R0, the second derivatives of J at X = 0 couple mainly
// X_kl with X_lk: exactly so where the moments and coefficients are diagonal, as they are at an optimum with
// independent priors. So the Newton steps of these pairs are the preconditioner. Steps are halved until J rises. With
// forms, steps are those of a quasi-Newton method.
#include "runtime/inference/change_of_basis.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lehr {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The moments after a change, the rates of the scales that are best then, and J.
struct Moved {
  std::vector<VectorXd> first;
  std::vector<MatrixXd> second;
  std::vector<VectorXd> rates;
  std::vector<MatrixXd> forms;  // by form: its moments
  std::vector<Rows> followers;
  double value = -std::numeric_limits<double>::infinity();
};

/// Returns the best rates of a scale for these moments.
VectorXd rates_of(const RescaledSums& scale, const Moved& x) {
  VectorXd out = scale.rest;
  const auto add = [&](const VectorXd& coefficients, const auto& moments) {
    const VectorXd part = coefficients.cwiseProduct(moments);
    if (out.size() == part.size()) out += part;
    else out.array() += part.sum();
  };
  for (std::size_t v = 0; v < x.first.size(); ++v) {
    if (scale.linear[v].size() > 0) add(scale.linear[v], x.first[v]);
    if (scale.quadratic[v].size() > 0) add(scale.quadratic[v], x.second[v].diagonal());
  }
  return out;
}

/// The rows of all followers together, A and B as [A B]: where each begins, and the natural parameters of each row: h,
/// and L, of exp(h' a - a' L a / 2). Their factors are independent, but their best means are not.
struct NaturalRows {
  std::vector<Index> begin;
  MatrixXd linear;
  std::vector<MatrixXd> precision;
};

/// Returns the natural parameters of the followers, for these moments of the forms.
NaturalRows natural_rows(const BasisProblem& p, const Moved& x) {
  NaturalRows out{{0}, {}, {}};
  for (const FollowerSums& of : p.followers)
    out.begin.push_back(out.begin.back() + of.linear.cols());
  out.linear = MatrixXd::Zero(p.components, out.begin.back());
  out.precision.assign(static_cast<std::size_t>(p.components), MatrixXd::Zero(out.begin.back(), out.begin.back()));
  for (std::size_t k = 0; k < p.followers.size(); ++k) {
    const FollowerSums& of = p.followers[k];
    const Index n = of.linear.cols();
    out.linear.middleCols(out.begin[k], n) += of.linear;
    for (std::size_t i = 0; i < out.precision.size(); ++i)
      out.precision[i].block(out.begin[k], out.begin[k], n, n) -= of.quadratic[i] + of.quadratic[i].transpose();
  }
  for (std::size_t f = 0; f < p.forms.size(); ++f) {
    const FormSums& form = p.forms[f];
    if (form.follower < 0) continue;
    const Index a = out.begin[static_cast<std::size_t>(form.follower)];
    const MatrixXd& moments = x.forms[f];
    if (form.other < 0) out.linear.middleCols(a, moments.cols()) += form.coefficients.col(0).asDiagonal() * moments;
    for (std::size_t i = 0; form.other >= 0 && i < out.precision.size(); ++i) {
      const Index b = out.begin[static_cast<std::size_t>(form.other)];
      const MatrixXd part = form.coefficients(static_cast<Index>(i), 0) * moments;
      out.precision[i].block(a, b, part.rows(), part.cols()) -= part;
      out.precision[i].block(b, a, part.cols(), part.rows()) -= part.transpose();
    }
  }
  return out;
}

/// Returns the expected coefficients of the products of a form: those of followers at their best factors.
MatrixXd expected_coefficients(const FormSums& form, const Moved& x) {
  if (form.follower < 0) return form.coefficients;
  const Rows& a = x.followers[static_cast<std::size_t>(form.follower)];
  if (form.other < 0) return form.coefficients.col(0).asDiagonal() * a.mean;
  const Rows& b = x.followers[static_cast<std::size_t>(form.other)];
  MatrixXd out = a.mean.transpose() * form.coefficients.col(0).asDiagonal() * b.mean;
  for (std::size_t i = 0; form.follower == form.other && i < a.precision.size(); ++i)
    out += form.coefficients(static_cast<Index>(i), 0) * a.precision[i].inverse();
  return out;
}

/// Chooses the best factors of the followers, and adds them to J.
void add_followers(const BasisProblem& p, Moved& out, double& value) {
  const NaturalRows natural = natural_rows(p, out);
  MatrixXd mean(natural.linear.rows(), natural.linear.cols());
  for (Index i = 0; i < mean.rows(); ++i) {
    const Eigen::LLT<MatrixXd> solver(natural.precision[static_cast<std::size_t>(i)]);
    if (solver.info() != Eigen::Success) value = std::numeric_limits<double>::quiet_NaN();
    mean.row(i) = solver.solve(natural.linear.row(i).transpose());
    value += natural.linear.row(i).dot(mean.row(i)) / 2;
  }
  for (std::size_t k = 0; k < p.followers.size(); ++k) {
    const Index begin = natural.begin[k], n = natural.begin[k + 1] - begin;
    Rows rows{mean.middleCols(begin, n), {}};
    for (const MatrixXd& all : natural.precision) {
      rows.precision.emplace_back(all.block(begin, begin, n, n));
      value -= rows.precision.back().llt().matrixLLT().diagonal().array().log().sum();
    }
    out.followers.push_back(std::move(rows));
  }
}

/// Adds the forms of the change to J, and the best factors of the followers.
void add_forms(const BasisProblem& p, const MatrixXd& change, Moved& out, double& value) {
  const auto by = [&](std::int64_t v) {
    return transform_of(change, p.variables[static_cast<std::size_t>(v)].inverse);
  };
  for (const FormSums& form : p.forms) {
    MatrixXd moments = form.moments;
    if (form.first >= 0) moments = by(form.first) * moments;
    if (form.second >= 0) moments = moments * by(form.second).transpose();
    if (form.follower < 0) value += form.coefficients.cwiseProduct(moments).sum();
    out.forms.push_back(std::move(moments));
  }
  if (!p.followers.empty()) add_followers(p, out, value);
}

/// Returns J of the change, up to a constant, and what it consists of.
Moved moved(const BasisProblem& p, const MatrixXd& change) {
  Moved out;
  const double determinant =
      p.diagonal ? change.diagonal().array().log().sum() : std::log(change.partialPivLu().determinant());
  double value = 0;
  for (const TransformedSums& v : p.variables) {
    const MatrixXd m = transform_of(change, v.inverse);
    out.first.push_back(v.first.size() > 0 ? VectorXd(m * v.first) : VectorXd());
    out.second.push_back(v.second.size() > 0 ? MatrixXd(m * v.second * m.transpose()) : MatrixXd());
    value += v.count * (v.inverse ? -determinant : determinant);
    if (v.linear.size() > 0) value += v.linear.dot(out.first.back());
    if (v.quadratic.size() > 0) value += v.quadratic.cwiseProduct(out.second.back()).sum();
  }
  for (const RescaledSums& s : p.scales) {
    out.rates.push_back(rates_of(s, out));
    if (!(out.rates.back().minCoeff() > 0)) return out;
    value -= s.shape.dot(VectorXd(out.rates.back().array().log()));
  }
  add_forms(p, change, out, value);
  if (std::isfinite(value)) out.value = value;
  return out;
}

/// Returns how much higher J is with the best factors of the followers than with the present ones, without a change.
double divergence_now(const BasisProblem& p, const Moved& x) {
  const NaturalRows natural = natural_rows(p, x);
  double out = 0;
  MatrixXd off(natural.linear.rows(), natural.linear.cols());
  for (std::size_t k = 0; k < p.followers.size(); ++k) {
    const Rows &best = x.followers[k], &now = p.followers[k].now;
    off.middleCols(natural.begin[k], best.mean.cols()) = now.mean - best.mean;
    for (std::size_t i = 0; i < best.precision.size(); ++i) {
      const MatrixXd ratio = now.precision[i].llt().solve(best.precision[i]);
      out += (ratio.trace() - static_cast<double>(ratio.rows()) - std::log(ratio.partialPivLu().determinant())) / 2;
    }
  }
  for (Index i = 0; i < off.rows(); ++i)
    out += off.row(i).dot(natural.precision[static_cast<std::size_t>(i)] * off.row(i).transpose()) / 2;
  return out;
}

/// Returns J of no change with the present factors of the scales and followers, which are not the best: at least the
/// part of the ELBO that a change replaces. (It is that part if the shapes of the scales are the best ones.)
double value_now(const BasisProblem& p, const Moved& x) {
  double out = x.value;
  for (std::size_t k = 0; k < p.scales.size(); ++k) {
    const RescaledSums& s = p.scales[k];
    for (Index j = 0; j < s.rest.size(); ++j) {
      const double rate = s.now_rate[j], shape = s.now_shape[j], best = x.rates[k][j];
      out += s.shape[j] * std::log(best / rate) + shape - shape * best / rate;
    }
  }
  return p.followers.empty() ? out : out - divergence_now(p, x);
}

/// The coefficients of the prior of one variable, with the present expectations of the scales as coefficients.
struct Coefficients {
  MatrixXd quadratic;
  VectorXd linear;
};

/// Returns the coefficients of variable `v` at a change.
Coefficients coefficients(const BasisProblem& p, const Moved& x, std::size_t v) {
  const Index n = p.components;
  const TransformedSums& of = p.variables[v];
  Coefficients out{of.quadratic.size() > 0 ? of.quadratic : MatrixXd::Zero(n, n),
                   of.linear.size() > 0 ? of.linear : VectorXd::Zero(n)};
  for (std::size_t k = 0; k < p.scales.size(); ++k) {
    const RescaledSums& s = p.scales[k];
    const VectorXd t = s.shape.cwiseQuotient(x.rates[k]);
    const VectorXd each = t.size() == n ? t : VectorXd::Constant(n, t[0]);
    if (s.linear[v].size() > 0) out.linear -= s.linear[v].cwiseProduct(each);
    if (s.quadratic[v].size() > 0) out.quadratic.diagonal() -= s.quadratic[v].cwiseProduct(each);
  }
  return out;
}

/// The derivatives of J at a change, for X in exp(X) R: the gradient, and for pairs the second derivatives.
struct Derivatives {
  std::vector<Coefficients> priors;  // by variable
  MatrixXd gradient;                 // by X_kl
  MatrixXd square, product;          // coefficients of X_kl^2, and of X_kl X_lk, in the second-order part of J
};

/// Returns the derivatives at a change with these moments.
Derivatives derivatives(const BasisProblem& p, const Moved& x) {
  const Index n = p.components;
  Derivatives out{{}, MatrixXd::Zero(n, n), MatrixXd::Zero(n, n), MatrixXd::Zero(n, n)};
  for (std::size_t v = 0; v < p.variables.size(); ++v) {
    const TransformedSums& of = p.variables[v];
    out.priors.push_back(coefficients(p, x, v));
    const auto& [quadratic, linear] = out.priors.back();
    MatrixXd gradient = of.count * MatrixXd::Identity(n, n);
    VectorXd both = VectorXd::Zero(n);  // second-order part of the variable by X_kk^2
    MatrixXd square = MatrixXd::Zero(n, n);
    if (x.second[v].size() > 0) {
      gradient += 2 * quadratic * x.second[v];
      square = quadratic.diagonal() * x.second[v].diagonal().transpose();
      both += square.diagonal();
    }
    if (x.first[v].size() > 0) {
      gradient += linear * x.first[v].transpose();
      both += linear.cwiseProduct(x.first[v]) / 2;
    }
    out.gradient += of.inverse ? MatrixXd(-gradient.transpose()) : gradient;
    out.square += of.inverse ? MatrixXd(square.transpose()) : square;
    out.product += both * Eigen::RowVectorXd::Ones(n) + VectorXd::Ones(n) * both.transpose();
  }
  const auto add = [&](std::int64_t v, const MatrixXd& gradient) {
    if (v < 0) return;
    out.gradient += p.variables[static_cast<std::size_t>(v)].inverse ? MatrixXd(-gradient.transpose()) : gradient;
  };
  for (std::size_t f = 0; f < p.forms.size(); ++f) {
    const MatrixXd q = expected_coefficients(p.forms[f], x), &s = x.forms[f];
    add(p.forms[f].first, q * s.transpose());
    add(p.forms[f].second, q.transpose() * s);
  }
  return out;
}

/// Returns the second derivatives of J times the direction X.
MatrixXd second_derivative(const BasisProblem& p, const Moved& at, const Derivatives& d, const MatrixXd& x) {
  std::vector<VectorXd> reactions;  // by scale: shape / rate^2 * the derivative of the rate
  for (const VectorXd& rates : at.rates)
    reactions.push_back(VectorXd::Zero(rates.size()));
  const auto direction = [&](std::size_t v) { return p.variables[v].inverse ? MatrixXd(-x.transpose()) : x; };
  const auto each = [&](const VectorXd& of_scale, Index k) { return of_scale[of_scale.size() > 1 ? k : 0]; };
  for (std::size_t v = 0; v < p.variables.size(); ++v) {
    const MatrixXd y = direction(v);
    for (std::size_t s = 0; s < p.scales.size(); ++s) {
      const RescaledSums& scale = p.scales[s];
      for (Index k = 0; k < p.components; ++k) {
        double& to = reactions[s][reactions[s].size() > 1 ? k : 0];
        if (scale.linear[v].size() > 0) to += scale.linear[v][k] * y.row(k).dot(at.first[v]);
        if (scale.quadratic[v].size() > 0) to += 2 * scale.quadratic[v][k] * y.row(k).dot(at.second[v].col(k));
      }
    }
  }
  for (std::size_t s = 0; s < p.scales.size(); ++s)
    reactions[s] = reactions[s].cwiseProduct(p.scales[s].shape).cwiseQuotient(at.rates[s].cwiseAbs2());
  MatrixXd out = MatrixXd::Zero(p.components, p.components);
  for (std::size_t v = 0; v < p.variables.size(); ++v) {
    const MatrixXd y = direction(v);
    const auto& [quadratic, linear] = d.priors[v];
    MatrixXd part = MatrixXd::Zero(p.components, p.components);
    const auto twice = [&](const MatrixXd& a) { part += a * y.transpose() + y.transpose() * a; };
    if (at.second[v].size() > 0) {
      part += 2 * quadratic * y * at.second[v];
      twice(quadratic * at.second[v]);
    }
    if (at.first[v].size() > 0) twice(linear * at.first[v].transpose() / 2);
    for (std::size_t s = 0; s < p.scales.size(); ++s) {
      const RescaledSums& scale = p.scales[s];
      for (Index k = 0; k < p.components; ++k) {
        const double w = each(reactions[s], k);
        if (scale.linear[v].size() > 0) part.row(k) += w * scale.linear[v][k] * at.first[v].transpose();
        if (scale.quadratic[v].size() > 0) part.row(k) += 2 * w * scale.quadratic[v][k] * at.second[v].row(k);
      }
    }
    out += p.variables[v].inverse ? MatrixXd(-part.transpose()) : part;
  }
  if (p.diagonal) out = MatrixXd(out.diagonal().asDiagonal());
  return out;
}

/// Returns how the rates of the scales react to a scale of component k, as a part of the second derivative by X_kk.
double reaction(const BasisProblem& p, const Moved& x, Index k) {
  double out = 0;
  for (std::size_t s = 0; s < p.scales.size(); ++s) {
    const RescaledSums& scale = p.scales[s];
    double change = 0;
    for (std::size_t v = 0; v < p.variables.size(); ++v) {
      const double sign = p.variables[v].inverse ? -1 : 1;
      if (scale.linear[v].size() > 0) change += sign * scale.linear[v][k] * x.first[v][k];
      if (scale.quadratic[v].size() > 0) change += 2 * sign * scale.quadratic[v][k] * x.second[v](k, k);
    }
    const Index j = scale.rest.size() > 1 ? k : 0;
    out += scale.shape[j] * change * change / (2 * x.rates[s][j] * x.rates[s][j]);
  }
  return out;
}

/// The inverse second derivatives, pair by pair, with the sign of an ascent.
class Pairs {
 public:
  /// Forms the pairs at a change.
  Pairs(const BasisProblem& p, const Moved& x, const Derivatives& d)
      : diagonal_(p.diagonal), d_(d), own_(p.components) {
    constexpr double kFlat = 1e-9;  // smallest curvature, relative to the largest
    for (Index k = 0; k < p.components; ++k)
      own_[k] = std::abs(2 * d.square(k, k) + d.product(k, k) + 2 * reaction(p, x, k));
    least_ = std::max(kFlat * own_.maxCoeff(), std::numeric_limits<double>::min());
  }

  /// Returns the Newton step of each pair for this gradient.
  MatrixXd step(const MatrixXd& gradient) const {
    constexpr double kFlatPair = 1e-2;  // of a pair, relative to its other one; rotations may be flat
    const Index n = own_.size();
    MatrixXd out = MatrixXd::Zero(n, n);
    out.diagonal() = gradient.diagonal().cwiseQuotient(own_.cwiseMax(least_));
    for (Index k = 0; k < n && !diagonal_; ++k) {
      for (Index l = 0; l < k; ++l) {
        Eigen::Matrix2d second;
        second << 2 * d_.square(k, l), d_.product(k, l), d_.product(k, l), 2 * d_.square(l, k);
        Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> solver;
        solver.computeDirect(second);
        const Eigen::Vector2d size = solver.eigenvalues().cwiseAbs();
        const Eigen::Vector2d curvature = size.cwiseMax(std::max(least_, kFlatPair * size.maxCoeff()));
        const Eigen::Vector2d slope(gradient(k, l), gradient(l, k));
        const Eigen::Vector2d x =
            solver.eigenvectors() * (solver.eigenvectors().transpose() * slope).cwiseQuotient(curvature);
        out(k, l) = x[0];
        out(l, k) = x[1];
      }
    }
    return out;
  }

 private:
  bool diagonal_;         // true: only diagonal entries count
  const Derivatives& d_;  // the derivatives
  VectorXd own_;          // curvature of each diagonal entry
  double least_ = 0;      // curvatures count as at least that
};

/// Returns an ascent direction: the Newton step by conjugate gradients, which the pairs precondition. Where J is not
/// concave it ends early (Nocedal & Wright 2006, section 7.1).
MatrixXd ascent_direction(const BasisProblem& p, const Moved& at, const Derivatives& d) {
  constexpr int kMost = 60;
  constexpr double kResidual = 1e-3;  // of the gradient, where to stop
  const auto dot = [](const MatrixXd& a, const MatrixXd& b) { return a.cwiseProduct(b).sum(); };
  const Pairs pairs(p, at, d);
  MatrixXd residual = d.gradient;
  MatrixXd towards = pairs.step(residual), direction = towards, out;
  const double first = dot(residual, towards);
  double size = first;
  for (int k = 0; k < kMost && size > kResidual * kResidual * first; ++k) {
    const MatrixXd fall = -second_derivative(p, at, d, direction);
    const double curvature = dot(direction, fall);
    if (!(curvature > 0)) return k == 0 ? direction : out;
    if (k == 0) out = MatrixXd::Zero(p.components, p.components);
    out += size / curvature * direction;
    residual -= size / curvature * fall;
    towards = pairs.step(residual);
    const double next = dot(residual, towards);
    direction = towards + next / size * direction;
    size = next;
  }
  return out.size() > 0 ? out : direction;
}

/// The quasi-Newton method of Broyden, Fletcher, Goldfarb and Shanno, for problems with forms, whose second derivatives
/// are not computed (Nocedal & Wright 2006, section 6.1).
class QuasiNewton {
 public:
  /// Begins with the curvature of the logarithms of determinants.
  explicit QuasiNewton(const BasisProblem& p) {
    double curvature = 0;
    for (const TransformedSums& v : p.variables)
      curvature += v.count;
    const Index n = p.components * p.components;
    inverse_ = MatrixXd::Identity(n, n) / (2 * curvature);
  }

  /// Returns an ascent direction at a gradient.
  MatrixXd direction(const MatrixXd& gradient) {
    const VectorXd now = gradient.reshaped();
    if (step_.size() > 0) update(last_ - now);
    last_ = now;
    return VectorXd(inverse_ * now).reshaped(gradient.rows(), gradient.cols());
  }
  /// Notes the step that was made from there.
  void note(const MatrixXd& step) { step_ = step.reshaped(); }

 private:
  /// Adapts the inverse to the fall of the gradient along the last step.
  void update(const VectorXd& fall) {
    const double curvature = step_.dot(fall);
    if (!(curvature > 1e-12 * step_.norm() * fall.norm())) return;
    const VectorXd towards = inverse_ * fall;
    inverse_ += (1 + fall.dot(towards) / curvature) / curvature * step_ * step_.transpose() -
                (towards * step_.transpose() + step_ * towards.transpose()) / curvature;
  }

  MatrixXd inverse_;      // of minus the second derivatives
  VectorXd last_, step_;  // the last gradient, and the step from there
};

/// Returns exp(x) to second order; exactly if it is diagonal.
MatrixXd exponential(const BasisProblem& p, const MatrixXd& x) {
  if (p.diagonal) return x.diagonal().array().exp().matrix().asDiagonal();
  return MatrixXd::Identity(x.rows(), x.cols()) + x + x * x / 2;
}

}  // namespace

MatrixXd transform_of(const MatrixXd& change, bool inverse) {
  return inverse ? MatrixXd(change.inverse().transpose()) : change;
}

BasisChange best_change(const BasisProblem& p, double least) {
  constexpr int kSteps = 50, kMostSteps = 300, kHalvings = 30;
  constexpr double kLongest = 1;  // limit of the entries of a step
  MatrixXd change = MatrixXd::Identity(p.components, p.components);
  Moved at = moved(p, change);
  if (!std::isfinite(at.value)) return {};
  const double now = value_now(p, at), start = at.value;
  QuasiNewton quasi(p);
  for (int step = 0; step < (p.forms.empty() ? kSteps : kMostSteps); ++step) {
    Derivatives d = derivatives(p, at);
    if (p.diagonal) d.gradient = MatrixXd(d.gradient.diagonal().asDiagonal());
    MatrixXd x = p.forms.empty() ? ascent_direction(p, at, d) : quasi.direction(d.gradient);
    const double longest = x.cwiseAbs().maxCoeff();
    if (longest > kLongest) x *= kLongest / longest;
    const double slope = d.gradient.cwiseProduct(x).sum();
    if (!(slope > least)) break;
    MatrixXd next = exponential(p, x) * change;
    Moved there = moved(p, next);
    double length = 1;
    for (int k = 0; k < kHalvings && !(there.value > at.value + 1e-4 * length * slope); ++k) {
      length /= 2;
      next = exponential(p, length * x) * change;
      there = moved(p, next);
    }
    if (!(there.value > at.value)) break;
    quasi.note(length * x);
    change = std::move(next);
    at = std::move(there);
  }
  if (!(at.value > start)) return {};
  return {std::move(change), std::move(at.rates), std::move(at.followers), at.value - now};
}

}  // namespace lehr
