// Factors with all mass at one value. It is the mode of the factor that the natural parameters describe (EM, MAP), or a
// draw from it (Gibbs). Both are made from the ordinary factor: its parameters become intermediates, and each expected
// statistic becomes the statistic of the value.
//
//   Gamma:  E[log x] = digamma(shape) - log(rate)     at a point:  log(value),  value = (shape - 1) / rate
#include <map>

#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

/// Returns the component of the value that a statistic is a function of.
Expr component(Support s) {
  if (s == Support::switched) return symbol("value", kFirst);  // one-hot: 1 at the value of the category
  switch (event_rank(s)) {
    case 1:
      return symbol("value", kFirst);
    case 2:
      return symbol("value", kFirst, kSecond);
    default:
      return symbol("value");
  }
}

/// Returns a statistic of a vector and its precision, at drawn values of both.
Expr scaled_at_value(Stat s) {
  const Expr precision = symbol("value");
  if (s == Stat::value) return precision;
  if (s == Stat::log) return log(precision + kTiny);
  const Expr weighted = precision * symbol("mean_value", kFirst);
  return s == Stat::weighted ? weighted : weighted * symbol("mean_value", kSecond);
}

/// Returns the formula of a statistic at the symbol "value" (and "mean_value" in joint families).
Expr statistic_at_value(Stat s, Support support) {
  if (support == Support::scaled) return scaled_at_value(s);
  const Expr x = component(support);
  // In joint families, `support` is that of the precision.
  const bool vector = event_rank(support) > 0;
  const Expr weighted =
      vector ? sum(kA, symbol("value", kFirst, kA) * symbol("mean_value", kA)) : symbol("value") * symbol("mean_value");
  switch (s) {
    case Stat::weighted:
      return weighted;
    case Stat::weighted_square:
      return vector ? sum(kB, symbol("mean_value", kB) * sum(kA, symbol("value", kB, kA) * symbol("mean_value", kA)))
                    : weighted * symbol("mean_value");
    case Stat::square:
      return square(x);
    case Stat::log:
    case Stat::log_comp:
      return log(x + kTiny);
    case Stat::inverse:
      return reciprocal(x);
    case Stat::log1m:
      return log(1.0 - x + kTiny);
    case Stat::inverse_square:
      return square(reciprocal(x));
    case Stat::log_gamma:
      return lgamma(x);
    case Stat::value_log:
      return xlogx(x);
    case Stat::log_gap:
      return log(tanh(0.5 * x) + kTiny) + log(1.0 + exp(-x));
    case Stat::tangent:
      return digamma(x);
    case Stat::inverse_entry:
      return inverse("value", kFirst, kSecond);
    case Stat::comp2:
      return symbol("value", kFirst) * symbol("value", kSecond);
    case Stat::logdet:
      return logdet("value");
    case Stat::value:
    case Stat::comp:
    case Stat::entry:
    case Stat::indicator:
    case Stat::offset:
    case Stat::slope:
      break;
    case Stat::weighted2:
      break;  // occurs in `scaled` only, above
    case Stat::above:
    case Stat::below:
    case Stat::lower:
    case Stat::upper:
      return 0.0;
    case Stat::curvature:
      return 0.5 * x;  // the drawn value is a Polya-Gamma variable, half of which is the curvature
    case Stat::switched:
    case Stat::switched_square: {
      const Expr number = symbol("mean_value");
      return symbol("value", kFirst) * (s == Stat::switched ? number : square(number));
    }
  }
  return x;
}

// Makes the point factor of a row that has a mode, or of a category.
Factor point(const FamilyRow& row) {
  Factor f = *row.factor;
  f.entropy = f.log_normaliser = 0.0;
  f.entropy_from_statistics.reset();
  f.moments = mean_alone;
  if (f.softmax) {
    f.one_hot = true;
    return f;
  }
  for (FactorParameter& p : f.parameters)
    p.exported = false;
  f.parameters.push_back(parameter("value", event_rank(row.support), *f.mode, ParameterRole::value));
  for (StatisticRow& s : f.statistics)
    s.expectation = statistic_at_value(s.stat, row.support);
  return f;
}

