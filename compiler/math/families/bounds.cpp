// Family rows of local bounds for functions of one number, and of tangent planes of their Normal expectations. The
// "value" of a bound's row is the point xi at which the bound touches the function. Its statistics are the coefficients
// of the bound at xi. The update of xi is the maximum of the ELBO over it, in closed form (Bishop 2006, 10.5). The
// point of an expectation is the mean and the variance of the predictor, which the naturals give.
#include "compiler/math/families/bounds.h"

#include <array>

#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

const FamilyRow& absolute_bound() {
  static const FamilyRow kRow = [] {
    FamilyRow row{.name = "AbsoluteBound",
                  .summary = "where the bound of an absolute value touches it",
                  .support = Support::positive};
    row.improper = true;
    // The terms of xi in the log joint are n_value xi + n_inverse / xi, with both naturals negative.
    Factor f;
    // The ELBO is largest at xi^2 = n_inverse / n_value. A lower limit of 1e-5 of the scale prevents squares of
    // differences that are rounding.
    const Expr best = weighted_mean(-natural_symbol(Stat::inverse), -natural_symbol(Stat::value));
    const Expr least = 1e-10 / (square(2.0 * natural_symbol(Stat::value)) + 1e-20);
    f.parameters = {{.name = "square",
                     .from_natural = least + (best - least) * step(best - least),
                     .exported = false,
                     .written = -natural_symbol(Stat::inverse) / -natural_symbol(Stat::value)},
                    parameter("value", 0, sqrt(symbol("square")), ParameterRole::value)};
    f.moments = mean_alone;
    f.statistics = {{Stat::value, symbol("value"), 0.0}, {Stat::inverse, reciprocal(symbol("value")), 0.0}};
    // As a random draw, 1 / xi is inverse Gaussian with mean 1 / |e| and shape r = -2 n_value. It is one of the two
    // roots of a quadratic equation: Michael, Schucany & Haas (1976).
    const Expr rate = -2.0 * natural_symbol(Stat::value);
    const Expr half = square(symbol("z")) / (2.0 * rate * sqrt(symbol("square")));
    const Expr ratio = 1.0 + half + sqrt(half * (half + 2.0));
    f.draw = {noise("z", 0, Noise::normal), noise("u", 0, Noise::uniform), draw_step("ratio", 0, ratio),
              draw_step("small", 0, step(symbol("ratio") - symbol("u") * (1.0 + symbol("ratio")))),
              draw_result(0, sqrt(symbol("square")) *
                                 (symbol("small") * symbol("ratio") + (1.0 - symbol("small")) / symbol("ratio")))};
    // The integral is exp(-r |e|) / sqrt(r), for naturals -r / 2 and -r e^2 / 2.
    f.log_normaliser = -2.0 * sqrt(abs(natural_symbol(Stat::value) * natural_symbol(Stat::inverse))) - 0.5 * log(rate);
    row.factor = std::move(f);
    return row;
  }();
  return kRow;
}

const FamilyRow& log_gamma_bound() {
  static const FamilyRow kRow = [] {
    const Expr z = symbol("value");
    FamilyRow row{
        .name = "LogGammaBound", .summary = "where the tangent of log Gamma touches it", .support = Support::positive};
    row.improper = true;
    Factor f;
    // The tangent at z is offset(z) + tangent(z) e; its best point is the expectation of e, a quotient of the naturals.
    // Without any weight every point is as good, but none at 0, where the tangent is infinite.
    const Expr sum = natural_symbol(Stat::tangent), weight = natural_symbol(Stat::offset);
    f.parameters = {parameter("value", 0, weighted_mean(sum, weight) + (1.0 - step(weight)), ParameterRole::value)};
    f.parameters[0].written = sum / weight;
    f.moments = mean_alone;
    f.statistics = {{Stat::tangent, digamma(z), 0.0}, {Stat::offset, lgamma(z) - z * digamma(z), 0.0}};
    row.factor = std::move(f);
    return row;
  }();
  return kRow;
}

const FamilyRow& probit_bound() {
  static const FamilyRow kRow = [] {
    const Expr m = symbol("value");
    FamilyRow row{.name = "ProbitBound",
                  .summary = "mean of the number of a probit link before its side is known",
                  .support = Support::real};
    row.improper = true;
    Factor f;
    f.parameters = {parameter("value", 0, weighted_mean(natural_symbol(Stat::tangent), natural_symbol(Stat::offset)),
                              ParameterRole::value)};
    f.parameters[0].written = natural_symbol(Stat::tangent) / natural_symbol(Stat::offset);
    f.moments = mean_alone;
    const Expr log_mass = log_tail(-m), hazard = exp(-0.5 * square(m) - 0.5 * kLog2Pi - log_mass);
    f.statistics = {{Stat::tangent, m + hazard, 0.0}, {Stat::offset, log_mass - m * (0.5 * m + hazard), 0.0}};
    row.factor = std::move(f);
    return row;
  }();
  return kRow;
}

