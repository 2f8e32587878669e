// Sums over pairs of elements, split into separable sums and lists (compiler/schedule/separate_pairs.h). Sweeps must be
// the same as with all pairs, in native code and in the interpreter, and so must the draws of a sampler. Networks are
// directed and undirected, with and without ties of a member to itself, and miss some pairs.
#include <catch2/catch.hpp>

#include <cmath>

#include "compiler/instance/instance.h"
#include "compiler/pipeline.h"
#include "runtime/inference/cavi.h"
#include "runtime/machine/random.h"
#include "runtime/rng.h"
#include "tests/results.h"

namespace {

using namespace lehr;

constexpr std::int64_t kMembers = 13;

/// Which pairs of members the data have.
using Present = bool (*)(std::int64_t i, std::int64_t j);

bool all(std::int64_t, std::int64_t) { return true; }
bool no_self(std::int64_t i, std::int64_t j) { return i != j; }
bool upper(std::int64_t i, std::int64_t j) { return i < j; }
bool lower(std::int64_t i, std::int64_t j) { return i > j; }
bool half(std::int64_t i, std::int64_t j) { return i <= j; }
bool gaps(std::int64_t i, std::int64_t j) { return i != j && (3 * i + 5 * j) % 11 != 0; }
bool upper_gaps(std::int64_t i, std::int64_t j) { return i < j ? (3 * i + 5 * j) % 11 != 0 : (i + 2 * j) % 19 == 0; }

struct Case {
  const char* name;
  Present present;
  std::size_t lists;              // plates that are added: pairs that differ, and pairs that are not covered
  std::vector<std::string> kept;  // for each residual form, the blocks during whose updates it is kept
  const char* model;
};

const char* const kBlocks = R"(
      pi          ~ Dirichlet(concentration = 1) over g;
      B[g, h]     ~ Beta(1, 2);
      z[member]   ~ Categorical(pi);
      observe tie[member, other] ~ Bernoulli(B[z[member], z[other]]);)";
const char* const kListed = R"(
      pi          ~ Dirichlet(concentration = 1) over g;
      B[g, h]     ~ Beta(1, 2);
      z[member]   ~ Categorical(pi);
      observe listed[pair] ~ Bernoulli(B[z[a[pair]], z[b[pair]]]);)";

const Case kCases[] = {
    {"directed, with ties to oneself", all, 1, {"z"}, kBlocks},
    {"directed", no_self, 1, {"z"}, kBlocks},
    {"undirected", upper, 1, {"z"}, kBlocks},
    {"undirected, below the diagonal", lower, 1, {"z"}, kBlocks},
    {"undirected, with ties to oneself", half, 1, {"z"}, kBlocks},
    {"directed, some pairs are missing", gaps, 2, {"z"}, kBlocks},
    {"undirected, some pairs are missing, others are on the wrong side", upper_gaps, 2, {"z"}, kBlocks},
    {"a list with all pairs", all, 1, {"z"}, kListed},
    {"a directed list", no_self, 1, {"z"}, kListed},
    {"an undirected list", upper, 1, {"z"}, kListed},
    {"an undirected list, larger first", lower, 1, {"z"}, kListed},
    {"a list, some pairs are missing", gaps, 2, {"z"}, kListed},
    {"an undirected list, some pairs are missing, others are on the wrong side", upper_gaps, 2, {"z"}, kListed},
    {"counts", no_self, 1, {"z"}, R"(
      pi            ~ Dirichlet(concentration = 1) over g;
      rate[g, h]    ~ Gamma(shape = 1, rate = 2);
      z[member]     ~ Categorical(pi);
      observe count[member, other] ~ Poisson(rate[z[member], z[other]]);)"},
    {"members without ties", upper, 1, {"u z"}, R"(
      pi            ~ Dirichlet(concentration = 1) over g;
      mu[g, h]      ~ Normal(mean = 0, precision = 1);
      tau           ~ Gamma(shape = 2, rate = 1);
      u[member]     ~ Bernoulli(0.7);
      z[member]     ~ Categorical(pi);
      observe y[member, other] ~ Normal(mean = u[member] * u[other] * mu[z[member], z[other]], precision = tau);)"},
    {"numbers", no_self, 1, {"z"}, R"(
      pi            ~ Dirichlet(concentration = 1) over g;
      mu[g, h]      ~ Normal(mean = 0, precision = 1);
      tau           ~ Gamma(shape = 2, rate = 1);
      z[member]     ~ Categorical(pi);
      observe y[member, other] ~ Normal(mean = mu[z[member], z[other]], precision = tau);)"},
    {"a covariate: terms with it stay", no_self, 1, {"z"}, R"(
      pi            ~ Dirichlet(concentration = 1) over g;
      mu[g, h]      ~ Normal(mean = 0, precision = 1);
      slope         ~ Normal(mean = 0, precision = 1);
      tau           ~ Gamma(shape = 2, rate = 1);
      z[member]     ~ Categorical(pi);
      observe y[member, other] ~ Normal(mean = mu[z[member], z[other]] + slope * x[member, other], precision = tau);)"},
    {"senders and receivers: items of a stage", all, 0, {}, R"(
      pi            ~ Dirichlet(concentration = 1) over g;
      ro            ~ Dirichlet(concentration = 1) over g;
      B[g, h]       ~ Beta(1, 2);
      z[member]     ~ Categorical(pi);
      w[member]     ~ Categorical(ro);
      observe tie[member, other] ~ Bernoulli(B[z[member], w[other]]);)"},
    {"couplings of spins", all, 1, {}, R"(
      s[member]     ~ Spin();
      potential[member, other] J[member, other] * s[member] * s[other];)"},
    {"three elements of a list: all pairs are visited", upper, 0, {}, R"(
      pi            ~ Dirichlet(concentration = 1) over g;
      B[g, h, k]    ~ Beta(1, 2);
      z[member]     ~ Categorical(pi);
      w[kind]       ~ Categorical(ro);
      ro            ~ Dirichlet(concentration = 1) over k;
      observe listed[pair] ~ Bernoulli(B[z[a[pair]], z[b[pair]], w[c[pair]]]);)"},
};

