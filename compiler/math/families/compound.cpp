// Family rows of compound distributions: those of a value given a random variable of its own, with that variable
// integrated out. The compiler replaces a statement with such a distribution by two (Compound). The log density here is
// that of the value alone.
//
//   x[n] ~ StudentT(df, mean, precision)     becomes     x.weight[n] ~ Gamma(df / 2, df / 2)
//                                                        x[n] ~ Normal(mean, x.weight[n] * precision)
#include <algorithm>

#include "compiler/math/compound_draw.h"
#include "compiler/math/evaluate.h"
#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

namespace {

/// Draws from one part of a compound distribution, with its parameters evaluated at the values of the symbols.
std::vector<double> draw_part(const Compound::Part& part, const Environment& symbols, Rng& rng) {
  const FamilyRow& row = *find_family(part.family);
  Environment parameters{symbols.extent, {}};
  for (const DensityParameter& p : density_parameters(row)) {
    const auto formula = std::ranges::find(part.parameters, p.name, &std::pair<std::string, Expr>::first);
    parameters.symbols[p.name] = evaluate_all(formula->second, symbols, p.event_rank);
  }
  return row.draw(flatten_parameters(row, parameters), symbols.extent, rng);
}

/// Sets the draw of a compound row: first the hidden variable from its prior, then the value given it.
FamilyRow drawn_by_parts(FamilyRow row) {
  row.draw = [compound = *row.compound, names = density_parameters(row)](std::span<const double> flat,
                                                                         std::size_t extent, Rng& rng) {
    Environment symbols{extent, {}};
    for (const DensityParameter& p : names) {
      const std::size_t count = p.event_rank == 0 ? 1 : extent;
      symbols.symbols[p.name] = {p.event_rank, {flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(count)}};
      flat = flat.subspan(count);
    }
    const int rank = event_rank(find_family(compound.prior.family)->support);
    symbols.symbols[compound.variable] = {rank, draw_part(compound.prior, symbols, rng)};
    return draw_part(compound.value, symbols, rng);
  };
  return row;
}

/// Student's t: a Normal whose precision is multiplied by a weight ~ Gamma(df / 2, df / 2). Lange, Little & Taylor,
/// Robust statistical modeling using the t distribution (1989).
FamilyRow student_t() {
  const Expr x = symbol("x"), df = symbol("df"), mean = symbol("mean"), precision = symbol("precision");
  FamilyRow row{.name = "StudentT",
                .summary = "Normal with heavy tails; variance / weight is its variance",
                .support = Support::real};
  row.spellings = mean_and_precision();
  row.spellings.insert(row.spellings.begin(), canonical("df", 0, Support::positive));
  row.log_density = lgamma(0.5 * (df + 1.0)) - lgamma(0.5 * df) + 0.5 * log(precision) - 0.5 * log(df) -
                    0.5 * std::log(std::numbers::pi) -
                    0.5 * (df + 1.0) * log(1.0 + precision * square(x - mean) * reciprocal(df));
  row.compound = {"weight",
                  {"Gamma", {{"shape", 0.5 * df}, {"rate", 0.5 * df}}},
                  {"Normal", {{"mean", mean}, {"precision", symbol("weight") * precision}}}};
  row.log_tail = [](std::span<const double> p, double limit, bool above) {
    const ScalarMarginal t{ScalarMarginal::Kind::student, p[0], p[1], 1 / std::sqrt(p[2])};
    return std::log(cumulative(t, above ? 2 * p[1] - limit : limit));
  };
  return drawn_by_parts(std::move(row));
}

/// A Binomial whose probability is Beta(a, b).
FamilyRow beta_binomial() {
  const Expr x = symbol("x"), n = symbol("n"), a = symbol("a"), b = symbol("b");
  FamilyRow row{
      .name = "BetaBinomial", .summary = "successes in n trials of a p that is Beta(a, b)", .support = Support::count};
  row.spellings = {canonical("n", 0, Support::count), canonical("a", 0, Support::positive),
                   canonical("b", 0, Support::positive)};
  row.positional = true;
  row.log_density = lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0) + lgamma(x + a) + lgamma(n - x + b) -
                    lgamma(n + a + b) + lgamma(a + b) - lgamma(a) - lgamma(b);
  row.compound = {"p", {"Beta", {{"a", a}, {"b", b}}}, {"Binomial", {{"n", n}, {"p", symbol("p")}}}};
  return drawn_by_parts(std::move(row));
}

