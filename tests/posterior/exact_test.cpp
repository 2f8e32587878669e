// Exact sampling by coupling from the past (Propp & Wilson 1996) with envelopes: a sample is claimed when the bounds of
// all chains agree. The test runs the ordinary sampler from each of the 2^n states with the same random numbers; all
// must end in the claimed sample. Frequencies of samples would not show an error, since samples of chains that have not
// all met can look right.
#include <catch2/catch.hpp>

#include <string>
#include <utility>

#include "compiler/instance/instance.h"
#include "compiler/pipeline.h"
#include "runtime/inference/samplers/exact.h"
#include "runtime/inference/sweep.h"
#include "tests/results.h"

namespace {

using namespace lehr;

struct Case {
  const char* name;
  const char* model;
  std::vector<std::pair<const char*, std::vector<double>>> data;
};

const std::vector<double> kLeft = {0, 1, 3, 4, 6, 7, 0, 1, 2, 3, 4, 5}, kRight = {1, 2, 4, 5, 7, 8, 3, 4, 5, 6, 7, 8};
const std::vector<double> kField = {0.2, -0.3, 0, 0.1, 0, -0.1, 0.4, 0, 0.05};

const Case kGlass = {"couplings of either sign on 3 x 3",
                     R"(plate e; plate i; data a[e] : i; data b[e] : i; data J[e] : real; data h[i] : real;
      s[i] ~ Spin(); potential[e] J[e] * s[a[e]] * s[b[e]]; potential[i] h[i] * s[i];)",
                     {{"a", kLeft},
                      {"b", kRight},
                      {"J", {0.4, -0.3, 0.5, -0.4, -0.2, 0.4, -0.5, 0.3, 0.4, -0.4, -0.3, 0.2}},
                      {"h", kField}}};
const Case kFerromagnet = {
    "ferromagnet", kGlass.model, {{"a", kLeft}, {"b", kRight}, {"J", std::vector(12, 0.35)}, {"h", kField}}};
const Case kOthers[] = {
    {"terms of three",
     R"(plate i = 7; plate k; data a[k] : i; data b[k] : i; data c[k] : i; data w[k] : real; s[i] ~ Spin();
      z ~ Bernoulli(0.3); potential[k] w[k] * s[a[k]] * s[b[k]] * s[c[k]]; potential[i] 0.3 * z * s[i];)",
     {{"a", {0, 1, 2, 3}}, {"b", {1, 2, 3, 4}}, {"c", {4, 5, 6, 0}}, {"w", {0.3, -0.4, 0.2, -0.3}}}},
    {"a bit for each item, two for all",
     R"(plate n; z[n] ~ Bernoulli(0.4); plate k = 2; t[k] ~ Spin();
      observe x[n] ~ Normal(mean = 0.8 * z[n] - 0.6 * t[0] + 0.5 * t[1], sd = 1.2);)",
     {{"x", {0.3, -0.8, 1.4, 0.2}}}},
    {"sums of bits of known weight",
     R"(plate n; plate k = 3; data w[k] : real; z[n, k] ~ Bernoulli(0.5); observe x[n] ~ Normal(mean = sum(k) w[k] * z[n, k], sd = 1);)",
     {{"x", {0.3, 1.1}}, {"w", {0.5, -0.7, 0.9}}}},
    {"bits against spins along edges",
     R"(plate e; plate i = 4; plate j = 3; data a[e] : i; data b[e] : j; s[i] ~ Spin(); z[j] ~ Bernoulli(0.6);
      potential[e] -0.7 * s[a[e]] * z[b[e]]; potential[j] 0.5 * z[j];)",
     {{"a", {0, 1, 2, 3, 0, 2}}, {"b", {0, 0, 1, 1, 2, 2}}}},
};

/// A small model prepared for exact sampling.
struct Sampler {
  explicit Sampler(const Case& c, Backend backend = Backend::native) {
    INFO(c.name);
    Diagnostics diagnostics;
    const std::optional<Analysed> front = analyse({"m", "model m { " + std::string(c.model) + " }"}, {}, diagnostics);
    REQUIRE(front);
    drawn = test::require_ok(with_sample_factors(*front));
    Dataset dataset;
    for (const auto& [name, values] : c.data) {
      DataArray x;
      x.name = name;
      x.shape = {std::ssize(values)};
      x.values = values;
      dataset[name] = x;
    }
    data = test::require_ok(lehr::bind(drawn.model, dataset, {}));
    instance = std::make_unique<Instance>(drawn, data, loops::LowerOptions{.envelope = true}, backend);
    REQUIRE(instance->start(1, 0));
    options.seed = 5;
  }
  const Engine& engine() const { return instance->engine(); }

