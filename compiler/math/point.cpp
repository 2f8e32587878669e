// Point factors: all mass at the mode of the factor that the natural parameters describe (EM, MAP).
#include <map>

#include "compiler/math/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

/// Added to an argument of a logarithm that may be 0 at a point on the boundary: a probability that is never
/// used.
constexpr double kTiny = 1e-300;

Expr component(Support s) {
  switch (event_rank(s)) {
    case 1:
      return symbol("value", kFirst);
    case 2:
      return symbol("value", kFirst, kSecond);
    default:
      return symbol("value");
  }
}

Expr statistic_at_value(Stat s, Support support) {
  const Expr x = component(support);
  switch (s) {
    case Stat::square:
      return square(x);
    case Stat::log:
    case Stat::log_comp:
      return log(x + kTiny);
    case Stat::inverse:
      return reciprocal(x);
    case Stat::log1m:
      return log(1.0 - x + kTiny);
    case Stat::comp2:
      return symbol("value", kFirst) * symbol("value", kSecond);
    case Stat::logdet:
      return logdet("value");
    case Stat::value:
    case Stat::comp:
    case Stat::entry:
    case Stat::indicator:
    case Stat::weighted:
    case Stat::weighted_square:
    case Stat::curvature:
    case Stat::offset:
      break;
  }
  return x;
}

Factor point(const FamilyRow& row) {
  Factor f = *row.factor;
  f.entropy = f.log_normaliser = 0.0;
  f.moments = mean_alone;
  if (f.softmax) {
    f.hard = true;
    return f;
  }
  for (FactorParameter& p : f.parameters)
    p.exported = false;
  f.parameters.push_back(parameter("value", event_rank(row.support), *f.mode, ParameterRole::value));
  for (StatisticRow& s : f.statistics)
    s.expectation = statistic_at_value(s.stat, row.support);
  return f;
}

}  // namespace

const FamilyRow& logistic_bound() {
  static const FamilyRow kRow = [] {
    const Expr xi = symbol("value");
    // lambda is even with lambda(0) = 1/8: near 0 by its series, where the quotient loses digits.
    const Expr large = step(xi - 0.01), safe = xi + (1.0 - large), x2 = square(xi);
    const Expr lambda = large * (0.25 * tanh(0.5 * safe) / safe) +
                        (1.0 - large) * (0.125 - x2 * (1.0 / 96.0) + square(x2) * (1.0 / 960.0));
    FamilyRow row{.name = "LogisticBound",
                  .summary = "where the bound of a logistic link touches it",
                  .support = Support::positive};
    row.improper = true;
    Factor f;
    // The largest n_offset * offset(xi) + n_curvature * lambda(xi) is at xi^2 = E[eta^2].
    f.parameters = {{.name = "square",
                     .from_natural = -natural_symbol(Stat::curvature) / (natural_symbol(Stat::offset) + kTiny),
                     .exported = false},
                    parameter("value", 0, sqrt(symbol("square")), ParameterRole::value)};
    f.moments = mean_alone;
    f.statistics = {{Stat::curvature, lambda, 0.0}, {Stat::offset, lambda * x2 - 0.5 * xi - log(1.0 + exp(-xi)), 0.0}};
    row.factor = std::move(f);
    return row;
  }();
  return kRow;
}

const Factor* point_factor(const FamilyRow& row) {
  static const std::map<std::string, Factor> kFactors = [] {
    std::map<std::string, Factor> all;
    for (const FamilyRow& r : families()) {
      if (r.factor && (r.factor->mode || r.factor->softmax)) all.emplace(r.name, point(r));
    }
    return all;
  }();
  const auto found = kFactors.find(row.name);
  return found == kFactors.end() ? nullptr : &found->second;
}

}  // namespace lehr::math