const std::string kPlates = R"(model m {
      plate member; plate other = member; plate pair; plate kind = 2; plate g = 3; plate h = g; plate k = 2;
      data a[pair] : member; data b[pair] : member; data c[pair] : kind;
      data x[member, other] : real; data J[member, other] : real;)";

/// Returns values for all names. Of the pairs, few have another value than 0, and some are absent.
Dataset dataset(Present present) {
  Rng rng(7, 0);
  Dataset out;
  const auto add = [&](const char* name, std::vector<std::int64_t> shape, std::vector<double> values, bool integral) {
    DataArray x;
    x.name = name;
    x.shape = std::move(shape);
    x.integral = integral;
    x.has_missing = std::ranges::any_of(values, [](double v) { return std::isnan(v); });
    x.values = std::move(values);
    out[name] = std::move(x);
  };
  std::vector<double> tie, count, y, x, J, a, b, c, listed;
  for (std::int64_t i = 0; i < kMembers; ++i) {
    for (std::int64_t j = 0; j < kMembers; ++j) {
      const bool is_present = present(i, j), is_tie = (i % 3 == j % 3 && draw_uniform(rng) < 0.4) || i + j == 7;
      const double value = draw_normal(rng);
      tie.push_back(is_present ? is_tie : NAN);
      count.push_back(is_present ? (is_tie ? 1 + double(draw_below(rng, 3)) : 0) : NAN);
      y.push_back(is_present ? (is_tie ? value : 0) : NAN);
      x.push_back(draw_normal(rng));
      J.push_back(is_tie ? 0.3 * value : 0);
      if (!is_present) continue;
      a.push_back(double(i));
      b.push_back(double(j));
      c.push_back(double((i + j) % 2));
      listed.push_back(is_tie);
    }
  }
  const std::vector<std::int64_t> square{kMembers, kMembers}, row{std::ssize(a)};
  add("tie", square, std::move(tie), false);
  add("count", square, std::move(count), false);
  add("y", square, std::move(y), false);
  add("x", square, std::move(x), false);
  add("J", square, std::move(J), false);
  add("a", row, std::move(a), true);
  add("b", row, std::move(b), true);
  add("c", row, std::move(c), true);
  add("listed", row, std::move(listed), true);
  return out;
}

struct Sweeps {
  std::vector<double> elbos;
  std::vector<NamedArray> posterior;
};