/// The negative binomial distribution in terms of its mean, which may be random. It is a Poisson whose rate is the mean
/// times a weight ~ Gamma(r, r).
FamilyRow gamma_poisson() {
  const Expr x = symbol("x"), mean = symbol("mean"), r = symbol("r");
  FamilyRow row{.name = "GammaPoisson", .summary = "counts with variance mean + mean^2 / r", .support = Support::count};
  row.spellings = {canonical("mean", 0, Support::positive), canonical("r", 0, Support::positive)};
  row.log_density = lgamma(x + r) - lgamma(r) - lgamma(x + 1.0) + r * log(r) + x * log(mean) - (x + r) * log(r + mean);
  row.compound = {"weight", {"Gamma", {{"shape", r}, {"rate", r}}}, {"Poisson", {{"rate", symbol("weight") * mean}}}};
  return drawn_by_parts(std::move(row));
}

/// The positive half of Student's t; the half-Cauchy if df is 1. Wand et al., Mean field variational Bayes for
/// elaborate distributions (2011), result 5.
FamilyRow half_student(bool cauchy) {
  const Expr x = symbol("x"), scale = symbol("scale"), df = cauchy ? Expr(1.0) : symbol("df");
  FamilyRow row{.name = cauchy ? "HalfCauchy" : "HalfStudentT",
                .summary = cauchy ? "positive half of a Cauchy distribution" : "positive half of Student's t",
                .support = Support::positive};
  row.spellings = {canonical("scale", 0, Support::positive)};
  if (!cauchy) row.spellings.insert(row.spellings.begin(), canonical("df", 0, Support::positive));
  row.positional = cauchy;
  row.log_density = kLog2 + lgamma(0.5 * (df + 1.0)) - lgamma(0.5 * df) - 0.5 * log(df) -
                    0.5 * std::log(std::numbers::pi) - log(scale) -
                    0.5 * (df + 1.0) * log(1.0 + square(x / scale) * reciprocal(df));
  row.compound = {"weight",
                  {"Gamma", {{"shape", 0.5}, {"rate", reciprocal(square(scale))}}},
                  {"RootInverseGamma", {{"shape", 0.5 * df}, {"square_scale", symbol("weight") * df}}}};
  return drawn_by_parts(std::move(row));
}

/// A Multinomial whose probabilities are Dirichlet.
FamilyRow dirichlet_multinomial() {
  const Expr x = symbol("x", kA), c = symbol("concentration", kA);
  const Expr n = sum(kA, x), total = sum(kA, c);
  FamilyRow row{.name = "DirichletMultinomial",
                .summary = "counts of n categories of a p that is Dirichlet",
                .support = Support::counts};
  row.spellings = {canonical("n", 0, Support::count), canonical("concentration", 1, Support::positive)};
  row.spellings[0].optional = true;
  row.positional = true;
  row.log_density =
      lgamma(n + 1.0) + lgamma(total) - lgamma(n + total) + sum(kA, lgamma(x + c) - lgamma(c) - lgamma(x + 1.0));
  row.compound = {"p",
                  {"Dirichlet", {{"concentration", symbol("concentration", kFirst)}}},
                  {"Multinomial", {{"n", symbol("n")}, {"p", symbol("p", kFirst)}}}};
  return drawn_by_parts(std::move(row));
}

}  // namespace

std::vector<FamilyRow> compound_families() {
  return {student_t(),         beta_binomial(),   gamma_poisson(), dirichlet_multinomial(),
          half_student(false), half_student(true)};
}

std::optional<CompoundDraw> draw_compound_between(const FamilyRow& row, std::span<const double> parameters,
                                                  double lower, double upper, Rng& rng) {
  if (row.name != "StudentT") return std::nullopt;
  const double df = parameters[0], mean = parameters[1], precision = parameters[2];
  const ScalarMarginal t{ScalarMarginal::Kind::student, df, 0, 1 / std::sqrt(precision)};
  // By inversion, mirrored so that the tail that reaches farther is the lower one, where probabilities have all digits.
  const double side = upper - mean > mean - lower ? -1 : 1;
  const double a = std::min(side * (lower - mean), side * (upper - mean));
  const double b = std::max(side * (lower - mean), side * (upper - mean));
  const double to_a = cumulative(t, a), to_b = cumulative(t, b);
  constexpr double kNarrow = 1e-8;  // relative difference of probabilities below which the density is constant
  if (!(to_b > 0)) return std::nullopt;
  const double u = draw_uniform(rng);
  const double from_mean =
      to_b - to_a <= kNarrow * to_b && std::isfinite(a) ? a + (b - a) * u : quantile(t, to_a + (to_b - to_a) * u);
  const double value = std::clamp(mean + side * from_mean, lower, upper);
  // The Gamma variable is conjugate given the value.
  const double squared = precision * (value - mean) * (value - mean);
  return CompoundDraw{draw_gamma(rng, 0.5 * (df + 1)) / (0.5 * (df + squared)), value};
}

}  // namespace lehr::math
