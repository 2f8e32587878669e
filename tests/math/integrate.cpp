// See integrate.h. The unconstrained coordinates u are: real x = sinh u; positive x = exp u; x in (0, 1) = logistic u;
// simplex by stick breaking; positive definite X = L L' with exp u on the diagonal of L and sinh u below.
#include "tests/math/integrate.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "tests/math/samples.h"

namespace lehr::math::test {

namespace {

using Integrand = std::function<Eigen::ArrayXd(const Environment&)>;

double logistic(double u) { return 1.0 / (1.0 + std::exp(-u)); }

std::size_t dimension(Support s, std::size_t extent) {
  switch (s) {
    case Support::simplex:
      return extent - 1;
    case Support::vector:
      return extent;
    case Support::spd_matrix:
      return extent * (extent + 1) / 2;
    default:
      return 1;
  }
}

/// Appends x at the coordinates u to `x`. Returns log |dx/du|.
double place(Support s, std::size_t extent, const double* u, std::vector<double>& x) {
  double log_volume = 0.0;
  switch (s) {
    case Support::positive:
      x.push_back(std::exp(*u));
      return *u;
    case Support::unit:
      x.push_back(logistic(*u));
      if (std::abs(*u) > 36.0) return -HUGE_VAL;  // x would round to 1
      return std::log(logistic(*u)) + std::log(logistic(-*u));
    case Support::simplex: {
      double rest = 1.0;
      for (std::size_t j = 0; j + 1 < extent; ++j) {
        const double v = logistic(u[j]);
        log_volume += std::log(v) + std::log(logistic(-u[j])) + std::log(rest);
        x.push_back(v * rest);
        rest *= logistic(-u[j]);
      }
      x.push_back(rest);
      return log_volume;
    }
    case Support::spd_matrix: {
      const auto n = static_cast<Eigen::Index>(extent);
      Eigen::MatrixXd lower = Eigen::MatrixXd::Zero(n, n);
      log_volume = static_cast<double>(extent) * std::log(2.0);
      for (Eigen::Index j = 0; j < n; ++j) {
        for (Eigen::Index l = 0; l < j; ++l, ++u) {
          lower(j, l) = std::sinh(*u);
          log_volume += std::log(std::cosh(*u));
        }
        lower(j, j) = std::exp(*u);
        log_volume += static_cast<double>(n - j + 1) * *u++;
      }
      const Eigen::MatrixXd m = lower * lower.transpose();
      x.insert(x.end(), m.data(), m.data() + m.size());
      return log_volume;
    }
    default:
      for (std::size_t j = 0; j < dimension(s, extent); ++j) {
        x.push_back(std::sinh(u[j]));
        log_volume += std::log(std::cosh(u[j]));
      }
      return log_volume;
  }
}

void unplace(Support s, std::size_t extent, const double* x, std::vector<double>& u) {
  switch (s) {
    case Support::positive:
      u.push_back(std::log(*x));
      return;
    case Support::unit:
      u.push_back(std::log(*x) - std::log1p(-*x));
      return;
    case Support::simplex: {
      double rest = 1.0;
      for (std::size_t j = 0; j + 1 < extent; ++j) {
        u.push_back(std::log(x[j] / (rest - x[j])));
        rest -= x[j];
      }
      return;
    }
    case Support::spd_matrix: {
      const auto n = static_cast<Eigen::Index>(extent);
      const Eigen::MatrixXd m = Eigen::Map<const Eigen::MatrixXd>(x, n, n);
      const Eigen::MatrixXd lower = m.llt().matrixL();
      for (Eigen::Index j = 0; j < n; ++j) {
        for (Eigen::Index l = 0; l < j; ++l)
          u.push_back(std::asinh(lower(j, l)));
        u.push_back(std::log(lower(j, j)));
      }
      return;
    }
    default:
      for (std::size_t j = 0; j < dimension(s, extent); ++j)
        u.push_back(std::asinh(x[j]));
  }
}

/// The weighted integrand as a function of the unconstrained coordinates.
class Pullback {
 public:
  Pullback(const FamilyRow& row, const Environment& parameters, double temperature, const Integrand& g)
      : row_(row), environment_(parameters), temperature_(temperature), g_(g) {
    environment_.symbols["x"].rank = event_rank(row.support);
    if (row.joint_precision) environment_.symbols["x_precision"].rank = event_rank(*row.joint_precision);
  }