Sweeps sweeps(const Analysed& a, const BoundData& data, Backend backend) {
  Instance instance(a, data, {.save_locals = true}, backend);
  REQUIRE(instance.start(3, 0));
  CaviOptions options;
  options.max_iterations = 6;
  options.tolerance = 0;
  options.leap_after = 0;
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

/// Returns the state of a Gibbs sampler after some sweeps.
Sweeps drawn(const Analysed& a, const BoundData& data) {
  Instance instance(a, data, {.save_locals = true}, Backend::native);
  REQUIRE(instance.start(3, 0));
  machine::set_key(instance.engine().machine(), 5, 0);
  REQUIRE(prepare_statistics(instance.engine()) == 0);
  for (int k = 0; k < 8; ++k)
    REQUIRE(sweep(instance.engine(), {.local_iterations = 1}) == 0);
  return {{}, instance.posterior(true)};
}

void check_equal(const Sweeps& x, const Sweeps& y) {
  REQUIRE(x.elbos.size() == y.elbos.size());
  for (std::size_t k = 0; k < x.elbos.size(); ++k)
    CHECK(x.elbos[k] == Approx(y.elbos[k]).epsilon(1e-11));
  REQUIRE(x.posterior.size() == y.posterior.size());
  for (std::size_t k = 0; k < x.posterior.size(); ++k) {
    REQUIRE(x.posterior[k].name == y.posterior[k].name);
    REQUIRE(x.posterior[k].values.size() == y.posterior[k].values.size());
    for (std::size_t i = 0; i < x.posterior[k].values.size(); ++i)
      CHECK(x.posterior[k].values[i] == Approx(y.posterior[k].values[i]).epsilon(1e-9).margin(1e-9));
  }
}

}  // namespace

TEST_CASE("sums over pairs: separated as one by one") {
  for (const Case& c : kCases) {
    DYNAMIC_SECTION(c.name) {
      const Source source{"m.lehr", kPlates + c.model + "}"};
      Diagnostics diagnostics;
      const std::optional<Analysed> complete = analyse(source, {}, diagnostics);
      INFO(render(diagnostics, source));
      REQUIRE(complete);
      BoundData data = test::require_ok(lehr::bind(complete->model, dataset(c.present), {}));
      const std::optional<Analysed> front = analyse(source, expand_options(data), diagnostics);
      REQUIRE(front);
      schedule::PlanOptions options;
      options.sizes = data.sizes;
      const Analysed whole = with_options(*front, options);
      BoundData listed = data;
      options.thresholds = Thresholds("separate_pairs.fewest_cells=1,separate_pairs.most_listed=0.45");
      const Analysed separated = with_separate_pairs(whole, listed, options);
      const schedule::Schedule& s = separated.schedule;
      INFO(print(separated.model, s));
      CHECK(separated.model.plates.size() - whole.model.plates.size() == c.lists);
      std::vector<std::string> kept;
      for (const schedule::Residual& r : s.residuals) {
        std::string names;
        for (schedule::BlockId b : r.maintained_by)
          names += (names.empty() ? "" : " ") + separated.model[s.conditionals[b].variable].name;
        kept.push_back(names);
      }
      CHECK(kept == c.kept);
      const Sweeps by_pair = sweeps(whole, data, Backend::native);
      check_equal(sweeps(separated, listed, Backend::native), by_pair);
      check_equal(sweeps(separated, listed, Backend::interpreter), by_pair);
      const Analysed sampler = test::require_ok(with_sample_factors(whole));
      BoundData drawn_listed = data;
      check_equal(drawn(with_separate_pairs(sampler, drawn_listed, options), drawn_listed), drawn(sampler, data));
    }
  }
}

TEST_CASE("sums over pairs: few of them stay as they are") {
  const Source source{"m.lehr", kPlates + kBlocks + "}"};
  Diagnostics diagnostics;
  const std::optional<Analysed> complete = analyse(source, {}, diagnostics);
  REQUIRE(complete);
  BoundData data = test::require_ok(lehr::bind(complete->model, dataset(all), {}));
  schedule::PlanOptions options;
  options.sizes = data.sizes;
  for (const char* thresholds : {"", "separate_pairs.fewest_cells=1,separate_pairs.most_listed=0.01"}) {
    options.thresholds = Thresholds(thresholds);
    CHECK(with_separate_pairs(*complete, data, options).model.plates.size() == complete->model.plates.size());
  }
}
