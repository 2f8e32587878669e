// Adaptive step sizes against the recursion of Ranganath, Wang, Blei & Xing (2013), applied to natural gradients that
// are written out by hand.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/instance/instance.h"
#include "compiler/pipeline.h"
#include "runtime/inference/adaptive.h"
#include "runtime/inference/sweep.h"

namespace {

using namespace lehr;

const char* const kMixture = R"(model m {
  plate n; plate k = 2; data w : simplex over k;
  mu[k] ~ Normal(mean = 0, precision = 0.1);
  z[n] ~ Categorical(w);
  observe x[n] ~ Normal(mean = mu[z[n]], precision = 2); })";
const std::array<double, 6> kPoints = {-2.5, -1.0, 0.2, 1.1, 2.0, 3.5};
const std::array<double, 2> kShares = {0.3, 0.7};

DataArray array(const char* name, std::span<const double> values) {
  DataArray x;
  x.name = name;
  x.shape = {std::ssize(values)};
  x.values.assign(values.begin(), values.end());
  return x;
}

/// Naturals (precision * mean, -precision / 2) of both components.
using Naturals = std::array<double, 4>;

/// Returns the natural parameters that a batch asks for, at the means and precisions of the naturals `now`.
Naturals target(const Naturals& now, std::span<const std::int64_t> batch) {
  Naturals out = {0, -0.05, 0, -0.05};
  const double scale = static_cast<double>(kPoints.size()) / static_cast<double>(batch.size());
  for (const std::int64_t i : batch) {
    const double x = kPoints[static_cast<std::size_t>(i)];
    std::array<double, 2> p{};
    for (std::size_t k = 0; k < 2; ++k) {
      const double precision = -2 * now[2 * k + 1], mean = now[2 * k] / precision;
      p[k] = kShares[k] * std::exp(-((x - mean) * (x - mean) + 1 / precision));
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const double phi = p[k] / (p[0] + p[1]);
      out[2 * k] += scale * 2 * phi * x;
      out[2 * k + 1] -= scale * phi;
    }
  }
  return out;
}

double square(const Naturals& x) {
  double out = 0;
  for (double v : x)
    out += v * v;
  return out;
}

}  // namespace

TEST_CASE("a point after a block with a rate has the step of the weights") {
  Diagnostics diagnostics;
  const std::optional<Analysed> front = analyse({"points", R"(model m {
    plate n;
    a ~ Gamma(shape = 2, rate = 1);
    b ~ Gamma(shape = 3, rate = 2);
    observe x[n] ~ Poisson(a);
    observe y[n] ~ Poisson(b);
    guide point(b); })"},
                                                {}, diagnostics);
  REQUIRE(front);
  const std::array<double, 3> x = {1, 4, 2}, y = {3, 0, 6};
  const Dataset dataset = {{"x", array("x", x)}, {"y", array("y", y)}};
  const Result<BoundData> data = lehr::bind(front->model, dataset, {});
  REQUIRE(data);
  Instance instance(*front, *data, {.gradients = true}, Backend::native);
  REQUIRE(instance.start(1, 0));
  REQUIRE(instance.set({{"b.value", {}, {1.0}, false}}, "test"));
  AdaptiveSteps steps(instance.engine());
  double b = 1;
  for (int t = 0; t < 2 * AdaptiveSteps::kWarmUp; ++t) {
    const Weights weights{.step = 0.25};
    instance.engine().set(weights);
    const SweepPlan plan{.update = [&](const StepRow& block) { return steps.update(block, weights); }};
    REQUIRE(sweep(instance.engine(), {}, plan) == 0);
    b += 0.25 * ((3 - 1 + 9) / (2 + 3.0) - b);  // towards the maximum of the density
    for (const NamedArray& p : instance.posterior(false))
      if (p.name == "b.value") CHECK(p.values[0] == Approx(b).epsilon(1e-12));
  }
}

TEST_CASE("steps follow the noise of the natural gradients") {
  Diagnostics diagnostics;
  const std::optional<Analysed> front = analyse({"mixture", kMixture}, {}, diagnostics);
  REQUIRE(front);
  const Dataset dataset = {{"x", array("x", kPoints)}, {"w", array("w", kShares)}};
  const Result<BoundData> data = lehr::bind(front->model, dataset, {});
  REQUIRE(data);
  Instance instance(*front, *data, {.gradients = true}, Backend::native);
  REQUIRE(instance.start(1, 0));
  Naturals now = {-1.0 * 4, -2.0, 1.5 * 5, -2.5};
  REQUIRE(instance.set({{"mu.mean", {2}, {-1.0, 1.5}, false}, {"mu.precision", {2}, {4, 5}, false}}, "test"));

  AdaptiveSteps steps(instance.engine());
  Naturals mean{};
  double tau = 0, noise = 0;
  for (std::int64_t t = 0; t < 60; ++t) {
    std::array<std::int64_t, 2> batch = {t * 5 % 6, (t * t + 1 + t * 5) % 6};
    if (batch[0] == batch[1]) batch[1] = (batch[1] + 1) % 6;
    std::sort(batch.begin(), batch.end());
    const SweepPlan plan{.batch = batch, .update = [&](const StepRow& block) { return steps.update(block, {}); }};
    REQUIRE(sweep(instance.engine(), {}, plan) == 0);

    const Naturals asked = target(now, batch);
    const bool warm = t >= AdaptiveSteps::kWarmUp;
    if (!warm) tau = static_cast<double>(t + 1);
    Naturals g{};
    for (std::size_t k = 0; k < 4; ++k) {
      g[k] = asked[k] - now[k];
      mean[k] = (1 - 1 / tau) * mean[k] + g[k] / tau;
    }
    noise = (1 - 1 / tau) * noise + square(g) / tau;
    const double rho = warm ? square(mean) / noise : 0;
    if (warm) tau = tau * (1 - rho) + 1;
    for (std::size_t k = 0; k < 4; ++k)
      now[k] += rho * g[k];
    INFO("step " << t << ", rho " << rho);
    const std::vector<NamedArray> posterior = instance.posterior(false);
    for (const NamedArray& a : posterior) {
      for (std::size_t k = 0; k < 2 && a.name.starts_with("mu."); ++k) {
        const double precision = -2 * now[2 * k + 1];
        CHECK(a.values[k] == Approx(a.name == "mu.mean" ? now[2 * k] / precision : precision).epsilon(1e-10));
      }
    }
  }
}
