// Reads the sums of an invariance from the buffers of generated code, and applies a change of basis or a shift to the
// factors.
#include "runtime/inference/invariance.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/inference/change_of_basis.h"

namespace lehr {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Returns the numbers of a buffer; none if there is no buffer.
VectorXd vector_of(const Engine& e, std::int64_t buffer) {
  if (buffer < 0) return {};
  const std::span<const double> x = e.reals(buffer);
  return Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size()));
}

/// Returns the numbers of a buffer as a matrix with so many rows; an empty one if there is no buffer.
MatrixXd matrix_of(const Engine& e, std::int64_t buffer, Index rows) {
  if (buffer < 0) return {};
  const std::span<const double> x = e.reals(buffer);
  return Eigen::Map<const RowMajorMatrix>(x.data(), rows, static_cast<Index>(x.size()) / rows);
}

/// Returns the matrices of a buffer, `rows` rows each.
std::vector<MatrixXd> matrices_of(const Engine& e, std::int64_t buffer, Index rows) {
  std::vector<MatrixXd> out;
  const std::span<const double> x = e.reals(buffer);
  for (std::size_t i = 0; i < x.size(); i += static_cast<std::size_t>(rows * rows))
    out.emplace_back(Eigen::Map<const RowMajorMatrix>(x.data() + i, rows, rows));
  return out;
}

/// Reads the forms and followers of the problem.
void read_forms(const Engine& e, const machine::InvarianceRow& row, BasisProblem& p) {
  const machine::Model& m = e.model();
  for (std::int64_t k = 0; k < row.followers; ++k) {
    const machine::FollowerRow& f = m.followers[row.first_follower + k];
    const MatrixXd linear = matrix_of(e, f.linear, p.components);
    p.followers.push_back({linear,
                           matrices_of(e, f.quadratic, linear.cols()),
                           {matrix_of(e, f.mean, p.components), matrices_of(e, f.precision, linear.cols())}});
  }
  for (std::int64_t k = 0; k < row.forms; ++k) {
    const machine::FormRow& f = m.forms[row.first_form + k];
    const Index rows = f.other < 0 ? p.components : p.followers[static_cast<std::size_t>(f.follower)].linear.cols();
    p.forms.push_back({f.first, f.second, matrix_of(e, f.moments, rows), matrix_of(e, f.coefficients, p.components),
                       f.follower, f.other});
  }
}

/// Returns the problem of the best change, from the buffers that the function of the invariance has filled.
BasisProblem problem_of(const Engine& e, const machine::InvarianceRow& row) {
  const machine::Model& m = e.model();
  BasisProblem p{static_cast<Index>(e.extent(row.components)), row.diagonal != 0, {}, {}};
  for (std::int64_t k = 0; k < row.variables; ++k) {
    const machine::TransformedRow& v = m.transformed[row.first_variable + k];
    MatrixXd quadratic = matrix_of(e, v.quadratic, p.components);
    quadratic = (quadratic + quadratic.transpose().eval()) / 2;
    p.variables.push_back({v.inverse != 0, e.reals(v.count)[0], vector_of(e, v.first),
                           matrix_of(e, v.second, p.components), vector_of(e, v.linear), std::move(quadratic)});
  }
  for (std::int64_t k = 0; k < row.scales; ++k) {
    const machine::RescaledRow& s = m.rescaled[row.first_scale + k];
    RescaledSums sums{
        vector_of(e, s.new_shape), vector_of(e, s.rest), vector_of(e, s.shape), vector_of(e, s.rate), {}, {}};
    for (std::int64_t v = 0; v < row.variables; ++v) {
      sums.linear.push_back(vector_of(e, m.statistics[s.first_part + 2 * v]));
      sums.quadratic.push_back(vector_of(e, m.statistics[s.first_part + 2 * v + 1]));
    }
    p.scales.push_back(std::move(sums));
  }
  read_forms(e, row, p);
  return p;
}

/// Transforms a parameter of all elements of a variable: a mean by the matrix, or a precision (`inverse_square`) by its
/// inverse from both sides.
void transform(const Engine& e, const MatrixXd& by, const machine::TransformedRow& v, std::int64_t buffer,
               bool inverse_square) {
  if (buffer < 0) return;
  const Index n = by.rows();
  const std::span<double> x = e.reals(buffer);
  if (v.axis >= 0) {
    // Numbers: component k has every `stride`-th place.
    const machine::BufferRow& of = e.model().buffers[buffer];
    std::size_t stride = 1;
    for (std::int64_t a = v.axis + 1; a < of.axes; ++a)
      stride *= static_cast<std::size_t>(e.extent(e.model().axes[of.first_axis + a]));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto k = static_cast<Index>(i / stride) % n;
      if (inverse_square) x[i] /= by(k, k) * by(k, k);
      else x[i] *= by(k, k);
    }
  } else if (inverse_square) {
    const MatrixXd inverse = by.inverse();
    for (std::size_t i = 0; i < x.size(); i += static_cast<std::size_t>(n * n)) {
      Eigen::Map<RowMajorMatrix> precision(x.data() + i, n, n);
      const MatrixXd now = inverse.transpose() * precision * inverse;
      precision = (now + now.transpose()) / 2;
    }
  } else {
    Eigen::Map<RowMajorMatrix> means(x.data(), static_cast<Index>(x.size()) / n, n);
    means = (means * by.transpose()).eval();
  }
}

