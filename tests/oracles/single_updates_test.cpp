// Single tempered and stochastic updates against recorded values: `single_updates` in oracles.json, and the tempered
// chain of its case hmm_discrete.
#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/instance/instance.h"
#include "compiler/pipeline.h"
#include "runtime/inference/sweep.h"
#include "tests/results.h"

namespace {

using namespace lehr;
using Values = std::vector<double>;

const nlohmann::json& oracles() {
  static const nlohmann::json all = [] {
    std::ifstream in("tests/oracles/oracles.json");
    return nlohmann::json::parse(in);
  }();
  return all;
}

const nlohmann::json& oracle(const char* name) { return oracles()["single_updates"][name]; }

const nlohmann::json& oracle_case(const std::string& name) {
  for (const auto& c : oracles()["cases"]) {
    if (c["name"] == name) return c;
  }
  throw std::runtime_error(name);
}

DataArray array(const std::string& name, std::vector<std::int64_t> shape, Values values,
                std::vector<std::int64_t> rows = {}) {
  DataArray x;
  x.name = name;
  x.shape = std::move(shape);
  x.values = std::move(values);
  x.row_offsets = std::move(rows);
  return x;
}

/// A model with data, at the start that `--seed 1` gives.
class Fitted {
 public:
  Fitted(const std::string& body, const std::vector<DataArray>& arrays) {
    Diagnostics diagnostics;
    const Source source{"test", "model m { " + body + " }"};
    std::optional<Analysed> front = analyse(source, {}, diagnostics);
    INFO(render(diagnostics, source));
    REQUIRE(front);
    front_ = std::move(*front);
    Dataset dataset;
    for (const DataArray& a : arrays)
      dataset[a.name] = a;
    data_ = test::require_ok(lehr::bind(front_.model, dataset, {}));
    instance_ = std::make_unique<Instance>(front_, data_, loops::LowerOptions{}, Backend::native);
    REQUIRE(instance_->start(1, 0));
  }

  void set(const std::string& name, std::vector<std::int64_t> shape, const Values& values) {
    REQUIRE(instance_->set({{name, std::move(shape), values, false}}, "test"));
  }
  Values get(const std::string& name) const {
    for (const NamedArray& a : instance_->posterior(true)) {
      if (a.name == name) return a.values;
    }
    throw std::runtime_error(name);
  }
  Engine& engine() { return instance_->engine(); }
  conditionals::BlockId block_of(const std::string& name) const {
    for (std::size_t k = 0; k < front_.model.variables.size(); ++k) {
      if (front_.model.variables[k].name == name) return front_.schedule.conditionals.block_of[k];
    }
    throw std::runtime_error(name);
  }
  /// Performs one sweep with all natural parameters divided by T.
  void entropy_sweep(double temperature) {
    Weights w;
    w.local = w.global = 1 / temperature;
    engine().set(w);
    REQUIRE(sweep(engine(), {}) == 0);
  }
  /// Performs one sweep with a natural-gradient step of 1 - rho. The factors keep a share rho of their present natural
  /// parameters, which in the first sweep are those of the random start.
  void noisy_sweep(double rho) {
    Weights w;
    w.step = 1 - rho;
    engine().set(w);
    REQUIRE(sweep(engine(), {}) == 0);
  }

 private:
  Analysed front_;
  BoundData data_;
  std::unique_ptr<Instance> instance_;
};

void check(const Values& got, const nlohmann::json& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == Approx(want[i].get<double>()).epsilon(1e-12));
}

const char* const kGamma = R"(plate n; rate ~ Gamma(shape = 1.5, rate = 0.5); observe x[n] ~ Poisson(rate);)";
const std::vector<DataArray> kCounts = {array("x", {4}, {1, 2, 3, 4})};  // Gamma(11.5, 4.5)
const char* const kNormal =
    R"(plate n; mu ~ Normal(mean = 0, precision = 2.25); observe x[n] ~ Normal(mean = mu, precision = 4);)";
const std::vector<DataArray> kPoint = {array("x", {1}, {1.875})};  // mean 1.2, precision 6.25

}  // namespace

