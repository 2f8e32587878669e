// The residual form of squared sums. For y ~ Normal(sum(r) U[a, r] V[b, r], tau), sums over pairs (r, r') are replaced
// by the residual of the whole sum, in linear instead of quadratic time. Sweeps must be the same as with all pairs, in
// native code and in the interpreter.
#include <catch2/catch.hpp>

#include <cmath>

#include "compiler/instance/instance.h"
#include "compiler/pipeline.h"
#include "runtime/inference/cavi.h"
#include "runtime/rng.h"
#include "tests/results.h"

namespace {

using namespace lehr;

struct Case {
  const char* name;
  std::vector<std::string> kept;  // for each residual, the blocks during whose updates it is maintained
  const char* model;
};

const Case kCases[] = {
    {"two factors and a bias", {"U V"}, R"(
      U[p, r] ~ Normal(mean = 0, precision = 1);
      V[q, r] ~ Normal(mean = 0, precision = 2);
      bias[p] ~ Normal(mean = 0, precision = 1);
      tau     ~ Gamma(shape = 2, rate = 1);
      observe y[e] ~ Normal(mean = sum(r) U[a[e], r] * V[b[e], r] + bias[a[e]], precision = tau);)"},
    {"three factors, data in the sum, precisions by group", {"U V W"}, R"(
      U[p, r] ~ Normal(mean = 0, precision = 1);
      V[q, r] ~ Normal(mean = 0, precision = 2);
      W[o, r] ~ Normal(mean = 1, precision = 3);
      tau[p]  ~ Gamma(shape = 2, rate = 1);
      observe y[e] ~ Normal(mean = sum(r) x[e, r] * U[a[e], r] * V[b[e], r] * W[c[e], r], precision = tau[a[e]]);)"},
    {"a precision for every entry", {"U V"}, R"(
      U[p, r] ~ Normal(mean = 0, precision = 1);
      V[q, r] ~ Normal(mean = 0, precision = 1);
      tau[e]  ~ Gamma(shape = 2, rate = 2);
      observe y[e] ~ Normal(mean = sum(r) U[a[e], r] * V[b[e], r], precision = tau[e]);)"},
    {"bits", {"Z V"}, R"(
      Z[p, r] ~ Bernoulli(0.4);
      V[q, r] ~ Normal(mean = 0, precision = 1);
      observe y[e] ~ Normal(mean = sum(r) Z[a[e], r] * V[b[e], r], sd = 0.5);)"},
    {"an axis that is neither data nor summed", {"U V"}, R"(
      U[p, t, r] ~ Normal(mean = 0, precision = 1);
      V[q, r]    ~ Normal(mean = 0, precision = 1);
      tau        ~ Gamma(shape = 2, rate = 1);
      observe w[e, t] ~ Normal(mean = sum(r) U[a[e], t, r] * V[b[e], r], precision = tau);)"},
    {"two sums", {"U V", "W X"}, R"(
      U[p, r] ~ Normal(mean = 0, precision = 1);
      V[q, r] ~ Normal(mean = 0, precision = 1);
      W[p, o] ~ Normal(mean = 0, precision = 1);
      X[q, o] ~ Normal(mean = 0, precision = 1);
      tau     ~ Gamma(shape = 2, rate = 1);
      observe y[e] ~ Normal(mean = sum(r) U[a[e], r] * V[b[e], r] + sum(o) W[a[e], o] * X[b[e], o], precision = tau);)"},
    {"two elements of one block in a summand: its update reads the pairs", {""}, R"(
      Z[p, r] ~ Bernoulli(0.4);
      tau     ~ Gamma(shape = 2, rate = 1);
      observe y[e] ~ Normal(mean = sum(r) Z[a[e], r] * Z[d[e], r], precision = tau);)"},
};

const std::string kPlates = R"(model m {
      plate p; plate q; plate e; plate r = 3; plate o = 2; plate t = 2;
      data a[e] : p; data d[e] : p; data b[e] : q; data c[e] : o; data x[e, r] : real;)";

