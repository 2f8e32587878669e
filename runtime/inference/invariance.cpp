// Reads the sums of an invariance from the buffers of generated code, and applies a change of basis to the factors.
#include "runtime/inference/invariance.h"

#include <Eigen/LU>

#include <algorithm>
#include <utility>

#include "runtime/inference/change_of_basis.h"

namespace lehr {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Returns the numbers of a buffer; none if there is no buffer.
VectorXd vector_of(const Engine& e, std::int64_t buffer) {
  if (buffer < 0) return {};
  const std::span<const double> x = e.reals(buffer);
  return Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size()));
}

/// Returns the numbers of a buffer as a square matrix; an empty one if there is no buffer.
MatrixXd matrix_of(const Engine& e, std::int64_t buffer, Index rows) {
  if (buffer < 0) return {};
  return Eigen::Map<const Rows>(e.reals(buffer).data(), rows, rows);
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
                           matrix_of(e, v.second, p.components), vector_of(e, v.linear), vector_of(e, v.log),
                           std::move(quadratic)});
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
      Eigen::Map<Rows> precision(x.data() + i, n, n);
      const MatrixXd now = inverse.transpose() * precision * inverse;
      precision = (now + now.transpose()) / 2;
    }
  } else {
    Eigen::Map<Rows> means(x.data(), static_cast<Index>(x.size()) / n, n);
    means = (means * by.transpose()).eval();
  }
}

}  // namespace

double Invariances::find(const machine::InvarianceRow& row, double least) {
  change_.reset();
  if (e_.call(row.function) != 0) return 0;
  change_ = std::make_shared<BasisChange>(best_change(problem_of(e_, row), least));
  return change_->gain;
}

bool Invariances::apply(const machine::InvarianceRow& row) const {
  const machine::Model& m = e_.model();
  for (std::int64_t k = 0; k < row.variables; ++k) {
    const machine::TransformedRow& v = m.transformed[row.first_variable + k];
    transform(e_, transform_of(change_->matrix, v.inverse != 0), v, v.mean, false);
    transform(e_, transform_of(change_->matrix, v.inverse != 0), v, v.precision, true);
    transform(e_, transform_of(change_->matrix, v.inverse == 0), v, v.rate, false);
  }
  for (std::int64_t k = 0; k < row.scales; ++k) {
    const machine::RescaledRow& s = m.rescaled[row.first_scale + k];
    std::ranges::copy(e_.reals(s.new_shape), e_.reals(s.shape).begin());
    std::ranges::copy(change_->rates[static_cast<std::size_t>(k)], e_.reals(s.rate).begin());
  }
  return e_.call(m.global_expectations) == 0;
}

bool Invariances::try_change(const Elbo& elbo, double least) {
  if (!wanted_ || wait_-- > 0) return false;
  wait_ = 0;
  const machine::Model& m = e_.model();
  for (std::int64_t k = 0; k < m.invariance_count; ++k) {
    const machine::InvarianceRow& row = m.invariances[(next_ + k) % m.invariance_count];
    const double gain = e_.recorded([&] { return find(row, least); });
    if (!(gain > least)) continue;
    gain_ = gain;
    next_ = (next_ + k + 1) % m.invariance_count;
    before_ = e_.snapshot_state();
    elbo_ = elbo;
    const bool changed = e_.recorded([&] {
      if (!change_) find(row, least);  // a replay ended here
      return apply(row);
    });
    if (!changed) e_.load(before_);
    return changed;
  }
  return false;
}

bool Invariances::accept_or_undo(bool succeeded, Elbo& elbo) {
  if (succeeded && elbo.value >= elbo_.value) {
    ++count_.accepted;
    pause_ = 1;
    before_.reset();
    return true;
  }
  ++count_.refused;
  wait_ = pause_;
  pause_ *= 2;
  e_.load(before_);
  before_.reset();
  elbo = elbo_;
  return false;
}

}  // namespace lehr
