// Families that have a mode in closed form or by Newton's method, and no expectations that are known: those of points.
#include "compiler/math/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

constexpr double kTiny = 1e-300;

FamilyRow of_points(std::string name, std::string summary, std::vector<Stat> statistics) {
  FamilyRow row{.name = std::move(name), .summary = std::move(summary), .support = Support::positive};
  row.improper = true;
  row.factor.emplace();
  for (const Stat s : statistics)
    row.factor->statistics.push_back({s, 0.0, 0.0});
  return row;
}

/// The positive u where a u^2 - b u - c is 0, a and c >= 0: the sum of the roots or their quotient, whichever does not
/// cancel.
Expr positive_root(const Expr& a, const Expr& b, const Expr& c) {
  const Expr large = step(b), root = sqrt(square(b) + 4.0 * a * c);
  const Expr direct = (b + root) / (2.0 * a + kTiny), other = 2.0 * c / (root - b + kTiny);
  return large * direct + (1.0 - large) * other;
}

/// Mode of a variance that has a Gamma prior.
FamilyRow inverse_gaussian() {
  FamilyRow row = of_points("GeneralisedInverseGaussian", "points with terms in x, 1/x and log x",
                            {Stat::value, Stat::inverse, Stat::log});
  row.factor->parameters = {step_of_draw(
      "root", 0,
      positive_root(-natural_symbol(Stat::value), natural_symbol(Stat::log), -natural_symbol(Stat::inverse)))};
  row.factor->valid = {symbol("root")};
  row.factor->mode = symbol("root");
  return row;
}

/// Mode of a standard deviation that has a HalfNormal prior.
FamilyRow root_inverse_gaussian() {
  FamilyRow row = of_points("RootInverseGaussian", "points with terms in x^2, 1/x^2 and log x",
                            {Stat::square, Stat::inverse_square, Stat::log});
  row.factor->parameters = {step_of_draw("root", 0,
                                         positive_root(-natural_symbol(Stat::square), 0.5 * natural_symbol(Stat::log),
                                                       -natural_symbol(Stat::inverse_square)))};
  row.factor->valid = {symbol("root")};
  row.factor->mode = sqrt(symbol("root"));
  return row;
}

/// The largest n_value x + n_log log x + n_value_log x log x + n_log_gamma log Gamma(x). With m = -n_log_gamma, r =
/// n_log / m, k = n_value_log / m <= 1 and y = -n_value / m, at t = log x the slope is m times
///   F(t) = r exp(-t) + k (t + 1) - digamma(exp t) - y,
/// which is convex and falls, so that Newton's method climbs to its zero from any point to the left. There is one where
/// log x - 1 / (2 x) stands in the place of the digamma function, which is smaller: u = (r + 1/2) / x then solves
/// u + (1 - k) log u = w, and is not above the u for which 1 - 1 / u stands in the place of log u.
FamilyRow gamma_shape() {
  constexpr int kSteps = 6;
  FamilyRow row = of_points("GammaShape", "points with terms in x, log x, x log x and log Gamma(x)",
                            {Stat::value, Stat::log, Stat::value_log, Stat::log_gamma});
  Factor& f = *row.factor;
  const auto per = [](Stat s) { return natural_symbol(s) / (kTiny - natural_symbol(Stat::log_gamma)); };
  const Expr r = symbol("r"), k = symbol("k"), y = symbol("y"), w = symbol("w");
  f.parameters = {step_of_draw("r", 0, per(Stat::log)),
                  step_of_draw("k", 0, per(Stat::value_log)),
                  step_of_draw("y", 0, -per(Stat::value)),
                  step_of_draw("w", 0, y - k + (1.0 - k) * log(r + 0.5)),
                  step_of_draw("u", 0, positive_root(1.0, w - (1.0 - k), 1.0 - k)),
                  step_of_draw("t0", 0, log((r + 0.5) / symbol("u")))};
  for (int i = 0; i < kSteps; ++i) {
    const Expr t = symbol("t" + std::to_string(i)), x = exp(t);
    const Expr value = r * exp(-t) + k * (t + 1.0) - digamma(x) - y;
    const Expr slope = k - r * exp(-t) - x * apply(Function::trigamma, x);
    f.parameters.push_back(step_of_draw("t" + std::to_string(i + 1), 0, t - value / slope));
  }
  f.valid = {symbol("u")};
  // Without terms in log Gamma(x) a Gamma density.
  const Expr any = step(-natural_symbol(Stat::log_gamma) - kTiny);
  f.mode = any * exp(symbol("t" + std::to_string(kSteps))) +
           (1.0 - any) * natural_symbol(Stat::log) / (kTiny - natural_symbol(Stat::value));
  return row;
}

}  // namespace

const std::vector<FamilyRow>& point_families() {
  static const std::vector<FamilyRow> kRows = {inverse_gaussian(), root_inverse_gaussian(), gamma_shape()};
  return kRows;
}

}  // namespace lehr::math