  template <class Body>
  void each_element(const Body& body) const {
    for (const machine::ParameterRow& row : machine::parameters_of(engine().model())) {
      for (double& x : engine().reals(row.buffer))
        body(x, row.support == machine::Support::spin ? -1.0 : 0.0);
    }
  }
  std::vector<double> state() const {
    std::vector<double> out;
    each_element([&](double x, double) { out.push_back(x); });
    return out;
  }
  /// Runs the ordinary sampler from a state `back` sweeps before the end, and returns the final state. Element k starts
  /// at its larger value if bit k of `from` is 1.
  std::vector<double> run_from(std::uint64_t from, std::int64_t draw, std::int64_t back) const {
    each_element([&](double& x, double least) {
      x = (from & 1U) != 0 ? 1 : least;
      from >>= 1U;
    });
    const Engine& e = engine();
    REQUIRE(e.call(e.model().expectations) == 0);
    REQUIRE(prepare_statistics(e) == 0);
    machine::set_key(e.machine(), options.seed, static_cast<std::uint64_t>(draw), -back * e.model().step_count);
    for (std::int64_t t = 0; t < back; ++t)
      REQUIRE(sweep(e, {.local_iterations = 1}) == 0);
    return state();
  }
  /// Returns how many sweeps before the end all chains must start so that the bounds agree (a power of two).
  std::int64_t met(std::int64_t draw) const {
    for (std::int64_t back = 1; back <= 4096; back *= 2) {
      double undecided = 1;
      REQUIRE(run_envelope(engine(), options, draw, back, undecided) == 0);
      if (undecided == 0) return back;
    }
    FAIL("never met");
    return 0;
  }

  Analysed drawn;
  BoundData data;
  std::unique_ptr<Instance> instance;
  ExactOptions options;
};

/// Returns the number of starting states whose run does not end at `state`.
int elsewhere(const Sampler& s, const std::vector<double>& state, std::int64_t draw, std::int64_t back) {
  int out = 0;
  for (std::uint64_t from = 0; from < std::uint64_t{1} << state.size(); ++from)
    out += s.run_from(from, draw, back) != state;
  return out;
}

void check_all_starts(const Case& c, std::int64_t draws) {
  const Sampler s(c);
  INFO(c.name);
  int wrong = 0;
  for (std::int64_t draw = 0; draw < draws; ++draw) {
    const std::int64_t back = s.met(draw);
    const std::vector<double> sample = s.state();
    REQUIRE(sample.size() <= 9);
    wrong += elsewhere(s, sample, draw, back);
    // Starting earlier must give the same sample, since each time keeps its random numbers (MacKay, exercise 32.2).
    double undecided = 1;
    REQUIRE(run_envelope(s.engine(), s.options, draw, 4 * back, undecided) == 0);
    wrong += undecided > 0 || s.state() != sample;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("no sample is claimed before all starts have met") {
  check_all_starts(kGlass, 150);
  for (const Case& c : kOthers)
    check_all_starts(c, 40);
}

TEST_CASE("the same check finds what two runs alone claim falsely") {
  // With couplings of both signs, the runs from the largest and the smallest state are no bounds of the others.
  const Sampler s(kGlass);
  int wrong = 0;
  for (std::int64_t draw = 0; draw < 50; ++draw) {
    std::int64_t back = 1;
    while (s.run_from(0, draw, back) != s.run_from(511, draw, back))
      back *= 2;
    wrong += elsewhere(s, s.run_from(0, draw, back), draw, back) > 0;
  }
  CHECK(wrong > 10);
}

TEST_CASE("of a ferromagnet the bounds are the runs from the largest and the smallest state") {
  const Sampler s(kFerromagnet);
  CHECK(couplings(s.engine()).attractive());
  CHECK(!couplings(Sampler(kGlass).engine()).attractive());
  CHECK(!couplings(Sampler(kOthers[0]).engine()).attractive());
  for (std::int64_t draw = 0; draw < 100; ++draw) {
    for (std::int64_t back = 1; back <= 16; back *= 2) {
      const std::vector<double> low = s.run_from(0, draw, back), high = s.run_from(511, draw, back);
      double undecided = 0, apart = 0;
      REQUIRE(run_envelope(s.engine(), s.options, draw, back, undecided) == 0);
      for (std::size_t k = 0; k < low.size(); ++k)
        apart += low[k] != high[k];
      REQUIRE(undecided == apart);
      REQUIRE(s.state() == high);
    }
  }
}

TEST_CASE("native code and the interpreter bound alike") {
  const Sampler native(kGlass), interpreted(kGlass, Backend::interpreter);
  for (std::int64_t draw = 0; draw < 10; ++draw) {
    REQUIRE(native.met(draw) == interpreted.met(draw));
    REQUIRE(native.state() == interpreted.state());
  }
}
