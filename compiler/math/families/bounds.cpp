// Family rows of local bounds for functions of one number. The "value" of such a row is the point xi at which the bound
// touches the function. Its statistics are the coefficients of the bound at xi. The update of xi is the maximum of the
// ELBO over it, in closed form (Bishop 2006, 10.5).
#include "compiler/math/families/bounds.h"

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
    const Expr best = (-natural_symbol(Stat::inverse) + kTiny) / (-natural_symbol(Stat::value) + kTiny);
    const Expr least = 1e-10 / (square(2.0 * natural_symbol(Stat::value)) + 1e-30);
    f.parameters = {{.name = "square", .from_natural = least + (best - least) * step(best - least), .exported = false},
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
    f.parameters = {
        parameter("value", 0, natural_symbol(Stat::tangent) / natural_symbol(Stat::offset), ParameterRole::value)};
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
    f.parameters = {parameter("value", 0, natural_symbol(Stat::tangent) / (natural_symbol(Stat::offset) + kTiny),
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

}  // namespace lehr::math
