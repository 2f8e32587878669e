// Draws a chain's initial state from the moments of a fit. Each chain has its own stream of random numbers, so that
// chains begin at different states and each can be reproduced alone.
#include "compiler/fit/methods/chain_start.h"

#include <algorithm>
#include <cmath>

#include "compiler/posterior/moments.h"
#include "runtime/rng.h"

namespace lehr {
namespace {

/// Distinguishes this stream of random numbers from that of the chain itself.
constexpr std::uint64_t kStream = 0xC4A1;

/// Draws one of the values by their probabilities, and stores it as an indicator vector: 1 at the value, 0 elsewhere.
void draw_one(std::span<const double> probabilities, std::span<double> to, Rng& rng) {
  double below = 0;
  const double u = draw_uniform(rng);
  std::size_t picked = 0;
  for (std::size_t k = 0; k < probabilities.size(); ++k) {
    if (probabilities[k] > 0 && below < u) picked = k;
    below += probabilities[k];
  }
  std::ranges::fill(to, 0.0);
  to[picked] = 1;
}

/// Draws a number with this mean: a bit or spin by its probability, a real number as a Normal, any other at its mean.
double draw(math::Support support, double mean, const double* sd, Rng& rng) {
  if (support == math::Support::bit) return draw_uniform(rng) < mean ? 1 : 0;
  if (support == math::Support::spin) return draw_uniform(rng) < 0.5 * (1 + mean) ? 1 : -1;
  const bool anywhere = support == math::Support::real || support == math::Support::vector;
  return anywhere && sd ? mean + *sd * draw_normal(rng) : mean;
}

}  // namespace

std::vector<NamedArray> chain_start(const SavedFit& fit, std::uint64_t seed, std::uint64_t chain) {
  std::vector<NamedArray> out;
  Rng rng(seed, (kStream << 32) + chain);
  for (const SavedVariable& v : fit.variables) {
    const math::FamilyRow* family = math::find_factor_family(v.family);
    const std::optional<Moments> m = moments_of(fit, v);
    if (!family || !m || !std::ranges::all_of(m->mean, [](double x) { return std::isfinite(x); })) continue;
    const bool category = family->support == math::Support::category;
    if (category && !m->simplex) continue;
    NamedArray a{v.name + (category ? ".probs" : ".value"), m->elements, m->mean, false};
    a.shape.insert(a.shape.end(), m->event.begin(), m->event.end());
    if (category) {
      const auto width = static_cast<std::size_t>(a.shape.back());
      for (std::size_t i = 0; i < a.values.size(); i += width)
        draw_one(std::span(m->mean).subspan(i, width), std::span(a.values).subspan(i, width), rng);
    } else if (!family->joint_precision) {
      for (std::size_t i = 0; i < a.values.size(); ++i)
        a.values[i] = draw(family->support, m->mean[i], m->sd.empty() ? nullptr : &m->sd[i], rng);
    }
    out.push_back(std::move(a));
  }
  return out;
}

}  // namespace lehr
