// The groups of rows that families.cpp joins, and the notation they share. Included by the rows only.
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

std::vector<FamilyRow> scalar_families();  // Normal, Gamma, InverseGamma, Exponential, LogNormal, Beta, Flat, Jeffreys
std::vector<FamilyRow> scale_families();   // RootInverseGamma, HalfNormal, Laplace
std::vector<FamilyRow>
discrete_families();  // Bernoulli, Binomial, Geometric, Poisson, Categorical, Uniform, Multinomial, Spin, Zero
std::vector<FamilyRow> compound_families();  // StudentT, BetaBinomial, GammaPoisson, DirichletMultinomial
std::vector<FamilyRow> vector_families();    // MvNormal, Wishart, Dirichlet, NormalGamma, NormalWishart

/// The rows of point_family().
const std::vector<FamilyRow>& point_families();

namespace rows {

inline const double kLog2 = std::numbers::ln2;
inline const double kLog2Pi = std::log(2.0 * std::numbers::pi);

// Bound indices of the sums in formulas; free ones are kFirst (j) and kSecond (l).
inline constexpr Index kA{2};
inline constexpr Index kB{3};

inline Spelling canonical(std::string name, int event_rank = 0, Support domain = Support::real) {
  return {.name = name, .canonical = name, .event_rank = event_rank, .domain = domain};
}
inline Spelling alternative(std::string name, std::string of, Expr convert, int event_rank = 0,
                            Support domain = Support::positive) {
  return {.name = std::move(name),
          .canonical = std::move(of),
          .convert = std::move(convert),
          .event_rank = event_rank,
          .domain = domain};
}
/// `mean`, and `precision` or what is converted to it.
inline std::vector<Spelling> mean_and_precision() {
  return {canonical("mean"), canonical("precision", 0, Support::positive),
          alternative("variance", "precision", reciprocal(symbol("variance"))),
          alternative("sd", "precision", reciprocal(square(symbol("sd"))))};
}
inline FactorParameter parameter(std::string name, int event_rank, Expr from_natural,
                                 ParameterRole role = ParameterRole::other) {
  return {.name = std::move(name), .event_rank = event_rank, .from_natural = std::move(from_natural), .role = role};
}

/// The steps of a draw.
inline FactorParameter noise(std::string name, int event_rank, Noise noise, Expr argument = 0.0) {
  return {.name = std::move(name),
          .event_rank = event_rank,
          .from_natural = std::move(argument),
          .exported = false,
          .noise = noise};
}
inline FactorParameter step_of_draw(std::string name, int event_rank, Expr formula) {
  return {.name = std::move(name), .event_rank = event_rank, .from_natural = std::move(formula), .exported = false};
}
inline FactorParameter drawn_value(int event_rank, Expr formula, bool of_mean = false) {
  return {.name = of_mean ? "mean_value" : "value",
          .event_rank = event_rank,
          .from_natural = std::move(formula),
          .of_mean = of_mean,
          .role = ParameterRole::value};
}

/// log(1 + exp t).
inline Expr softplus(const Expr& t) { return 0.5 * t + log_cosh(0.5 * t) + kLog2; }

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The moments of a number from `f`, a function of the parameters that gives mean and sd.
template <class F>
std::function<MeanAndSd(std::span<const double>, std::size_t)> number_moments(F f) {
  return [f](std::span<const double> p, std::size_t) {
    const std::pair<double, double> m = f(p);
    return MeanAndSd{{m.first}, {m.second}};
  };
}

/// The margin of a number from `f`, a function of the parameters.
template <class F>
std::function<std::vector<Margin>(std::span<const double>, std::size_t)> number_margin(F f) {
  return [f](std::span<const double> p, std::size_t) { return std::vector<Margin>{f(p)}; };
}

/// The second moments of a number from `f`, a function of the parameters.
template <class F>
std::function<Spread(std::span<const double>, std::size_t)> number_spread(F f) {
  return [f](std::span<const double> p, std::size_t) { return f(p); };
}

/// The draw of a number from `f`, a function of the parameters.
template <class F>
std::function<std::vector<double>(std::span<const double>, std::size_t, Rng&)> number_drawn(F f) {
  return [f](std::span<const double> p, std::size_t, Rng& rng) {
    return std::vector<double>{static_cast<double>(f(p, rng))};
  };
}

inline std::pair<double, double> gamma_moments(double shape, double rate) {
  return {shape / rate, std::sqrt(shape) / rate};
}

/// Second moments of a precision that is Gamma(shape, rate), without its covariance.
inline Spread gamma_inverse(double shape, double rate) {
  Spread s;
  s.inverse = {shape > 1 ? rate / (shape - 1) : kInfinite};
  s.inverse_square = {shape > 2 ? rate * rate / ((shape - 1) * (shape - 2)) : kInfinite};
  s.inverse_shape = shape;
  s.inverse_scale = {rate};
  return s;
}

/// Margins that are known to be of these kinds, in order.
inline bool are(std::span<const Margin> p, std::initializer_list<Margin::Kind> kinds) {
  return std::ranges::equal(p, kinds, {}, &Margin::kind);
}

/// The moments of what its parameters are the mean of: points, and probabilities of single outcomes.
inline MeanAndSd mean_alone(std::span<const double> p, std::size_t) { return {{p.begin(), p.end()}, {}}; }

}  // namespace rows

}  // namespace lehr::math
