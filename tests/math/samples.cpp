// Parameters, draws and statistics of families for tests; see samples.h.
#include "tests/math/samples.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace lehr::math::test {

namespace {

Eigen::Map<const Eigen::MatrixXd> symmetric(const Quantity& q, std::size_t extent) {
  const auto n = static_cast<Eigen::Index>(extent);
  return {q.values.data(), n, n};
}

double sample_scalar(const std::string& name, Support domain, int set, std::size_t extent, Rng& rng) {
  const double u = draw_uniform(rng);
  const double positive = set == 0 ? 1.2 + 2.0 * u : 0.8 + 0.3 * u;
  if (name == "mean" && domain == Support::real) return 2.0 * u - 1.0;
  if (name == "p") return 0.25 + 0.5 * u;
  if (name == "n") return 4.0 + std::floor(4.0 * u);
  if (name == "df") return static_cast<double>(extent) + positive;
  return positive;
}

Quantity sample_quantity(const DensityParameter& parameter, Support domain, int set, std::size_t extent, Rng& rng) {
  Quantity q{parameter.event_rank, {}};
  if (parameter.event_rank == 2) {
    const auto n = static_cast<Eigen::Index>(extent);
    Eigen::MatrixXd a(n, n);
    for (double& v : a.reshaped())
      v = 0.6 * draw_normal(rng);
    const Eigen::MatrixXd m = a * a.transpose() + Eigen::MatrixXd::Identity(n, n);
    q.values.assign(m.data(), m.data() + m.size());
    return q;
  }
  const std::size_t size = parameter.event_rank == 1 ? extent : 1;
  for (std::size_t j = 0; j < size; ++j)
    q.values.push_back(sample_scalar(parameter.name, domain, set, extent, rng));
  if (parameter.name == "p" && parameter.event_rank == 1) {
    double total = 0.0;
    for (double v : q.values)
      total += v;
    for (double& v : q.values)
      v /= total;
  }
  return q;
}

}  // namespace

std::size_t test_extent(const FamilyRow& row) {
  int rank = std::max(event_rank(row.support), row.joint_precision ? event_rank(*row.joint_precision) : 0);
  bool vector_parameter = row.support == Support::category;
  for (const DensityParameter& p : density_parameters(row)) {
    rank = std::max(rank, p.event_rank);
    vector_parameter = vector_parameter || p.event_rank == 1;
  }
  return rank == 2 ? 2 : rank == 1 || vector_parameter ? 3 : 1;
}

Environment sample_parameters(const FamilyRow& row, int set) {
  Rng rng(static_cast<std::uint64_t>(1000 + set));
  Environment environment{test_extent(row), {}};
  for (const DensityParameter& p : density_parameters(row)) {
    const auto spelling = std::ranges::find(row.spellings, p.name, &Spelling::name);
    const Support domain = spelling == row.spellings.end() ? Support::real : spelling->domain;
    environment.symbols[p.name] = sample_quantity(p, domain, set, environment.extent, rng);
  }
  return environment;
}

std::map<std::string, Quantity> as_value(const FamilyRow& row, std::vector<double> values, std::size_t extent) {
  const int rank = event_rank(row.support);
  if (!row.joint_precision) return {{"x", {rank, std::move(values)}}};
  const auto split = values.begin() + static_cast<std::ptrdiff_t>(rank == 0 ? 1 : extent);
  return {{"x", {rank, {values.begin(), split}}},
          {"x_precision", {event_rank(*row.joint_precision), {split, values.end()}}}};
}

std::map<std::string, Quantity> draw_value(const FamilyRow& row, const Environment& parameters, Rng& rng) {
  return as_value(row, row.draw(flatten_parameters(row, parameters), parameters.extent, rng), parameters.extent);
}

std::vector<double> statistic(Stat stat, const std::map<std::string, Quantity>& value, std::size_t extent) {
  const Quantity& mean = value.at("x");
  const bool joint = value.contains("x_precision");
  const Quantity& x = joint ? value.at("x_precision") : mean;
  const auto map_of = [](const Quantity& q, auto f) {
    std::vector<double> result;
    for (double v : q.values)
      result.push_back(f(v));
    return result;
  };
  switch (stat) {
    case Stat::value:
      return x.values;
    case Stat::square:
      return {x.values[0] * x.values[0]};
    case Stat::log:
      return {std::log(x.values[0])};
    case Stat::inverse:
      return {1.0 / x.values[0]};
    case Stat::log_gap:
      return {std::log(-std::expm1(-x.values[0]))};
    case Stat::complement:
      return {1.0 - x.values[0]};
    case Stat::log1m:
      return {std::log1p(-x.values[0])};
    case Stat::inverse_square:
      return {1.0 / (x.values[0] * x.values[0])};
    case Stat::inverse_entry: {
      const Eigen::MatrixXd inverse = symmetric(x, extent).inverse();
      return {inverse.data(), inverse.data() + inverse.size()};
    }
    case Stat::indicator: {
      std::vector<double> one_hot(extent, 0.0);
      one_hot.at(static_cast<std::size_t>(x.values[0])) = 1.0;
      return one_hot;
    }
    case Stat::log_comp:
      return map_of(x, [](double v) { return std::log(v); });
    case Stat::comp:
      return x.values;
    case Stat::comp2: {
      std::vector<double> products;
      for (double a : x.values) {
        for (double b : x.values)
          products.push_back(a * b);
      }
      return products;
    }
    case Stat::entry:
      return x.values;
    case Stat::logdet:
      return {std::log(symmetric(x, extent).determinant())};
    case Stat::weighted:
    case Stat::weighted_square: {
      const Eigen::Map<const Eigen::VectorXd> m(mean.values.data(), static_cast<Eigen::Index>(mean.values.size()));
      const Eigen::VectorXd weighted = x.rank == 0 ? Eigen::VectorXd(x.values[0] * m) : symmetric(x, extent) * m;
      if (stat == Stat::weighted_square) return {m.dot(weighted)};
      return {weighted.data(), weighted.data() + weighted.size()};
    }
    case Stat::log_gamma:
    case Stat::value_log:
    case Stat::tangent:
    case Stat::curvature:
    case Stat::offset:
    case Stat::weighted2:
    case Stat::switched:
    case Stat::switched_square:
    case Stat::above:
    case Stat::below:
    case Stat::lower:
    case Stat::upper:
    case Stat::slope:
      break;  // of no row in the table
  }
  return {};
}

}  // namespace lehr::math::test