  std::size_t dimensions() const {
    return dimension(row_.support, environment_.extent) +
           (row_.joint_precision ? dimension(*row_.joint_precision, environment_.extent) : 0);
  }

  /// Returns an empty array if the weight is 0.
  Eigen::ArrayXd operator()(const double* u) {
    Quantity& x = environment_.symbols["x"];
    x.values.clear();
    double log_volume = place(row_.support, environment_.extent, u, x.values);
    if (row_.joint_precision) {
      Quantity& precision = environment_.symbols["x_precision"];
      precision.values.clear();
      u += dimension(row_.support, environment_.extent);
      log_volume += place(*row_.joint_precision, environment_.extent, u, precision.values);
    }
    if (log_volume == -HUGE_VAL) return {};
    const double weight = std::exp(evaluate(row_.log_density, environment_) / temperature_ + log_volume);
    if (!(weight > 0.0)) return {};
    return weight * g_(environment_);
  }

 private:
  const FamilyRow& row_;
  Environment environment_;
  double temperature_;
  const Integrand& g_;
};

struct Box {
  Eigen::VectorXd centre;
  Eigen::MatrixXd covariance;
};

Box locate(const FamilyRow& row, const Environment& parameters, std::size_t dimensions) {
  constexpr Eigen::Index kDraws = 2000;
  Rng rng(7);
  Eigen::MatrixXd points(static_cast<Eigen::Index>(dimensions), kDraws);
  for (Eigen::Index i = 0; i < kDraws; ++i) {
    const auto value = draw_value(row, parameters, rng);
    std::vector<double> u;
    unplace(row.support, parameters.extent, value.at("x").values.data(), u);
    if (row.joint_precision) unplace(*row.joint_precision, parameters.extent, value.at("x_precision").values.data(), u);
    points.col(i) = Eigen::Map<const Eigen::VectorXd>(u.data(), points.rows());
  }
  Box box;
  box.centre = points.rowwise().mean();
  const Eigen::MatrixXd centred = points.colwise() - box.centre;
  box.covariance = centred * centred.transpose() / static_cast<double>(kDraws);
  return box;
}

/// A sum of arrays of equal size; an empty array stands for zeros.
struct Sum {
  Eigen::ArrayXd values;
  void add(const Eigen::ArrayXd& more) {
    if (more.size() == 0) return;
    if (values.size() == 0) values = Eigen::ArrayXd::Zero(more.size());
    values += more;
  }
};

Eigen::ArrayXd grid_sum(Pullback& f, const Box& box, double widening, std::size_t dimensions) {
  const int points = dimensions == 1 ? 6000 : dimensions == 2 ? 240 : 54;
  const double half_width = (dimensions == 1 ? 60.0 : dimensions == 2 ? 13.0 : 9.0) * widening;
  std::vector<double> u(dimensions), step(dimensions);
  double cell = 1.0;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const auto e = static_cast<Eigen::Index>(d);
    step[d] = 2.0 * half_width * std::sqrt(box.covariance(e, e)) / (points - 1);
    cell *= step[d];
  }
  std::vector<int> at(dimensions, 0);
  Sum total;
  for (bool more = true; more;) {
    for (std::size_t d = 0; d < dimensions; ++d)
      u[d] = box.centre[static_cast<Eigen::Index>(d)] + step[d] * (at[d] - 0.5 * (points - 1));
    total.add(f(u.data()));
    more = false;
    for (std::size_t d = 0; d < dimensions && !more; ++d) {
      more = ++at[d] < points;
      if (!more) at[d] = 0;
    }
  }
  return total.values * cell;
}

/// Importance sampling from a multivariate t with 5 degrees of freedom.
std::vector<Estimate> importance(Pullback& f, const Box& box, double widening, std::size_t dimensions) {
  constexpr int kDraws = 60000;
  constexpr double kFreedom = 5.0;
  const auto n = static_cast<Eigen::Index>(dimensions);
  const double d = static_cast<double>(dimensions);
  const Eigen::MatrixXd lower = Eigen::MatrixXd(1.2 * widening * widening * box.covariance).llt().matrixL();
  const double log_constant = std::lgamma(0.5 * (kFreedom + d)) - std::lgamma(0.5 * kFreedom) -
                              0.5 * d * std::log(kFreedom * M_PI) - lower.diagonal().array().log().sum();
  Rng rng(11);
  Sum total, squares;
  for (int i = 0; i < kDraws; ++i) {
    Eigen::VectorXd z(n);
    for (double& v : z)
      v = draw_normal(rng);
    z /= std::sqrt(2.0 * draw_gamma(rng, 0.5 * kFreedom) / kFreedom);
    const Eigen::VectorXd u = box.centre + lower * z;
    const double log_proposal = log_constant - 0.5 * (kFreedom + d) * std::log1p(z.squaredNorm() / kFreedom);
    const Eigen::ArrayXd weighted = f(u.data()) * std::exp(-log_proposal);
    total.add(weighted);
    squares.add(weighted.square());
  }
  std::vector<Estimate> out;
  for (Eigen::Index k = 0; k < total.values.size(); ++k) {
    const double mean = total.values[k] / kDraws;
    out.push_back({mean, std::sqrt((squares.values[k] / kDraws - mean * mean) / kDraws)});
  }
  return out;
}

/// Calls f with every x of a discrete support (counts: up to 600; vectors of counts: those whose sum is n).
void enumerate(const FamilyRow& row, const Environment& parameters, const std::function<void(std::vector<double>)>& f) {
  const auto up_to = [&](double first, double last, double step) {
    for (double x = first; x <= last; x += step)
      f({x});
  };
  if (row.support == Support::bit) return up_to(0, 1, 1);
  if (row.support == Support::spin) return up_to(-1, 1, 2);
  if (row.support == Support::category) return up_to(0, static_cast<double>(parameters.extent) - 1, 1);
  if (row.support == Support::count) return up_to(0, 600, 1);
  std::vector<double> x(parameters.extent, 0.0);
  const std::function<void(std::size_t, double)> fill = [&](std::size_t j, double left) {
    if (j + 1 == x.size()) {
      x[j] = left;
      return f(x);
    }
    for (x[j] = 0.0; x[j] <= left; x[j] += 1.0)
      fill(j + 1, left - x[j]);
  };
  fill(0, parameters.symbols.at("n").values[0]);
}

bool is_countable(Support s) { return is_discrete(s) || s == Support::count || s == Support::counts; }

}  // namespace

