// Draws by the row's own function if the factor has the parameters of the density. Otherwise it interprets Factor::draw
// step by step, as generated code does.
#include "compiler/math/factor_draw.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "runtime/rng.h"

namespace lehr::math {
namespace {

/// Returns true if the row has a draw, and every exported parameter of the factor is a spelling of the density.
bool is_spelled(const FamilyRow& row, const Factor& factor) {
  return row.draw && std::ranges::all_of(factor.parameters, [&](const FactorParameter& p) {
           return !p.exported || std::ranges::find(row.spellings, p.name, &Spelling::name) != row.spellings.end();
         });
}

/// Returns the random numbers of a noise step: one for each component of the step.
Quantity noise_of(const FactorParameter& step, const Environment& at, Rng& rng) {
  Quantity out = evaluate_all(step.from_natural, at, step.event_rank);
  for (double& x : out.values) {
    if (*step.noise == Noise::uniform) x = draw_uniform(rng);
    else if (*step.noise == Noise::normal) x = draw_normal(rng);
    else x = draw_log_gamma(rng, x);
  }
  return out;
}

/// Evaluates the steps of a draw in order and returns the drawn value. Joint families draw the precision first and
/// return the mean first.
std::vector<double> draw_by_steps(const Factor& factor, Environment at, Rng& rng) {
  std::vector<double> out;
  for (const FactorParameter& step : factor.draw) {
    Quantity q = step.noise ? noise_of(step, at, rng) : evaluate_all(step.from_natural, at, step.event_rank);
    if (step.role == ParameterRole::value) out.insert(out.begin(), q.values.begin(), q.values.end());
    at.symbols[step.name] = std::move(q);
  }
  return out;
}

}  // namespace

Draw factor_draw(const FamilyRow& row, const Factor& factor, const Environment& parameters) {
  if (const FactorParameter* value = find_role(factor, ParameterRole::value); value && value->exported)
    return [x = parameters.symbols.at(value->name).values](Rng&) { return x; };
  if (factor.softmax) {
    const FactorParameter* p = find_role(factor, ParameterRole::probabilities);
    return [weights = parameters.symbols.at(p->name).values](Rng& rng) {
      return std::vector{static_cast<double>(draw_categorical(rng, weights))};
    };
  }
  if (is_spelled(row, factor)) {
    const std::size_t extent = parameters.extent;
    return [&row, extent, flat = flatten_parameters(row, {extent, canonical_parameters(row, parameters)})](Rng& rng) {
      return row.draw(flat, extent, rng);
    };
  }
  // These kinds of noise depend on data counts, so they occur only in generated code.
  const auto is_of_data = [](const FactorParameter& p) {
    return p.noise == Noise::polya_gamma || p.noise == Noise::binomial;
  };
  if (factor.draw.empty() || std::ranges::any_of(factor.draw, is_of_data)) return {};
  return [&factor, parameters](Rng& rng) { return draw_by_steps(factor, parameters, rng); };
}

void widen(const FamilyRow& row, std::span<const double> width, Environment& at) {
  const std::string_view family = row.name;
  const auto of = [&](const char* name) -> std::vector<double>& { return at.symbols.at(name).values; };
  const double mean = std::accumulate(width.begin(), width.end(), 0.0) / static_cast<double>(width.size());
  const double square = mean * mean;
  if (family == "Normal" || family == "MvNormal") {
    std::vector<double>& precision = of("precision");
    for (std::size_t i = 0; i < width.size(); ++i)
      for (std::size_t j = 0; j < width.size(); ++j)
        precision[i * width.size() + j] /= width[i] * width[j];
  } else if (family == "Gamma") {
    of("shape")[0] /= square;
    of("rate")[0] /= square;
  } else if (family == "InverseGamma" && of("shape")[0] > 2) {
    const double shape = of("shape")[0], wider = 2 + (shape - 2) / square;
    of("shape")[0] = wider;
    of("scale")[0] *= (wider - 1) / (shape - 1);
  } else if (family == "Beta" || family == "Dirichlet") {
    double total = 0;
    const std::vector<const char*> names = family == "Beta" ? std::vector{"a", "b"} : std::vector{"concentration"};
    for (const char* name : names)
      total += std::accumulate(of(name).begin(), of(name).end(), 0.0);
    const double wider = std::max((total + 1) / square - 1, 0.1 * total);
    for (const char* name : names)
      for (double& x : of(name))
        x *= wider / total;
  } else if (family == "Wishart") {
    const double df = of("df")[0], wider = std::max(df / square, static_cast<double>(at.extent));
    of("df")[0] = wider;
    for (double& x : of("scale"))
      x *= df / wider;
  }
}

}  // namespace lehr::math
