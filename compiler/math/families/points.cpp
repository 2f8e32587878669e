// Families that have a mode, in closed form or by Newton's method, but no expectations in closed form: they have point
// factors only. They serve `guide point(...)` where the prior is not conjugate, for example a Gamma prior of a
// variance.
#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

/// Makes a row on the positive reals that has these statistics and no mode yet.
FamilyRow of_points(std::string name, std::string summary, std::vector<Stat> statistics) {
  FamilyRow row{.name = std::move(name), .summary = std::move(summary), .support = Support::positive};
  row.improper = true;
  row.factor.emplace();
  for (const Stat s : statistics)
    row.factor->statistics.push_back({s, 0.0, 0.0});
  return row;
}

/// Returns the positive u with a u^2 - b u - c = 0, for a >= 0 and c >= 0. Of the two formulas of the root it uses the
/// one that does not cancel.
Expr positive_root(const Expr& a, const Expr& b, const Expr& c) {
  const Expr large = step(b), root = sqrt(square(b) + 4.0 * a * c);
  const Expr direct = (b + root) / (2.0 * a + kTiny), other = 2.0 * c / (root - b + kTiny);
  return large * direct + (1.0 - large) * other;
}

/// Modes of positive numbers with terms in x, 1/x and log x: a variance with a Gamma prior.
FamilyRow inverse_gaussian() {
  FamilyRow row = of_points("GeneralisedInverseGaussian", "points with terms in x, 1/x and log x",
                            {Stat::value, Stat::inverse, Stat::log});
  row.factor->parameters = {draw_step(
      "root", 0,
      positive_root(-natural_symbol(Stat::value), natural_symbol(Stat::log), -natural_symbol(Stat::inverse)))};
  row.factor->valid = {symbol("root")};
  row.factor->mode = symbol("root");
  return row;
}

/// Modes of positive numbers with terms in x^2, 1/x^2 and log x: a standard deviation with a HalfNormal prior.
FamilyRow root_inverse_gaussian() {
  FamilyRow row = of_points("RootInverseGaussian", "points with terms in x^2, 1/x^2 and log x",
                            {Stat::square, Stat::inverse_square, Stat::log});
  row.factor->parameters = {draw_step("root", 0,
                                      positive_root(-natural_symbol(Stat::square), 0.5 * natural_symbol(Stat::log),
                                                    -natural_symbol(Stat::inverse_square)))};
  row.factor->valid = {symbol("root")};
  row.factor->mode = sqrt(symbol("root"));
  return row;
}

/// Modes of positive numbers with terms in x, log x, x log x and log Gamma(x): the shape of a Gamma with a Gamma prior.
/// The objective is n_value x + n_log log x + n_value_log x log x + n_log_gamma log Gamma(x).
///
/// Let m = -n_log_gamma, r = n_log / m, k = n_value_log / m <= 1 and y = -n_value / m. The derivative of the objective
/// in x, at x = exp(t), is m times
///
///   F(t) = r exp(-t) + k (t + 1) - digamma(exp t) - y
///
/// F is convex and falls, so Newton's method converges to its zero monotonically from any start to the left. A start
/// follows from replacing digamma by the larger log x - 1 / (2 x). Then u = (r + 1/2) / x solves u + (1 - k) log u = w.
/// Replacing log u there by the smaller 1 - 1/u makes it a quadratic equation. Its u is no smaller, so x is no larger.
FamilyRow gamma_shape() {
  constexpr int kSteps = 6;
  constexpr double kLeast = 1e-100;
  FamilyRow row = of_points("GammaShape", "points with terms in x, log x, x log x and log Gamma(x)",
                            {Stat::value, Stat::log, Stat::value_log, Stat::log_gamma});
  Factor& f = *row.factor;
  // Without terms in log Gamma(x) the density is a Gamma, whose mode is used. Quotients by a smaller number would
  // overflow when they are squared.
  const Expr any = step(-natural_symbol(Stat::log_gamma) - kLeast);
  const auto per = [&](Stat s) { return natural_symbol(s) / ((1.0 - any) - natural_symbol(Stat::log_gamma)); };
  const Expr r = symbol("r"), k = symbol("k"), y = symbol("y"), w = symbol("w");
  f.parameters = {draw_step("r", 0, per(Stat::log)),
                  draw_step("k", 0, per(Stat::value_log)),
                  draw_step("y", 0, -per(Stat::value)),
                  draw_step("w", 0, y - k + (1.0 - k) * log(r + 0.5)),
                  draw_step("u", 0, positive_root(1.0, w - (1.0 - k), 1.0 - k)),
                  draw_step("t0", 0, log((r + 0.5) / symbol("u")))};
  for (int i = 0; i < kSteps; ++i) {
    const Expr t = symbol("t" + std::to_string(i)), x = exp(t);
    const Expr value = r * exp(-t) + k * (t + 1.0) - digamma(x) - y;
    const Expr slope = k - r * exp(-t) - x * apply(Function::trigamma, x);
    f.parameters.push_back(draw_step("t" + std::to_string(i + 1), 0, t - value / slope));
  }
  f.valid = {symbol("u")};
  f.mode = any * exp(symbol("t" + std::to_string(kSteps))) +
           (1.0 - any) * natural_symbol(Stat::log) / (kTiny - natural_symbol(Stat::value));
  return row;
}

