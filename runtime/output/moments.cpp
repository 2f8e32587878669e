// One function a kind of factor; the kind is decided by which parameters there are.
#include "runtime/output/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace lehr {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Shape = std::vector<std::int64_t>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::size_t size_of(const Shape& shape) {
  std::size_t n = 1;
  for (const std::int64_t d : shape)
    n *= static_cast<std::size_t>(d);
  return n;
}

/// Moments of that shape, the last `event_rank` axes being the event; zeros.
Moments shaped(const Shape& shape, std::size_t event_rank) {
  Moments m;
  const auto split = shape.end() - static_cast<std::ptrdiff_t>(event_rank);
  m.elements.assign(shape.begin(), split);
  m.event.assign(split, shape.end());
  m.mean.assign(size_of(shape), 0.0);
  m.sd = m.mean;
  return m;
}

/// Vectors over the last axis of `a`, and a square matrix for each of them in `b`.
bool vectors_and_matrices(const NpyArray& a, const NpyArray& b) {
  if (a.shape.empty() || b.shape.size() != a.shape.size() + 1 || b.shape.back() != a.shape.back())
    return false;
  return std::equal(a.shape.begin(), a.shape.end(), b.shape.begin());
}

/// The diagonal of the inverse of the d x d matrix at `x`; infinite unless it is positive definite.
Eigen::VectorXd inverse_diagonal(const double* x, std::size_t d) {
  const auto n = static_cast<Eigen::Index>(d);
  const Eigen::LLT<Matrix> factor(Eigen::Map<const Matrix>(x, n, n));
  if (factor.info() != Eigen::Success) return Eigen::VectorXd::Constant(n, kInfinite);
  return factor.solve(Matrix::Identity(n, n)).diagonal();
}

std::optional<Moments> simplex(const NpyArray& a, bool dirichlet) {
  if (a.shape.empty() || a.shape.back() <= 0) return std::nullopt;
  Moments m = shaped(a.shape, 1);
  m.simplex = true;
  const auto k = static_cast<std::size_t>(a.shape.back());
  if (!dirichlet) {
    m.mean = a.values;
    m.sd.clear();
    return m;
  }
  for (std::size_t e = 0; e < a.values.size(); e += k) {
    double total = 0;
    for (std::size_t i = e; i < e + k; ++i)
      total += a.values[i];
    for (std::size_t i = e; i < e + k; ++i) {
      m.mean[i] = a.values[i] / total;
      m.sd[i] = std::sqrt(m.mean[i] * (1 - m.mean[i]) / (total + 1));
    }
    m.total.push_back(total);
  }
  return m;
}

/// Normal and MvNormal by mean and precision.
std::optional<Moments> normal(const NpyArray& mean, const NpyArray& precision) {
  const bool vectors = vectors_and_matrices(mean, precision);
  if (!vectors && mean.shape != precision.shape) return std::nullopt;
  Moments m = shaped(mean.shape, vectors ? 1 : 0);
  m.mean = mean.values;
  const std::size_t d = vectors ? static_cast<std::size_t>(mean.shape.back()) : 1;
  for (std::size_t e = 0; e + d <= m.mean.size(); e += d) {
    if (!vectors) {
      m.sd[e] = 1 / std::sqrt(precision.values[e]);
      continue;
    }
    const Eigen::VectorXd variance = inverse_diagonal(&precision.values[e * d], d);
    for (std::size_t i = 0; i < d; ++i)
      m.sd[e + i] = std::sqrt(variance[static_cast<Eigen::Index>(i)]);
  }
  return m;
}