/// Writes a good change of scales, as logarithms, and returns how much it gains at least. `curvature` has the second
/// derivatives by them, negated. With m the largest power of a scale, these grow by at most exp(m |t|) on the way to t.
/// Newton's step d is shortened to the best one for that growth: to where exp(m |t|) = 1 + m |d|.
double find_scales(const VectorXd& gradient, const VectorXd& curvature, double power, std::vector<double>& step) {
  double gain = 0;
  for (Index k = 0; k < gradient.size(); ++k) {
    const double newton = curvature[k] > 0 ? gradient[k] / curvature[k] : 0, length = power * std::abs(newton);
    const double t = std::log1p(length) / power;
    step.push_back(std::copysign(t, newton));
    gain += std::abs(gradient[k]) * t - curvature[k] * (length - power * t) / (power * power);
  }
  if (std::isfinite(gain)) return gain;
  step.clear();
  return 0;
}

}  // namespace

double Invariances::find_change(const machine::InvarianceRow& row, double least) {
  if (e_.call(row.function) != 0) return 0;
  change_ = std::make_shared<BasisChange>(best_change(problem_of(e_, row), least));
  return change_->gain;
}

double Invariances::find_shift(const machine::ShiftRow& row) {
  const Index n = static_cast<Index>(e_.extent(row.components));
  std::ranges::fill(e_.reals(row.step), 1);
  if (e_.call(row.measure) != 0) return 0;
  const VectorXd gradient = vector_of(e_, row.gradient);
  const MatrixXd curvature = matrix_of(e_, row.curvature, n);
  if (row.power > 0) return find_scales(gradient, -curvature.diagonal(), static_cast<double>(row.power), step_);
  const Eigen::LLT<MatrixXd> solver(-(curvature + curvature.transpose()) / 2);
  if (solver.info() != Eigen::Success) return 0;
  const VectorXd step = solver.solve(gradient);
  const double gain = gradient.dot(step) / 2;
  if (!std::isfinite(gain)) return 0;
  step_.assign(step.begin(), step.end());
  return gain;
}

double Invariances::find(std::int64_t index, double least) {
  const machine::Model& m = e_.model();
  change_.reset();
  step_.clear();
  if (index < m.invariance_count) return find_change(m.invariances[index], least);
  return find_shift(m.shifts[index - m.invariance_count]);
}

bool Invariances::apply(std::int64_t index) const {
  const machine::Model& m = e_.model();
  if (index >= m.invariance_count) {
    const machine::ShiftRow& row = m.shifts[index - m.invariance_count];
    std::ranges::copy(step_, e_.reals(row.step).begin());
    return e_.call(row.move) == 0 && e_.call(m.global_expectations) == 0;
  }
  const machine::InvarianceRow& row = m.invariances[index];
  for (std::int64_t k = 0; k < row.variables; ++k) {
    const machine::TransformedRow& v = m.transformed[row.first_variable + k];
    transform(e_, transform_of(change_->matrix, v.inverse != 0), v, v.mean, false);
    transform(e_, transform_of(change_->matrix, v.inverse != 0), v, v.precision, true);
  }
  for (std::int64_t k = 0; k < row.scales; ++k) {
    const machine::RescaledRow& s = m.rescaled[row.first_scale + k];
    std::ranges::copy(e_.reals(s.new_shape), e_.reals(s.shape).begin());
    std::ranges::copy(change_->rates[static_cast<std::size_t>(k)], e_.reals(s.rate).begin());
  }
  for (std::int64_t k = 0; k < row.followers; ++k) {
    const machine::FollowerRow& f = m.followers[row.first_follower + k];
    const Rows& best = change_->followers[static_cast<std::size_t>(k)];
    const std::span<double> mean = e_.reals(f.mean), precision = e_.reals(f.precision);
    const Index n = best.mean.cols();
    Eigen::Map<RowMajorMatrix>(mean.data(), best.mean.rows(), n) = best.mean;
    for (std::size_t i = 0; i < best.precision.size(); ++i)
      Eigen::Map<RowMajorMatrix>(precision.data() + i * static_cast<std::size_t>(n * n), n, n) = best.precision[i];
  }
  return e_.call(m.global_expectations) == 0;
}

bool Invariances::try_change(const Elbo& elbo, double least) {
  if (!wanted_ || wait_-- > 0) return false;
  wait_ = 0;
  const machine::Model& m = e_.model();
  const std::int64_t all = m.invariance_count + m.shift_count;
  for (std::int64_t k = 0; k < all; ++k) {
    const std::int64_t index = (next_ + k) % all;
    const double gain = e_.recorded([&] { return find(index, least); });
    if (!(gain > least)) continue;
    gain_ = gain;
    next_ = (index + 1) % all;
    before_ = e_.snapshot_state();
    elbo_ = elbo;
    shifted_ = index >= m.invariance_count;
    const bool changed = e_.recorded([&] {
      if (!change_ && step_.empty()) find(index, least);  // a replay ended here
      return apply(index);
    });
    if (!changed) withdraw();
    return changed;
  }
  return false;
}

void Invariances::withdraw() { e_.revert(before_); }

bool Invariances::accept_or_undo(bool succeeded, Elbo& elbo) {
  Attempts& tried = shifted_ ? shifts_ : basis_changes_;
  if (succeeded && elbo.value >= elbo_.value) {
    ++tried.accepted;
    pause_ = 1;
    e_.drop(before_);
    return true;
  }
  ++tried.refused;
  wait_ = pause_;
  pause_ *= 2;
  withdraw();
  elbo = elbo_;
  return false;
}

}  // namespace lehr