TEST_CASE("natural parameters over T") {
  SECTION("gamma") {
    Fitted f(kGamma, kCounts);
    f.entropy_sweep(oracle("gamma")["T"]);
    check({f.get("rate.shape")[0], f.get("rate.rate")[0]}, oracle("gamma")["exact"]);
  }
  SECTION("Dirichlet") {
    Fitted f(R"(plate n; plate k = 3; data a0[k] : real; p ~ Dirichlet(concentration = a0) over k;
                observe x[n] ~ Categorical(p);)",
             {array("a0", {3}, {0.5, 1, 1}), array("x", {7}, {0, 0, 0, 1, 2, 2, 2})});
    f.entropy_sweep(oracle("dirichlet")["T"]);
    check(f.get("p.concentration"), oracle("dirichlet")["exact"]);
  }
  SECTION("Wishart") {
    const char* const body = R"(plate n; plate d = 2; L ~ Wishart(df = 3, scale = 1) over d;
                                observe x[n] ~ MvNormal(mean = 0, precision = L) over d;)";
    const std::vector<DataArray> data = {array("x", {5, 2}, {1, 0, 0, 2, -1, 1, 0.5, 0.5, -2, 0})};
    Fitted cold(body, data), hot(body, data);
    cold.entropy_sweep(1);
    hot.entropy_sweep(oracle("wishart")["example_D2"]["T"]);
    CHECK(cold.get("L.df")[0] == Approx(oracle("wishart")["example_D2"]["nu"].get<double>()).epsilon(1e-12));
    CHECK(hot.get("L.df")[0] == Approx(oracle("wishart")["example_D2"]["exact_nu"].get<double>()).epsilon(1e-12));
    for (std::size_t i = 0; i < 4; ++i)  // the rate matrix over T
      CHECK(hot.get("L.scale")[i] == Approx(2 * cold.get("L.scale")[i]).epsilon(1e-12));
  }
  SECTION("normal") {
    Fitted f(kNormal, kPoint);
    f.entropy_sweep(2);
    check({f.get("mu.mean")[0], f.get("mu.precision")[0]}, oracle("normal")["example"]["exact"]);
  }
  SECTION("categorical") {
    Values p;
    for (const double logit : oracle("categorical")["logits"])
      p.push_back(std::exp(logit));
    const double total = p[0] + p[1] + p[2];
    for (double& x : p)
      x /= total;
    Fitted f(R"(plate n; plate k = 3; data w : simplex over k; z ~ Categorical(w);
                observe x[n] ~ Normal(mean = 0, variance = 1);)",
             {array("w", {3}, p), array("x", {1}, {0.5})});
    f.entropy_sweep(2);
    check(f.get("z.probs"), oracle("categorical")["exact"]);
  }
}

TEST_CASE("a chain with all its potentials over T") {
  const nlohmann::json& c = oracle_case("hmm_discrete");
  Fitted f(R"(plate seq; plate t in seq ordered; plate k = 2; plate v = 2;
              pi ~ Dirichlet(concentration = 0.5) over k;
              A[k] ~ Dirichlet(concentration = 0.5) over k;
              B[k] ~ Dirichlet(concentration = 1) over v;
              s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(pi);
              observe y[seq, t] ~ Categorical(B[s[seq, t]]); guide order(s, pi, A, B);)",
           {array("y", {2}, {0, 0, 1, 1, 1, 1, 0}, {0, 4, 7})});
  f.set("pi.concentration", {2}, c["init"]["pi"]);
  f.set("A.concentration", {2, 2}, {2, 1, 1, 2});
  f.set("B.concentration", {2, 2}, {2, 1, 1, 1.5});
  Weights w;
  w.local_data = 0.5;
  f.engine().set(w);
  const auto chain = static_cast<std::int64_t>(f.block_of("s").index());
  for (const StepRow& step : f.engine().steps()) {
    if (!step.stage && step.block == chain) REQUIRE(f.engine().call(step.update) == 0);
  }
  REQUIRE(sweep(f.engine(), {}, {.items_only = true}) == 0);
  const Values probs = f.get("s.probs");
  check({probs[0], probs[2], probs[4], probs[6]}, c["chain_tempered_T2_initial"]["gamma_seq0_state0"]);
}

TEST_CASE("a share of a random start") {
  SECTION("gamma") {
    const nlohmann::json& o = oracle("stoch_gamma");
    Fitted f(kGamma, kCounts);
    f.set("rate.shape", {}, {o["eta"][0]});
    f.set("rate.rate", {}, {o["eta"][1]});
    f.noisy_sweep(o["rho"]);
    check({f.get("rate.shape")[0], f.get("rate.rate")[0]}, o["result"]);
  }
  SECTION("normal") {
    const nlohmann::json& o = oracle("stoch_normal");
    Fitted f(kNormal, kPoint);
    f.set("mu.mean", {}, {o["eta"]["mean"]});
    f.set("mu.precision", {}, {o["eta"]["prec"]});
    f.noisy_sweep(o["rho"]);
    check({f.get("mu.mean")[0], f.get("mu.precision")[0]}, {o["result"]["mean"], o["result"]["prec"]});
  }
}

TEST_CASE("a step from a minibatch") {
  const nlohmann::json &o = oracle("svi_step_gmm_known_variance"), &c = oracle_case("gmm_known_variance");
  Fitted f(R"(plate n; plate k = 2;
              pi ~ Dirichlet(concentration = 1) over k;
              mu[k] ~ Normal(mean = 0, variance = 3);
              z[n] ~ Categorical(pi);
              observe x[n] ~ Normal(mean = mu[z[n]], variance = 1);)",
           {array("x", {6}, c["data"]["x"])});
  f.set("pi.concentration", {2}, c["init"]["alpha"]);
  f.set("mu.mean", {2}, c["init"]["mean"]);
  f.set("mu.precision", {2}, c["init"]["prec"]);
  Weights w;
  w.step = o["rho"];
  f.engine().set(w);
  const std::vector<std::int64_t> batch = o["minibatch_rows_0based"];
  REQUIRE(sweep(f.engine(), {}, {.batch = batch}) == 0);
  check(f.get("pi.concentration"), o["alpha"]);
  check(f.get("mu.precision"), o["prec"]);
  check(f.get("mu.mean"), o["mean"]);
}