/// Modes of positive numbers with terms in x, x^2, log x and log(1 - exp(-x)): gaps between ordered cut points. The
/// objective is n_value x + n_square x^2 + n_log log x + n_log_gap log(1 - exp(-x)), with n_square <= 0.
///
/// With b = n_value, a = -2 n_square, c = n_log and g = n_log_gap, its derivative is
///
///   F(x) = b - a x + c / x + g p(x),  p(x) = 1 / (exp(x) - 1)
///
/// F is convex and falls, so Newton's method converges to its zero monotonically from any start to the left. Replacing
/// p by the smaller 1 / x - 1/2, or by 0, gives two starts; the larger one is used. Let rest = a x - b - c / x. Where
/// it is positive, log(g p) - log(rest) has the same zero, is convex and falls. It is nearly straight where exp(x) is
/// large. Each iteration takes the longer of the two Newton steps.
FamilyRow gap() {
  constexpr int kSteps = 6;
  FamilyRow row = of_points("Gap", "points with terms in x, x^2, log x and log(1 - exp(-x))",
                            {Stat::value, Stat::square, Stat::log, Stat::log_gap});
  Factor& f = *row.factor;
  const Expr any = step(natural_symbol(Stat::log) + natural_symbol(Stat::log_gap));
  const Expr a = symbol("a"), b = symbol("b"), c = symbol("c"), g = symbol("g");
  f.parameters = {
      draw_step("a", 0, -2.0 * natural_symbol(Stat::square)),     draw_step("b", 0, natural_symbol(Stat::value)),
      draw_step("c", 0, natural_symbol(Stat::log) + (1.0 - any)), draw_step("g", 0, natural_symbol(Stat::log_gap)),
      draw_step("near", 0, positive_root(a, b - 0.5 * g, c + g)), draw_step("far", 0, positive_root(a, b, c))};
  const auto larger = [](const Expr& l, const Expr& r) { return r + (l - r) * step(l - r); };
  f.parameters.push_back(draw_step("x0", 0, larger(symbol("near"), symbol("far"))));
  for (int i = 0; i < kSteps; ++i) {
    const std::string number = std::to_string(i);
    const Expr x = symbol("x" + number), p = symbol("p" + number), rest = symbol("rest" + number);
    f.parameters.push_back(draw_step("p" + number, 0, exp(-x) / (tanh(0.5 * x) * (1.0 + exp(-x)))));
    f.parameters.push_back(draw_step("rest" + number, 0, a * x - b - c / x));
    const Expr slope = a + c / square(x), inside = step(rest), positive = inside * rest + (1.0 - inside);
    const Expr straight = (g * p - rest) / (slope + g * p * (1.0 + p));
    const Expr of_log = (log(g * p + kTiny) - log(positive)) / (1.0 + p + slope / positive);
    f.parameters.push_back(draw_step("x" + std::to_string(i + 1), 0, x + larger(inside * of_log, straight)));
  }
  f.valid = {symbol("x0")};
  // Without terms in log x and log(1 - exp(-x)), the mode is the vertex of the parabola, or 0.
  f.mode = any * symbol("x" + std::to_string(kSteps)) + (1.0 - any) * positive_root(a, b, 0.0);
  return row;
}

}  // namespace

const std::vector<FamilyRow>& point_families() {
  static const std::vector<FamilyRow> kRows = {inverse_gaussian(), root_inverse_gaussian(), gamma_shape(), gap()};
  return kRows;
}

}  // namespace lehr::math
