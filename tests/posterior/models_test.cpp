// Every example model on the data that the comment at its head names. The ELBO never falls, and the interpreter and the
// native code agree. The fixed point is a maximum of the ELBO in every global parameter, by finite differences.
#include <catch2/catch.hpp>

#include <cmath>

#include "compiler/instance/instance.h"
#include "runtime/inference/cavi.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;
using test::Prepared;

Outcome run(Instance& instance, const CaviOptions& options, std::vector<double>& elbos) {
  return run_cavi(instance.engine(), options, [&](const SweepReport& r) {
    elbos.push_back(r.elbo);
    return true;
  });
}

/// Returns the largest difference relative to the number in b, or to `floor` times the largest of its array.
double worst_difference(const std::vector<NamedArray>& a, const std::vector<NamedArray>& b, double floor) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double size = 0;
    for (double v : b[k].values)
      size = std::max(size, std::abs(v));
    for (std::size_t i = 0; i < a[k].values.size(); ++i) {
      const double scale = std::max(std::abs(b[k].values[i]), floor * size) + 1e-300;
      worst = std::max(worst, std::abs(a[k].values[i] - b[k].values[i]) / scale);
    }
  }
  return worst;
}

bool is_chain(const Prepared& p, const std::string& variable) {
  for (const conditionals::Block& b : p.front.schedule.conditionals.blocks) {
    if (p.front.model[b.variable].name == variable) return b.chain.has_value();
  }
  return false;
}

/// Returns the ELBO with the local factors and the chains optimised for the given global parameters. Marginals of its
/// elements do not determine a chain, so its factor is computed again from the other factors.
double best_elbo(const Prepared& p, Instance& instance, const CaviOptions& options) {
  std::vector<std::int64_t> chains;
  for (const StepRow& step : instance.engine().steps()) {
    if (!step.stage && p.front.schedule.conditionals.blocks[static_cast<std::size_t>(step.block)].chain)
      chains.push_back(step.update);
  }
  double before = NAN;
  Elbo elbo;
  for (int pass = 0; pass < 1000; ++pass) {
    for (const std::int64_t chain : chains) {
      if (instance.engine().call(chain) != 0) return NAN;
    }
    if (evaluate(instance.engine(), options, elbo) != 0) return NAN;
    if (chains.size() < 2 || std::abs(elbo.value - before) <= 1e-14 * std::abs(elbo.value)) return elbo.value;
    before = elbo.value;
  }
  return elbo.value;
}

double bound_of(Instance& instance) {
  Elbo out;
  REQUIRE(instance.engine().elbo(out) == 0);
  return out.value;
}

}  // namespace

