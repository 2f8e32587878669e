// Newton's method for the diagonal blocks of the precision, on stretches of steps between two messages: what earlier
// steps, summed out, add to the precision of the first steps of a stretch, and later ones to that of the last.
#include "compiler/posterior/chain_completion.h"

#include <algorithm>
#include <cmath>

namespace lehr {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr Eigen::Index kUnknowns = 400;       // unknown numbers of a stretch, about
constexpr Eigen::Index kMostUnknowns = 1500;  // more are too much work
constexpr std::size_t kMostSteps = 3000;
constexpr int kMostRounds = 50;     // rounds over all stretches
constexpr int kMostNewton = 60;     // Newton steps in a stretch
constexpr double kRight = 1e-10;    // difference of a covariance from 1 at which Newton's method ends
constexpr double kAccepted = 1e-6;  // difference with which the result is still used

/// Returns the precision of the other numbers once the first (or the last) `count` numbers are summed out; nullopt
/// unless these have a positive definite precision.
std::optional<Matrix> without(const Matrix& m, Eigen::Index count, bool first) {
  const Eigen::Index rest = m.rows() - count, out = first ? 0 : rest, left = first ? count : 0;
  const Eigen::LLT<Matrix> root(m.block(out, out, count, count));
  if (root.info() != Eigen::Success) return std::nullopt;
  const Matrix half = root.matrixL().solve(m.block(out, left, count, rest));
  return Matrix(m.block(left, left, rest, rest) - half.transpose() * half);
}

/// The completion of one sequence. The window of a step is the step and those before it that a successor reaches.
class Completion {
 public:
  Completion(const std::vector<ChainStep>& steps, Eigen::Index width, std::size_t reach)
      : steps_(steps),
        n_(width),
        reach_(reach),
        pairs_(width * (width + 1) / 2),
        before_(steps.size()),
        after_(steps.size()) {
    // Diagonally dominant, so positive definite.
    std::vector<double> size(steps.size(), 1);
    for (std::size_t k = 0; k < steps.size(); ++k)
      for (std::size_t l = 0; l < steps[k].links.size(); ++l) {
        const double norm = steps[k].links[l].norm();
        size[k] += norm;
        size[k - l - 1] += norm;
      }
    for (const double x : size)
      diagonal_.push_back(Matrix::Identity(n_, n_) * x);
  }

  /// Finds the blocks on the diagonal. Returns false if that fails.
  bool solve() {
    const auto stretch =
        static_cast<std::size_t>(std::max<Eigen::Index>(kUnknowns / pairs_, static_cast<Eigen::Index>(4 * reach_)));
    if (static_cast<Eigen::Index>(std::min(stretch, steps_.size())) * pairs_ > kMostUnknowns) return false;
    for (int round = 0; round < kMostRounds; ++round) {
      if (!sum_backward()) return false;
      double wrong = 0;
      // Stretches overlap by half.
      for (std::size_t begin = 0;; begin += stretch / 2) {
        const std::size_t end = std::min(begin + stretch, steps_.size());
        const std::optional<double> off = newton(begin, end);
        if (!off) return false;
        wrong = std::max(wrong, *off);
        if (end == steps_.size()) break;
        for (std::size_t k = begin; k < begin + stretch / 2; ++k)
          if (!sum_forward(k)) return false;
      }
      if (wrong < 10 * kRight || stretch >= steps_.size()) break;
    }
    return sum_backward();
  }

  /// Returns the distributions of steps given their predecessors; nullopt unless the covariances are right.
  std::optional<std::vector<StepRegression>> regressions() const {
    std::vector<StepRegression> out;
    Matrix covariance(0, 0);  // of the window of the step before
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const Matrix joint = with_successor(k, Matrix::Zero(covariance.rows(), covariance.rows()), after_[k]);
      const Eigen::Index earlier = covariance.rows();
      const Eigen::LLT<Matrix> root(joint.bottomRightCorner(n_, n_));
      if (root.info() != Eigen::Success) return std::nullopt;
      StepRegression r;
      r.coefficients = -root.solve(joint.bottomLeftCorner(n_, earlier));
      r.innovation_root = root.matrixU().solve(Matrix::Identity(n_, n_));
      r.lagged = r.coefficients * covariance;
      const Matrix own = r.coefficients * r.lagged.transpose() + r.innovation_root * r.innovation_root.transpose();
      if (!((own - Matrix::Identity(n_, n_)).cwiseAbs().maxCoeff() < kAccepted)) return std::nullopt;
      Matrix next(earlier + n_, earlier + n_);
      next << covariance, r.lagged.transpose(), r.lagged, Matrix::Identity(n_, n_);
      const Eigen::Index left = std::min(next.rows(), static_cast<Eigen::Index>(reach_) * n_);
      covariance = next.bottomRightCorner(left, left);
      out.push_back(std::move(r));
    }
    return out;
  }

