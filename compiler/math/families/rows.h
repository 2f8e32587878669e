// Declares the groups of rows that families.cpp joins, and the notation in which rows are written. Only the files that
// define rows, join them or make factors of them (point.cpp) include it.
#pragma once
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "compiler/math/family.h"
#include "compiler/math/predictive.h"
#include "runtime/rng.h"

namespace lehr::math {

/// Returns the rows of continuous distributions of one number: Normal, Gamma, InverseGamma, Exponential, LogNormal,
/// Beta, Flat, Jeffreys.
std::vector<FamilyRow> scalar_families();
/// Returns the rows of distributions that are about a scale: RootInverseGamma (a standard deviation), and HalfNormal
/// and Laplace (the distance from a centre, divided by a scale).
std::vector<FamilyRow> scale_families();
/// Returns the rows of discrete distributions: Bernoulli, Spin, Categorical, Uniform, Multinomial, Binomial, Geometric,
/// NegativeBinomial, Poisson, Zero.
std::vector<FamilyRow> discrete_families();
/// Returns the rows of compound distributions: StudentT, BetaBinomial, GammaPoisson, DirichletMultinomial,
/// HalfStudentT, HalfCauchy.
std::vector<FamilyRow> compound_families();
/// Returns the rows of vectors and matrices: MvNormal, Wishart, InverseWishart, Dirichlet, NormalGamma, NormalWishart.
std::vector<FamilyRow> vector_families();

/// Returns the rows among which point_family() looks: families that have a point factor only.
const std::vector<FamilyRow>& point_families();

namespace rows {

/// log 2
inline const double kLog2 = std::numbers::ln2;
/// log(2 pi)
inline const double kLog2Pi = std::log(2.0 * std::numbers::pi);

/// A tiny number that is added to a divisor, or to the argument of a logarithm, that may be 0. The result is then
/// finite, and is not used or is multiplied by 0.
inline constexpr double kTiny = 1e-300;

/// Returns the mean `sum` / `weight`, which is 0 where the weight is 0. There the sum may be what rounding left of
/// terms that cancel. In a weight like 1 - x, the tiny addition would be lost in the 1 but for the absolute value.
inline Expr weighted_mean(const Expr& sum, const Expr& weight) { return sum * step(weight) / (abs(weight) + kTiny); }

/// The index variable of a sum in a formula. Free indices are kFirst (j) and kSecond (l).
inline constexpr Index kA{2};
/// The index variable of a sum inside a sum over kA.
inline constexpr Index kB{3};

/// Makes the Spelling of a canonical parameter: one that the log density uses directly, such as `precision` of Normal.
inline Spelling canonical(std::string name, int event_rank = 0, Support domain = Support::real) {
  return {.name = name, .canonical = name, .event_rank = event_rank, .domain = domain};
}
/// Makes the Spelling of an alternative parameter, such as `variance` for `precision`. `convert` is the formula of the
/// canonical parameter `of` in symbol(name).
inline Spelling alternative(std::string name, std::string of, Expr convert, int event_rank = 0,
                            Support domain = Support::positive) {
  return {.name = std::move(name),
          .canonical = std::move(of),
          .convert = std::move(convert),
          .event_rank = event_rank,
          .domain = domain};
}
/// Returns the spellings of a Gaussian number: `mean`, and `precision` with its alternatives `variance` and `sd`.
inline std::vector<Spelling> mean_and_precision() {
  return {canonical("mean"), canonical("precision", 0, Support::positive),
          alternative("variance", "precision", reciprocal(symbol("variance"))),
          alternative("sd", "precision", reciprocal(square(symbol("sd"))))};
}
/// Makes an exported parameter of a factor. `from_natural` is its formula, of natural parameters and of parameters
/// earlier in the list.
inline FactorParameter parameter(std::string name, int event_rank, Expr from_natural,
                                 ParameterRole role = ParameterRole::other) {
  return {.name = std::move(name), .event_rank = event_rank, .from_natural = std::move(from_natural), .role = role};
}

/// Makes a step of a draw (Factor::draw) that is a random number.
inline FactorParameter noise(std::string name, int event_rank, Noise noise, Expr argument = 0.0) {
  return {.name = std::move(name),
          .event_rank = event_rank,
          .from_natural = std::move(argument),
          .exported = false,
          .noise = noise};
}
/// Makes an intermediate of a draw (Factor::draw) or of the parameters of a factor: a step that is a formula, is no
/// random number, and is not exported.
inline FactorParameter draw_step(std::string name, int event_rank, Expr formula) {
  return {.name = std::move(name), .event_rank = event_rank, .from_natural = std::move(formula), .exported = false};
}
/// Makes the step of a draw that is the drawn value, named "value", or "mean_value" for the mean of a joint family.
inline FactorParameter draw_result(int event_rank, Expr formula, bool of_mean = false) {
  return {.name = of_mean ? "mean_value" : "value",
          .event_rank = event_rank,
          .from_natural = std::move(formula),
          .of_mean = of_mean,
          .role = ParameterRole::value};
}

/// Returns log(1 + exp t) without overflow.
inline Expr softplus(const Expr& t) { return 0.5 * t + log_cosh(0.5 * t) + kLog2; }

/// Infinity, for moments that do not exist.
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Makes Factor::moments of a number from `f`, which maps the parameters to a pair of mean and sd.
template <class F>
std::function<MeanAndSd(std::span<const double>, std::size_t)> number_moments(F f) {
  return [f](std::span<const double> p, std::size_t) {
    const std::pair<double, double> m = f(p);
    return MeanAndSd{{m.first}, {m.second}};
  };
}

/// Makes FamilyRow::margins of a number from `f`, which maps the parameters to its margin.
template <class F>
std::function<std::vector<ScalarMarginal>(std::span<const double>, std::size_t)> number_margin(F f) {
  return [f](std::span<const double> p, std::size_t) { return std::vector<ScalarMarginal>{f(p)}; };
}

/// Makes FamilyRow::spread of a number from `f`, which maps the parameters to its second moments.
template <class F>
std::function<Spread(std::span<const double>, std::size_t)> number_spread(F f) {
  return [f](std::span<const double> p, std::size_t) { return f(p); };
}

/// Makes FamilyRow::draw of a number from `f`, which maps the parameters and a generator to a draw.
template <class F>
std::function<std::vector<double>(std::span<const double>, std::size_t, Rng&)> number_drawn(F f) {
  return [f](std::span<const double> p, std::size_t, Rng& rng) {
    return std::vector<double>{static_cast<double>(f(p, rng))};
  };
}

/// Returns mean and sd of Gamma(shape, rate).
inline std::pair<double, double> gamma_moments(double shape, double rate) {
  return {shape / rate, std::sqrt(shape) / rate};
}

/// Returns the second moments of the inverse of a precision that is Gamma(shape, rate). The covariance is left empty.
inline Spread gamma_inverse(double shape, double rate) {
  Spread s;
  s.inverse = {shape > 1 ? rate / (shape - 1) : kInfinite};
  s.inverse_square = {shape > 2 ? rate * rate / ((shape - 1) * (shape - 2)) : kInfinite};
  s.inverse_shape = shape;
  s.inverse_scale = {rate};
  return s;
}

/// Returns true if the margins are of these kinds, one for one and in order. It chooses the predictive distribution for
/// given margins of the parameters.
inline bool have_kinds(std::span<const ScalarMarginal> p, std::initializer_list<ScalarMarginal::Kind> kinds) {
  return std::ranges::equal(p, kinds, {}, &ScalarMarginal::kind);
}

/// The Factor::moments of factors whose parameters are their mean, and which have no sd: points, and probabilities of
/// single outcomes.
inline MeanAndSd mean_alone(std::span<const double> p, std::size_t) { return {{p.begin(), p.end()}, {}}; }

}  // namespace rows

}  // namespace lehr::math