std::vector<Estimate> integrate_all(const FamilyRow& row, const Environment& parameters, double temperature,
                                    const Integrand& g) {
  std::vector<Estimate> out;
  if (is_countable(row.support)) {
    Environment environment = parameters;
    Sum total;
    enumerate(row, parameters, [&](std::vector<double> x) {
      environment.symbols["x"] = {event_rank(row.support), std::move(x)};
      const double weight = std::exp(evaluate(row.log_density, environment) / temperature);
      if (weight > 0.0) total.add(weight * g(environment));
    });
    for (const double value : total.values)
      out.push_back({value, 1e-10});
    return out;
  }
  Pullback f(row, parameters, temperature, g);
  const std::size_t dimensions = f.dimensions();
  const Box box = locate(row, parameters, dimensions);
  const double widening = std::sqrt(std::max(1.0, temperature));
  if (dimensions > 3) return importance(f, box, widening, dimensions);
  for (const double value : grid_sum(f, box, widening, dimensions))
    out.push_back({value, (dimensions == 3 ? 1e-5 : 1e-8) * std::max(1.0, std::abs(value))});
  return out;
}

Estimate integrate(const FamilyRow& row, const Environment& parameters, double temperature,
                   const std::function<double(const Environment&)>& g) {
  return integrate_all(row, parameters, temperature,
                       [&](const Environment& e) { return Eigen::ArrayXd::Constant(1, g(e)).eval(); })[0];
}

}  // namespace lehr::math::test