namespace {

/// F(m, v) = E[f(e)] of e ~ N(m, v), as formulas of symbol("value") = m and symbol("variance") = v.
struct Expectation {
  Expr value;    // F
  Expr slope;    // dF/dm
  Expr falling;  // -dF/dv
};

/// Makes the row of an expectation.
FamilyRow expectation_row(std::string name, std::string summary, const Expectation& of) {
  FamilyRow row{.name = std::move(name), .summary = std::move(summary), .support = Support::real};
  row.improper = true;
  const Expr m = symbol("value"), v = symbol("variance");
  // E[e] and E[e^2] are quotients of the naturals. Rounding may give their variance the wrong sign.
  const Expr mean = weighted_mean(natural_symbol(Stat::tangent), natural_symbol(Stat::offset));
  const Expr square_mean = weighted_mean(-natural_symbol(Stat::curvature), natural_symbol(Stat::offset));
  const Expr excess = square_mean - square(m);
  Factor f;
  f.parameters = {parameter("value", 0, mean, ParameterRole::value), parameter("variance", 0, excess * step(excess))};
  f.parameters[0].written = natural_symbol(Stat::tangent) / natural_symbol(Stat::offset);
  f.parameters[1].written = -natural_symbol(Stat::curvature) / natural_symbol(Stat::offset) - square(m);
  f.moments = mean_alone;
  const Expr tangent = of.slope + 2.0 * of.falling * m;
  f.statistics = {{Stat::tangent, tangent, 0.0},
                  {Stat::curvature, of.falling, 0.0},
                  {Stat::offset, of.value - of.slope * m + of.falling * (v - square(m)), 0.0}};
  row.factor = std::move(f);
  return row;
}

/// Returns the density of a standard Normal number at x.
Expr normal_density(const Expr& x) { return exp(-0.5 * square(x) - 0.5 * kLog2Pi); }

/// Weights and slopes of the Normal distribution functions whose mixture is the logistic function.
struct LogisticPart {
  double weight, slope;
};
constexpr std::array<LogisticPart, 8> kLogisticParts{{{.003246343272134, 1.365340806296348},
                                                      {.051517477033972, 1.059523971016916},
                                                      {.195077912673858, .830791313765644},
                                                      {.315569823632818, .650732166639391},
                                                      {.274149576158423, .508135425366489},
                                                      {.131076880695470, .396313345166341},
                                                      {.027912418727972, .308904252267995},
                                                      {.001449567805354, .238212616409306}}};

/// Returns the expectation of -log(1 + exp e). The integral of Phi(s e) is e Phi(s e) + phi(s e) / s.
Expectation negative_softplus() {
  const Expr m = symbol("value"), v = symbol("variance");
  Expectation out{0.0, 0.0, 0.0};
  for (const auto& [weight, s] : kLogisticParts) {
    const Expr root = sqrt(1.0 + s * s * v);
    const Expr x = s * m / root, below = apply(Function::probit, x), density = normal_density(x);
    out.value = out.value - weight * (m * below + (1.0 / s) * root * density);
    out.slope = out.slope - weight * below;
    out.falling = out.falling + 0.5 * weight * s * density / root;
  }
  return out;
}

/// Returns the expectation of log Phi(e) as a sum over nodes that are equidistant in standard deviations, and the
/// derivatives of this sum. The variance has a least value, which changes the expectation by 5e-9 at most, since the
/// derivative by it is a difference over a standard deviation.
Expectation log_probit() {
  constexpr int kNodes = 40;
  constexpr double kFarthest = 7, kLeast = 1e-8;
  double total = 0;
  const auto node = [](int k) { return kFarthest * (2.0 * k / (kNodes - 1) - 1); };
  const auto density = [](double z) { return std::exp(-0.5 * z * z); };
  for (int k = 0; k < kNodes; ++k)
    total += density(node(k));
  const Expr m = symbol("value"), sd = sqrt(symbol("variance") + kLeast);
  Expectation out{0.0, 0.0, 0.0};
  Expr along = 0.0;
  for (int k = 0; k < kNodes; ++k) {
    const double z = node(k), weight = density(z) / total;
    const Expr x = m + z * sd, log_mass = log_tail(-x), hazard = exp(-0.5 * square(x) - 0.5 * kLog2Pi - log_mass);
    out.value = out.value + weight * log_mass;
    out.slope = out.slope + weight * hazard;
    along = along + weight * z * hazard;
  }
  out.falling = -0.5 * along / sd;
  return out;
}

/// Returns the lesser of two numbers.
Expr lesser(const Expr& a, const Expr& b) { return a + (b - a) * step(a - b); }

/// Makes the row of -exp(e). The logarithm of the expectation has an upper limit, which no posterior of counts comes
/// near, so that planes stay finite. Beyond it the value is impossible: a plane at the limit would lie above -exp(e),
/// and a weight of the rate that goes to 0 could make up for any e. It is finite, since a weight may be 0.
FamilyRow negative_exp() {
  constexpr double kLargest = 300, kImpossible = -1e250;
  const Expr log_rate = symbol("value") + 0.5 * symbol("variance"), rate = exp(log_rate);
  FamilyRow row = expectation_row("ExpExpectation", "mean and variance of the logarithm of a rate",
                                  {kImpossible * step(log_rate - (kLargest - 1.0)) - rate, -rate, 0.5 * rate});
  Expr &mean = row.factor->parameters[0].from_natural, &variance = row.factor->parameters[1].from_natural;
  mean = lesser(mean, kLargest);
  variance = lesser(variance, 2.0 * (kLargest - symbol("value")));
  return row;
}

}  // namespace

const FamilyRow& logistic_expectation() {
  static const FamilyRow kRow = expectation_row(
      "LogisticExpectation", "mean and variance of the predictor of a logistic link", negative_softplus());
  return kRow;
}

const FamilyRow& probit_expectation() {
  static const FamilyRow kRow =
      expectation_row("ProbitExpectation", "mean and variance of the predictor of a probit link", log_probit());
  return kRow;
}

const FamilyRow& exp_expectation() {
  static const FamilyRow kRow = negative_exp();
  return kRow;
}

bool is_expectation(const FamilyRow& row) {
  return &row == &logistic_expectation() || &row == &probit_expectation() || &row == &exp_expectation();
}

}  // namespace lehr::math