TEST_CASE("every model: monotone, interpreter = native, a maximum at the fixed point") {
  const auto all = test::models();
  REQUIRE(all.size() >= 13);
  for (const auto& path : all) {
    DYNAMIC_SECTION(path.stem().string()) {
      const auto p = test::prepare(path);
      Instance native(p->front, p->data, {true}, Backend::native);
      Instance slow(p->front, p->data, {true}, Backend::interpreter);

      // The same few sweeps in native code and the interpreter.
      CaviOptions few;
      few.max_iterations = 3;
      few.local_iterations = 5;
      std::vector<double> a, b;
      REQUIRE(native.start(7, 0));
      REQUIRE(slow.start(7, 0));
      REQUIRE(run(native, few, a).status != Status::numerical_failure);
      REQUIRE(run(slow, few, b).status != Status::numerical_failure);
      REQUIRE(a.size() == b.size());
      for (std::size_t k = 0; k < a.size(); ++k)
        CHECK(a[k] == Approx(b[k]).epsilon(1e-10));
      // The solution of a linear system has errors relative to its largest entry.
      CHECK(worst_difference(native.posterior(true), slow.posterior(true), 1) < 2e-11);
      CHECK(worst_difference(native.posterior(true), slow.posterior(true), 1e-3) < 1e-9);

      // Cached sums must be those of the present factors, also after factors have been loaded from outside.
      const Arrays q = native.engine().save();
      const double bound = bound_of(native);
      native.engine().invalidate_sums();
      CHECK(bound_of(native) == bound);
      std::vector<double> more;
      run(native, few, more);
      native.engine().load(q);
      CHECK(bound_of(native) == bound);

      // Sweep to the fixed point; the ELBO must not fall on the way.
      CaviOptions tight;
      tight.max_iterations = 20000;
      tight.tolerance = 1e-22;
      tight.local_iterations = 1000;
      tight.local_tolerance = 1e-13;
      std::vector<double> elbos;
      const Outcome outcome = run(native, tight, elbos);
      REQUIRE(outcome.status != Status::numerical_failure);
      for (std::size_t k = 1; k < elbos.size(); ++k)
        CHECK(elbos[k] >= elbos[k - 1] - 1e-9 * (1 + std::abs(elbos[k])));

      const double top = best_elbo(*p, native, tight);
      REQUIRE(std::isfinite(top));
      // Expected squares of a chain of numbers near 1000 cancel with the data's, to 1e-8 of a nat.
      const auto is_a_chain = [](const conditionals::Block& b) { return b.chain.has_value(); };
      const bool chains = std::ranges::any_of(p->front.schedule.conditionals.blocks, is_a_chain);
      for (const NamedArray& array : native.posterior(false)) {
        if (array.name.ends_with(".probs") || is_chain(*p, array.name.substr(0, array.name.find('.')))) continue;
        const bool matrix = array.name.ends_with(".scale") || array.name.ends_with(".precision");
        const std::size_t d = array.shape.empty() ? 1 : static_cast<std::size_t>(array.shape.back());
        const bool square =
            matrix && array.shape.size() >= 2 && array.shape[array.shape.size() - 2] == array.shape.back();
        // A point on the simplex stays on it: what one entry gains, the next one loses.
        const std::string variable = array.name.substr(0, array.name.rfind('.'));
        const bool simplex =
            array.name.ends_with(".value") &&
            std::any_of(p->front.model.variables.begin(), p->front.model.variables.end(),
                        [&](const auto& v) { return v.name == variable && v.support == math::Support::simplex; });
        const bool positive_point =
            array.name.ends_with(".value") &&
            std::any_of(p->front.model.variables.begin(), p->front.model.variables.end(),
                        [&](const auto& v) { return v.name == variable && v.support == math::Support::positive; });
        const std::size_t stride = std::max<std::size_t>(1, array.values.size() / 5);
        for (std::size_t i = 0; i < array.values.size(); i += stride) {
          const double h = 1e-4 * std::max(std::abs(array.values[i]), 1e-3);
          const auto at = [&](double delta) {
            NamedArray moved = array;
            moved.values[i] += delta;
            if (simplex) moved.values[i / d * d + (i + 1) % d] -= delta;
            if (square) {
              const std::size_t row = i / d % d, column = i % d, base = i - row * d - column;
              moved.values[base + column * d + row] = moved.values[i];
            }
            return native.set({moved}, "test") ? best_elbo(*p, native, tight) : NAN;
          };
          const double up = at(h), down = at(-h);
          REQUIRE(native.set({array}, "test"));
          const double slope = (up - down) / (2 * h), curvature = (up - 2 * top + down) / (h * h);
          const double noise = (chains ? 1e-10 : 1e-11) * (1 + std::abs(top));
          INFO(array.name << "[" << i << "] = " << array.values[i] << " slope " << slope << " curvature " << curvature);
          CHECK(up <= top + noise);
          // A positive point whose maximum is at 0 approaches it without reaching it, so the ELBO rises only in that
          // direction.
          if (positive_point && array.values[i] < 1e-5) {
            CHECK(slope < 0);
            continue;
          }
          CHECK(down <= top + noise);
          // The Newton step to the maximum must be small, if the curvature is larger than rounding errors.
          if (-curvature * h * h > 1e3 * noise) CHECK(std::abs(slope / curvature) < 0.1 * h + 1e-9);
          else CHECK(std::abs(slope) * h < 1e2 * noise);
        }
      }
    }
  }
}