// Makes the sample factor of a row that has a draw, or of a category.
Factor sample(const FamilyRow& row) {
  Factor f = *row.factor;
  f.entropy = 0.0;
  f.entropy_from_statistics.reset();
  f.moments = mean_alone;
  f.drawn = true;
  if (f.softmax) return f;
  std::erase_if(f.parameters, [](const FactorParameter& p) { return p.role == ParameterRole::value; });
  for (FactorParameter& p : f.parameters)
    p.exported = false;
  f.parameters.insert(f.parameters.end(), f.draw.begin(), f.draw.end());
  for (StatisticRow& s : f.statistics)
    s.expectation = statistic_at_value(s.stat, row.joint_precision.value_or(row.support));
  return f;
}

/// Applies `make` to each row of families() whose factor satisfies `has` or is a softmax. Returns the results by name
/// of the row.
template <class Has, class Make>
std::map<std::string, Factor> factors_of_rows(const Has& has, const Make& make) {
  std::map<std::string, Factor> all;
  for (const FamilyRow& r : families()) {
    if (r.factor && (has(*r.factor) || r.factor->softmax)) all.emplace(r.name, make(r));
  }
  return all;
}

const Factor* find(const std::map<std::string, Factor>& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace

std::string_view name_of(Noise n) {
  constexpr std::string_view kNames[] = {"uniform", "normal", "log_gamma", "polya_gamma", "binomial", "truncated"};
  return kNames[static_cast<std::size_t>(n)];
}

const FamilyRow& logistic_bound() {
  static const FamilyRow kRow = [] {
    const Expr xi = symbol("value");
    const Expr lambda = logit_curvature(xi);
    FamilyRow row{.name = "LogisticBound",
                  .summary = "where the bound of a logistic link touches it",
                  .support = Support::positive};
    row.improper = true;
    // xi^2 is a sum of products, so rounding may give it either sign near 0.
    const Expr root = sqrt(abs(symbol("square")));
    Factor f;
    // The ELBO has n_offset * offset(xi) + n_curvature * curvature(xi), which is largest at xi^2 = E[eta^2].
    f.parameters = {{.name = "square",
                     .from_natural = weighted_mean(-natural_symbol(Stat::curvature), natural_symbol(Stat::offset)),
                     .exported = false,
                     .written = -natural_symbol(Stat::curvature) / natural_symbol(Stat::offset)},
                    parameter("value", 0, root, ParameterRole::value)};
    f.moments = mean_alone;
    // The likelihood of n trials is the average of exp(n e / 2 - n w e^2 / 2) over n w ~ PG(n, e): Polson, Scott &
    // Windle (2013). n is the coefficient of the offset.
    FactorParameter w = noise("w", 0, Noise::polya_gamma, root);
    w.noise_second = natural_symbol(Stat::offset);
    f.draw = {w, draw_result(0, symbol("w"))};
    // The integral over w is the likelihood 1 / (2 cosh(e / 2))^n, here as a formula of the naturals.
    f.log_normaliser = -natural_symbol(Stat::offset) * (kLog2 + log_cosh(0.5 * root));
    f.drawn_statistics = {{Stat::offset, 0.5 * symbol("w") * symbol("square") - kLog2 - log_cosh(0.5 * root)}};
    // With log(1 + exp(-xi)) = log 2 - log(1 + tanh(xi / 2)).
    f.statistics = {{Stat::curvature, lambda, 0.0},
                    {Stat::offset, lambda * square(xi) - 0.5 * xi - kLog2 + log(1.0 + 4.0 * xi * lambda), 0.0}};
    row.factor = std::move(f);
    return row;
  }();
  return kRow;
}

const Factor* point_factor(const FamilyRow& row) {
  static const auto kFactors = [] {
    auto all = factors_of_rows([](const Factor& f) { return f.mode.has_value(); }, point);
    all.emplace(truncated_normal().name, point(truncated_normal()));
    for (const FamilyRow& more : point_families())
      all.emplace(more.name, point(more));
    return all;
  }();
  return find(kFactors, row.name);
}

const Factor* sample_factor(const FamilyRow& row) {
  static const auto kFactors = [] {
    auto all = factors_of_rows([](const Factor& f) { return !f.draw.empty(); }, sample);
    for (const FamilyRow* more : {&logistic_bound(), &absolute_bound(), &switched_normal(), &scaled_normal(),
                                  &sparse_normal(), &truncated_normal()})
      all.emplace(more->name, sample(*more));
    return all;
  }();
  return find(kFactors, row.name);
}

}  // namespace lehr::math
