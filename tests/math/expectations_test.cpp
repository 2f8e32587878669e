// Expectations of links under a Normal predictor: the coefficients of the tangent planes against quadrature, and the
// point against the moments that the naturals carry.
#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <numbers>

#include "compiler/math/evaluate.h"
#include "compiler/math/families/bounds.h"
#include "compiler/math/special.h"

using namespace lehr;
using namespace lehr::math;

namespace {

/// Returns E[f(e)] of e ~ N(m, v), by the trapezoidal rule with many nodes.
double expectation(const std::function<double(double)>& f, double m, double v) {
  constexpr int kNodes = 40001;
  constexpr double kFarthest = 10;
  double sum = 0, total = 0;
  for (int k = 0; k < kNodes; ++k) {
    const double z = kFarthest * (2.0 * k / (kNodes - 1) - 1), weight = std::exp(-0.5 * z * z);
    sum += weight * f(m + std::sqrt(v) * z);
    total += weight;
  }
  return sum / total;
}

/// The value of an expectation at a point, and its derivatives by the mean and the variance.
struct Plane {
  double value, slope, falling;
};

/// Returns these from the statistics of the row.
Plane plane_at(const FamilyRow& row, double m, double v) {
  const Environment point{1, {{"value", {0, {m}}}, {"variance", {0, {v}}}}};
  std::map<Stat, double> s;
  for (const StatisticRow& x : row.factor->statistics)
    s[x.stat] = evaluate(x.expectation, point);
  return {s.at(Stat::offset) + s.at(Stat::tangent) * m - s.at(Stat::curvature) * (m * m + v),
          s.at(Stat::tangent) - 2 * s.at(Stat::curvature) * m, -s.at(Stat::curvature)};
}

/// Checks value and derivatives against quadrature of f, f' and f'' / 2, relative to 1 + their size.
void check(const FamilyRow& row, double m, double v, double tolerance, const std::function<double(double)>& f,
           const std::function<double(double)>& first, const std::function<double(double)>& second) {
  INFO(row.name << " at " << m << ", variance " << v);
  const Plane plane = plane_at(row, m, v);
  const auto near = [&](double got, double expected) {
    CHECK(std::abs(got - expected) <= tolerance * (1 + std::abs(expected)));
  };
  near(plane.value, expectation(f, m, v));
  near(plane.slope, expectation(first, m, v));
  near(plane.falling, 0.5 * expectation(second, m, v));
}

double hazard(double x) { return std::exp(-0.5 * x * x - 0.5 * std::log(2 * std::numbers::pi) - log_tail_value(-x)); }

}  // namespace

TEST_CASE("planes of expectations have the value and the derivatives of the expectation") {
  for (const double m : {-30.0, -6.0, -1.5, 0.0, 0.3, 4.0, 25.0}) {
    for (const double v : {0.0, 0.01, 0.5, 4.0, 100.0, 900.0}) {
      check(
          logistic_expectation(), m, v, 1e-7,
          [](double x) { return x > 0 ? -x - std::log1p(std::exp(-x)) : -std::log1p(std::exp(x)); },
          [](double x) { return -1 / (1 + std::exp(-x)); },
          [](double x) { return -1 / (2 + std::exp(x) + std::exp(-x)); });
      // The error of the rule grows with the standard deviation.
      const double tolerance = v <= 4 ? 1e-7 : 0.02;
      check(
          probit_expectation(), m, v, tolerance, [](double x) { return log_tail_value(-x); }, hazard,
          [](double x) { return -hazard(x) * (x + hazard(x)); });
      if (v > 10) continue;
      const auto f = [](double x) { return -std::exp(x); };
      check(exp_expectation(), m, v, 1e-12, f, f, f);
    }
  }
}

TEST_CASE("the points of expectations are the mean and the variance of the predictor") {
  for (const FamilyRow* row : {&logistic_expectation(), &probit_expectation(), &exp_expectation()}) {
    const auto point = [&](double weight, double mean, double square) {
      return parameters_from_natural(*row->factor, {1,
                                                    {{natural_name(Stat::tangent), {0, {weight * mean}}},
                                                     {natural_name(Stat::curvature), {0, {-weight * square}}},
                                                     {natural_name(Stat::offset), {0, {weight}}}}});
    };
    for (const double weight : {1.0, 0.25, 40.0}) {
      const auto at = point(weight, 1.5, 3.25);
      CHECK(at.at("value").values[0] == Approx(1.5).epsilon(1e-14));
      CHECK(at.at("variance").values[0] == Approx(1.0).epsilon(1e-14));
      CHECK(point(weight, 1.5, 2.25 - 1e-12).at("variance").values[0] == 0);
    }
    const auto nothing = point(0, 1, 1);
    CHECK(nothing.at("value").values[0] == 0);
    CHECK(nothing.at("variance").values[0] == 0);
  }
}

TEST_CASE("planes of exponentials are finite at any predictor, and their value is impossible beyond every count") {
  const Factor& f = *exp_expectation().factor;
  for (const double mean : {1e6, 350.0, 20.0, -1e6}) {
    for (const double variance : {0.0, 1e6}) {
      const double square = mean * mean + variance;
      const Environment natural{1,
                                {{natural_name(Stat::tangent), {0, {mean}}},
                                 {natural_name(Stat::curvature), {0, {-square}}},
                                 {natural_name(Stat::offset), {0, {1}}}}};
      const Environment point{1, parameters_from_natural(f, natural)};
      const bool beyond = mean + variance / 2 > 299;
      for (const StatisticRow& x : f.statistics) {
        const double value = evaluate(x.expectation, point);
        CHECK(std::isfinite(value));
        CHECK((value < -1e200) == (beyond && x.stat == Stat::offset));
      }
    }
  }
}