 private:
  /// Returns how many steps the window of a step has.
  std::size_t window(std::size_t k) const { return std::min(reach_, k + 1); }

  /// Returns a precision of the window before a step, and of the step: `earlier` for that window, `own` for the window
  /// of the step, and what the step itself adds.
  Matrix with_successor(std::size_t k, const Matrix& earlier, const Matrix& own) const {
    const Eigen::Index size = earlier.rows() + n_;
    Matrix out = Matrix::Zero(size, size);
    out.topLeftCorner(earlier.rows(), earlier.rows()) = earlier;
    out.bottomRightCorner(own.rows(), own.rows()) += own;
    out.bottomRightCorner(n_, n_) += diagonal_[k];
    for (std::size_t l = 0; l < steps_[k].links.size(); ++l) {
      const Eigen::Index at = size - static_cast<Eigen::Index>(l + 2) * n_;
      out.block(size - n_, at, n_, n_) += steps_[k].links[l];
      out.block(at, size - n_, n_, n_) += steps_[k].links[l].transpose();
    }
    return out;
  }

  /// Computes what the steps up to this one, those before its window summed out, add to the precision of the window.
  bool sum_forward(std::size_t k) {
    const Matrix none(0, 0);
    const Matrix own = Matrix::Zero(n_, n_);
    Matrix joint = with_successor(k, k == 0 ? none : before_[k - 1], own);
    if (joint.rows() > static_cast<Eigen::Index>(window(k)) * n_) {
      std::optional<Matrix> rest = without(joint, n_, true);
      if (!rest) return false;
      joint = *std::move(rest);
    }
    before_[k] = std::move(joint);
    return true;
  }

  /// Computes for every step what the steps after it, summed out, add to the precision of its window.
  bool sum_backward() {
    for (std::size_t k = steps_.size(); k-- > 0;) {
      const Eigen::Index size = static_cast<Eigen::Index>(window(k)) * n_;
      if (k + 1 == steps_.size()) {
        after_[k] = Matrix::Zero(size, size);
        continue;
      }
      std::optional<Matrix> rest = without(with_successor(k + 1, Matrix::Zero(size, size), after_[k + 1]), n_, false);
      if (!rest) return false;
      after_[k] = *std::move(rest);
    }
    return true;
  }

  /// Returns the precision of a stretch of steps, with the window before it in front.
  Matrix precision_of(std::size_t begin, std::size_t end) const {
    const std::size_t front = begin == 0 ? 0 : window(begin - 1), first = begin - front;
    Matrix out = Matrix::Zero(static_cast<Eigen::Index>(end - first) * n_, static_cast<Eigen::Index>(end - first) * n_);
    if (front > 0) out.topLeftCorner(before_[begin - 1].rows(), before_[begin - 1].rows()) = before_[begin - 1];
    const auto at = [&](std::size_t k) { return static_cast<Eigen::Index>(k - first) * n_; };
    for (std::size_t k = begin; k < end; ++k) {
      out.block(at(k), at(k), n_, n_) += diagonal_[k];
      for (std::size_t l = 0; l < steps_[k].links.size(); ++l) {
        out.block(at(k), at(k - l - 1), n_, n_) += steps_[k].links[l];
        out.block(at(k - l - 1), at(k), n_, n_) += steps_[k].links[l].transpose();
      }
    }
    const Matrix& later = after_[end - 1];
    out.bottomRightCorner(later.rows(), later.rows()) += later;
    return out;
  }