/// The mean of a NormalGamma or NormalWishart factor: Student's t once the precision is integrated out.
std::optional<Moments> joint_mean(const NpyArray& mean, const NpyArray& precision_scale,
                                  const SavedVariable* partner) {
  const std::size_t rank = mean.shape.size(), elements = precision_scale.shape.size();
  if (rank < elements || rank > elements + 1) return std::nullopt;
  Moments m = shaped(mean.shape, rank - elements);
  m.mean = mean.values;
  if (precision_scale.values.size() != size_of(m.elements)) return std::nullopt;
  const NpyArray* shape = partner ? partner->find("shape") : nullptr;
  const NpyArray* rate = partner ? partner->find("rate") : nullptr;
  const NpyArray* df = partner ? partner->find("df") : nullptr;
  const NpyArray* scale = partner ? partner->find("scale") : nullptr;
  const std::size_t n = precision_scale.values.size();
  if (m.event.empty() && shape && rate && shape->values.size() == n && rate->values.size() == n) {
    // E[1 / tau] = rate / (shape - 1)
    for (std::size_t e = 0; e < n; ++e) {
      const double a = shape->values[e];
      m.sd[e] = a > 1 ? std::sqrt(rate->values[e] / ((a - 1) * precision_scale.values[e])) : kInfinite;
    }
    return m;
  }
  if (!m.event.empty() && df && scale && df->values.size() == n && vectors_and_matrices(mean, *scale)) {
    // E[Lambda^-1] = scale^-1 / (df - d - 1)
    const auto d = static_cast<std::size_t>(m.event[0]);
    for (std::size_t e = 0; e < n; ++e) {
      const Eigen::VectorXd inverse = inverse_diagonal(&scale->values[e * d * d], d);
      const double freedom = df->values[e] - static_cast<double>(d) - 1;
      for (std::size_t i = 0; i < d; ++i) {
        m.sd[e * d + i] =
            freedom > 0
                ? std::sqrt(inverse[static_cast<Eigen::Index>(i)] / (freedom * precision_scale.values[e]))
                : kInfinite;
      }
    }
    return m;
  }
  m.sd.clear();
  return m;
}

/// Mean df * V, variance df * (V_ij^2 + V_ii V_jj).
std::optional<Moments> wishart(const NpyArray& df, const NpyArray& scale) {
  if (scale.shape.size() != df.shape.size() + 2 || scale.shape.back() != scale.shape[df.shape.size()])
    return std::nullopt;
  if (!std::equal(df.shape.begin(), df.shape.end(), scale.shape.begin())) return std::nullopt;
  Moments m = shaped(scale.shape, 2);
  const auto d = static_cast<std::size_t>(scale.shape.back());
  for (std::size_t e = 0; e < df.values.size(); ++e) {
    const double* v = &scale.values[e * d * d];
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j) {
        const double vij = v[i * d + j];
        m.mean[e * d * d + i * d + j] = df.values[e] * vij;
        m.sd[e * d * d + i * d + j] = std::sqrt(df.values[e] * (vij * vij + v[i * d + i] * v[j * d + j]));
      }
    }
  }
  return m;
}

/// Numbers with two parameters: `f(a, b)` is the pair of mean and sd.
template <class F>
std::optional<Moments> numbers(const NpyArray& a, const NpyArray& b, F f) {
  if (a.shape != b.shape) return std::nullopt;
  Moments m = shaped(a.shape, 0);
  for (std::size_t e = 0; e < a.values.size(); ++e)
    std::tie(m.mean[e], m.sd[e]) = f(a.values[e], b.values[e]);
  return m;
}

std::pair<double, double> gamma(double shape, double rate) { return {shape / rate, std::sqrt(shape) / rate}; }

std::pair<double, double> inverse_gamma(double shape, double scale) {
  const double mean = shape > 1 ? scale / (shape - 1) : kInfinite;
  return {mean, shape > 2 ? mean / std::sqrt(shape - 2) : kInfinite};
}

std::pair<double, double> beta(double a, double b) {
  const double mean = a / (a + b);
  return {mean, std::sqrt(mean * (1 - mean) / (a + b + 1))};
}

}  // namespace

std::optional<Moments> moments(const SavedVariable& v, const SavedVariable* joint) {
  const auto get = [&](const char* name) { return v.find(name); };
  for (const NpyArray& a : v.parameters) {
    if (a.values.size() != size_of(a.shape)) return std::nullopt;
  }
  if (const NpyArray* c = get("concentration")) return simplex(*c, true);
  if (const NpyArray* p = get("probs")) return simplex(*p, false);
  const NpyArray *mean = get("mean"), *shape = get("shape"), *scale = get("scale");
  if (mean && get("precision")) return normal(*mean, *get("precision"));
  if (mean && get("precision_scale")) return joint_mean(*mean, *get("precision_scale"), joint);
  if (get("df") && scale) return wishart(*get("df"), *scale);
  if (shape && get("rate")) return numbers(*shape, *get("rate"), gamma);
  if (shape && scale) return numbers(*shape, *scale, inverse_gamma);
  if (get("a") && get("b")) return numbers(*get("a"), *get("b"), beta);
  const NpyArray* single = v.parameters.size() == 1 ? (mean ? mean : get("p") ? get("p") : get("value")) : nullptr;
  if (!single) return std::nullopt;
  // The mean of a spin, the probability of a one, a point.
  Moments m = shaped(single->shape, 0);
  m.mean = single->values;
  m.sd.clear();
  return m;
}

}  // namespace lehr