Dataset dataset() {
  constexpr std::size_t kEntries = 40;
  Rng rng(11, 0);
  Dataset out;
  const auto add = [&](const char* name, std::int64_t columns, std::uint64_t below) {
    DataArray x;
    x.name = name;
    x.shape = {static_cast<std::int64_t>(kEntries)};
    if (columns > 1) x.shape.push_back(columns);
    x.integral = below > 0;
    for (std::size_t i = 0; i < kEntries * static_cast<std::size_t>(columns); ++i)
      x.values.push_back(below > 0 ? static_cast<double>(i < below ? i : draw_below(rng, below))
                                   : 2 * draw_normal(rng));
    out[name] = std::move(x);
  };
  add("a", 1, 7);
  add("d", 1, 7);
  add("b", 1, 5);
  add("c", 1, 2);
  add("x", 3, 0);
  add("w", 2, 0);
  add("y", 1, 0);
  out["y"].values[3] = NAN;
  out["y"].has_missing = true;
  return out;
}

/// Returns the analysis without residual forms, so that every pair is visited.
Analysed without_residuals(Analysed a) {
  for (schedule::OuterTerm& t : a.schedule.outer)
    t.residual.reset();
  a.schedule.residuals.clear();
  return a;
}

struct Sweeps {
  std::vector<double> elbos;
  std::vector<NamedArray> posterior;
};

Sweeps sweeps(const Analysed& a, const BoundData& data, Backend backend) {
  Instance instance(a, data, {true}, backend);
  REQUIRE(instance.start(3, 0));
  CaviOptions options;
  options.max_iterations = 6;
  options.tolerance = 0;
  options.annealing.from = 3;
  options.annealing.over = 3;
  Sweeps out;
  const Outcome outcome = run_cavi(instance.engine(), options, [&](const SweepReport& r) {
    out.elbos.push_back(r.elbo);
    return true;
  });
  REQUIRE(outcome.status != Status::numerical_failure);
  out.posterior = instance.posterior(true);
  return out;
}

void check_equal(const Sweeps& x, const Sweeps& y) {
  REQUIRE(x.elbos.size() == y.elbos.size());
  for (std::size_t k = 0; k < x.elbos.size(); ++k)
    CHECK(x.elbos[k] == Approx(y.elbos[k]).epsilon(1e-11));
  for (std::size_t k = 0; k < x.posterior.size(); ++k) {
    for (std::size_t i = 0; i < x.posterior[k].values.size(); ++i)
      CHECK(x.posterior[k].values[i] == Approx(y.posterior[k].values[i]).epsilon(1e-9).margin(1e-9));
  }
}

}  // namespace

TEST_CASE("pairs of a sum: by the sum as one by one") {
  for (const Case& c : kCases) {
    DYNAMIC_SECTION(c.name) {
      const Source source{"m.lehr", kPlates + c.model + "}"};
      const Dataset values = dataset();
      Diagnostics diagnostics;
      const std::optional<Analysed> complete = analyse(source, {}, diagnostics);
      REQUIRE(complete);
      density::ExpandOptions missing;
      for (const model::Variable& v : complete->model.variables)
        missing.may_be_missing.push_back(v.observed);
      std::optional<Analysed> front = analyse(source, missing, diagnostics);
      INFO(render(diagnostics, source));
      REQUIRE(front);
      const BoundData data = test::require_ok(lehr::bind(front->model, values, {}));
      const schedule::Schedule& s = front->schedule;
      std::vector<std::string> kept;
      for (const schedule::Residual& r : s.residuals) {
        std::string names;
        for (schedule::BlockId b : r.maintained_by)
          names += (names.empty() ? "" : " ") + front->model[s.conditionals[b].variable].name;
        kept.push_back(names);
      }
      CHECK(kept == c.kept);
      const Sweeps by_sum = sweeps(*front, data, Backend::native);
      check_equal(by_sum, sweeps(without_residuals(*front), data, Backend::native));
      check_equal(by_sum, sweeps(*front, data, Backend::interpreter));
    }
  }
}