  /// Returns the Newton step for the unknown numbers of a stretch, from the covariance of all of its numbers: the
  /// solution of  sum_s C_ts X_s C_st = C_tt - 1  in symmetric X_s.
  Vector newton_step(const Matrix& c, Eigen::Index count) const {
    Matrix hessian(count * pairs_, count * pairs_);
    Vector gradient(count * pairs_);
    const auto row_of = [&](Eigen::Index t, Eigen::Index i, Eigen::Index j) {
      return t * pairs_ + j * (j + 1) / 2 + i;
    };
    const Eigen::Index front = c.rows() - count * n_;
    for (Eigen::Index t = 0; t < count; ++t) {
      for (Eigen::Index j = 0; j < n_; ++j) {
        for (Eigen::Index i = 0; i <= j; ++i) {
          const Eigen::Index row = row_of(t, i, j), a = front + t * n_ + i, b = front + t * n_ + j;
          const double twice = i == j ? 1 : 2;
          gradient[row] = twice * (c(a, b) - (i == j ? 1 : 0));
          for (Eigen::Index s = 0; s <= t; ++s) {
            for (Eigen::Index l = 0; l < n_; ++l) {
              for (Eigen::Index k = 0; k <= l; ++k) {
                const Eigen::Index d = front + s * n_ + k, e = front + s * n_ + l;
                const double both = c(a, d) * c(b, e) + (k == l ? 0 : c(a, e) * c(b, d));
                hessian(row, row_of(s, k, l)) = twice * both;
              }
            }
          }
        }
      }
    }
    const Eigen::LDLT<Matrix> solver(hessian.selfadjointView<Eigen::Lower>());
    return solver.solve(gradient);
  }

  /// Adds `factor` times a step to the blocks of a stretch.
  void move(std::size_t begin, std::size_t end, const Vector& step, double factor) {
    for (std::size_t t = begin; t < end; ++t) {
      Eigen::Index at = static_cast<Eigen::Index>(t - begin) * pairs_;
      for (Eigen::Index j = 0; j < n_; ++j) {
        for (Eigen::Index i = 0; i <= j; ++i, ++at) {
          diagonal_[t](i, j) += factor * step[at];
          if (i != j) diagonal_[t](j, i) += factor * step[at];
        }
      }
    }
  }

  /// Returns the objective as far as it depends on a stretch, and the root of its precision in `root`; infinite unless
  /// that is positive definite.
  double objective(std::size_t begin, std::size_t end, Eigen::LLT<Matrix>& root) const {
    root.compute(precision_of(begin, end));
    if (root.info() != Eigen::Success) return INFINITY;
    double out = -2 * Matrix(root.matrixL()).diagonal().array().log().sum();
    for (std::size_t k = begin; k < end; ++k)
      out += diagonal_[k].trace();
    return out;
  }

  /// Gives the steps of a stretch their covariances. Returns how far these were from right; nullopt if it fails.
  std::optional<double> newton(std::size_t begin, std::size_t end) {
    const auto count = static_cast<Eigen::Index>(end - begin);
    Eigen::LLT<Matrix> root;
    double now = objective(begin, end, root), first = 0;
    if (!std::isfinite(now)) return std::nullopt;
    for (int k = 0; k < kMostNewton; ++k) {
      const Matrix c = root.solve(Matrix::Identity(root.rows(), root.rows()));
      double wrong = 0;
      for (Eigen::Index t = c.rows() - count * n_; t < c.rows(); t += n_)
        wrong = std::max(wrong, (c.block(t, t, n_, n_) - Matrix::Identity(n_, n_)).cwiseAbs().maxCoeff());
      if (k == 0) first = wrong;
      if (wrong < kRight) break;
      const Vector step = newton_step(c, count);
      if (!step.allFinite()) break;
      double factor = 1, then = INFINITY;
      move(begin, end, step, factor);
      while (!((then = objective(begin, end, root)) <= now + 1e-12 * std::abs(now)) && factor > 1e-6) {
        move(begin, end, step, -factor / 2);
        factor /= 2;
      }
      if (!std::isfinite(then)) return std::nullopt;
      if (factor <= 1e-6) break;
      now = then;
    }
    return first;
  }

  const std::vector<ChainStep>& steps_;
  const Eigen::Index n_;                // numbers of a step
  const std::size_t reach_;             // steps that the chain reaches back
  const Eigen::Index pairs_;            // unknown numbers of a step
  std::vector<Matrix> diagonal_;        // the blocks of the precision on the diagonal
  std::vector<Matrix> before_, after_;  // by step: what earlier and later steps add to the precision of its window
};

}  // namespace

std::optional<std::vector<StepRegression>> complete_chain(const std::vector<ChainStep>& steps, Eigen::Index width,
                                                          std::size_t reach) {
  if (steps.size() > kMostSteps || width == 0 || reach == 0) return std::nullopt;
  Completion completion(steps, width, reach);
  if (!completion.solve()) return std::nullopt;
  return completion.regressions();
}

}  // namespace lehr
