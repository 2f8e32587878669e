// Binding data to models: sizes, row offsets, multiplicities, labels, missing values, and the order of values. Each
// test compares the bound arrays with expected ones.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/model/text.h"
#include "tests/results.h"

using namespace lehr;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

BoundData bound(const model::Model& m, const std::vector<DataArray>& arrays, const Settings& settings = {}) {
  return test::require_ok(lehr::bind(m, dataset_of(arrays), settings));
}

std::int64_t size(const model::Model& m, const BoundData& b, const std::string& plate) {
  for (std::size_t i = 0; i < m.plates.size(); ++i) {
    if (m.plates[i].name == plate) return b.sizes[i];
  }
  return -2;
}

const char* kCorpus = R"(
    const K = 3; plate doc; plate token in doc times count; plate topic = K; plate term;
    beta[topic] ~ Dirichlet(concentration = 1) over term; theta[doc] ~ Dirichlet(concentration = 1) over topic;
    z[doc, token] ~ Categorical(theta[doc]); observe w[doc, token] ~ Categorical(beta[z[doc, token]]);)";
const char* kTokens = R"(
    plate doc; plate token in doc; plate term; p ~ Dirichlet(concentration = 1) over term;
    observe w[doc, token] ~ Categorical(p);)";

DataArray ldac() {
  DataArray w = ragged_of("w", {{0, 4}, {}, {2}});
  w.multiplicity = {2, 1, 3};
  return w;
}

}  // namespace

TEST_CASE("sizes come from constants, data and values") {
  const auto m = model_of(kCorpus);
  Settings settings;
  settings.constants["K"] = 7;
  const BoundData b = bound(m, {ldac()}, settings);
  CHECK(size(m, b, "doc") == 3);
  CHECK(size(m, b, "token") == 3);
  CHECK(size(m, b, "topic") == 7);
  CHECK(size(m, b, "term") == 5);
  CHECK(b.offsets[1] == std::vector<std::int64_t>{0, 2, 2, 3});
  CHECK(b.sized_by_data == std::vector<bool>{true, true, false, true});
  CHECK(b.constants == std::vector<double>{7});
  CHECK(b.givens[0].values == std::vector<double>{2, 1, 3});
  CHECK(b.observed[3].values == std::vector<double>{0, 4, 2});
}

TEST_CASE("without times every copy is an element") {
  const auto m = model_of(kTokens);
  const BoundData b = bound(m, {ldac()});
  CHECK(size(m, b, "token") == 6);
  CHECK(b.offsets[1] == std::vector<std::int64_t>{0, 3, 3, 6});
  CHECK(b.observed[1].values == std::vector<double>{0, 0, 4, 2, 2, 2});
}

TEST_CASE("a bag of words bound to counts becomes dense rows") {
  for (const char* body : {"p ~ Dirichlet(concentration = 1) over term; observe w[doc] ~ Multinomial(p);",
                           "p ~ Gamma(shape = 1, rate = 1) over term; observe w[doc] ~ Poisson(p) over term;"}) {
    const auto m = model_of(std::string("plate doc; plate term;") + body);
    const BoundData b = bound(m, {ldac()});
    CHECK(b.observed[1].values == std::vector<double>{2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0});
  }
}

TEST_CASE("shorter rows of concentrations end with entries that hardly count") {
  const std::string item =
      "plate item; plate answer%s; const a[item, answer]; p[item] ~ Dirichlet(concentration = a[item])"
      "over answer; observe x[item] ~ Categorical(p[item]);";
  const auto with = [&](const std::string& size) { return std::string(item).replace(item.find("%s"), 2, size); };
  const std::vector<DataArray> rows = {ragged_of("a", {{1, 2}, {3}, {4, 5, 6}}), array_of("x", {3}, {1, 0, 2})};
  constexpr double kNone = kZeroConcentration;
  CHECK(bound(model_of(with("")), rows).givens[0].values == std::vector<double>{1, 2, kNone, 3, kNone, kNone, 4, 5, 6});
  const std::vector<double> wider{1, 2, kNone, kNone, 3, kNone, kNone, kNone, 4, 5, 6, kNone};
  CHECK(bound(model_of(with(" = 4")), rows).givens[0].values == wider);
  Settings settings;
  settings.sizes["answer"] = 4;
  CHECK(bound(model_of(with("")), rows, settings).givens[0].values == wider);
  CHECK_FALSE(lehr::bind(model_of(with(" = 2")), dataset_of(rows), {}));
}

TEST_CASE("multiplicities may be bound by name") {
  const auto m = model_of(kCorpus);
  const BoundData b = bound(m, {ragged_of("w", {{0, 4}, {2}}), ragged_of("count", {{1, 2}, {3}})});
  CHECK(b.givens[0].values == std::vector<double>{1, 2, 3});
}

TEST_CASE("labels size a plate, and shorter data are no contradiction") {
  const auto m = model_of(kCorpus);
  Settings settings;
  settings.labels["term"] = {"a", "b", "c", "d", "e", "f", "g"};
  const BoundData b = bound(m, {ldac()}, settings);
  CHECK(size(m, b, "term") == 7);
  CHECK(b.labels[3].size() == 7);
}

TEST_CASE("text columns become elements with names") {
  const auto m = model_of(
      "plate n; plate k; plate l; mu[k, l] ~ Normal(mean = 0, sd = 1); data a[n] : k; data b[n] : k; data "
      "c[n] : l;"
      "observe x[n] ~ Normal(mean = mu[a[n], c[n]] + mu[b[n], c[n]], sd = 1);");
  DataArray a = array_of("a", {3}, {0, 1, 0}), b = array_of("b", {3}, {1, 0, 0}), c = array_of("c", {3}, {0, 1, 2});
  a.levels = {"cat", "dog"};
  b.levels = {"ant", "cat"};
  const auto x = array_of("x", {3}, {1, 2, 3});
  const BoundData d = bound(m, {a, b, c, x});
  CHECK(d.labels[1] == std::vector<std::string>{"ant", "cat", "dog"});
  CHECK(d.givens[0].values == std::vector<double>{1, 2, 1});
  CHECK(d.givens[1].values == std::vector<double>{1, 0, 0});
  Settings settings;
  settings.labels["k"] = {"dog", "cat", "ant", "eel"};
  const BoundData e = bound(m, {a, b, c, x}, settings);
  CHECK(e.givens[0].values == std::vector<double>{1, 0, 1});
  CHECK(size(m, e, "k") == 4);
}

TEST_CASE("rectangular arrays bind nested plates as equal rows, and sequences of vectors bind with lengths") {
  const auto m =
      model_of("plate s; plate t in s; plate d; observe x[s, t] ~ MvNormal(mean = 0, precision = 1) over d;");
  const BoundData b = bound(m, {array_of("x", {2, 3, 1}, {1, 2, 3, 4, 5, 6})});
  CHECK(b.offsets[1] == std::vector<std::int64_t>{0, 3, 6});
  const BoundData c = bound(m, {array_of("x", {3, 2}, {1, 2, 3, 4, 5, 6}), array_of("t", {2}, {1, 2})});
  CHECK(c.offsets[1] == std::vector<std::int64_t>{0, 1, 3});
  CHECK(size(m, c, "s") == 2);
  CHECK(size(m, c, "d") == 2);
}

TEST_CASE("scalars, array constants and matrices") {
  const auto m = model_of(
      "plate n; plate d; const a0[d]; const s; data P : matrix over d, d;"
      "mu ~ MvNormal(mean = a0, precision = P); observe x[n] ~ MvNormal(mean = mu, precision = s);");
  const BoundData b = bound(m, {array_of("a0", {2}, {1, 2}), array_of("s", {}, {4}),
                                array_of("P", {2, 2}, {1, 0, 0, 1}), array_of("x", {1, 2}, {0, 0})});
  CHECK(b.constants == std::vector<double>{4});
  CHECK(b.givens[0].values == std::vector<double>{1, 2});
}

TEST_CASE("missing values of an observed variable are kept as missing") {
  const auto m = model_of("plate n; mu ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = mu, sd = 1);");
  const BoundData b = bound(m, {array_of("x", {3}, {1, kNan, 2})});
  CHECK(b.observed[1].has_missing);
  const auto v = model_of("plate n; plate d; observe x[n] ~ MvNormal(mean = 0, precision = 1) over d;");
  CHECK(bound(v, {array_of("x", {2, 2}, {1, 2, kNan, kNan})}).observed[0].has_missing);
}

TEST_CASE("latent variables keep the values that the data have, unless they have all or none") {
  const auto m = model_of("plate n; m[n] ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = m[n], sd = 1);");
  const auto with = [&](std::vector<double> values) {
    return bound(m, {array_of("x", {2}, {1, 2}), array_of("m", {2}, std::move(values))});
  };
  const BoundData some = with({kNan, 3});
  CHECK(some.clamped == std::vector<bool>{true, false});
  CHECK(some.observed[0].values[1] == 3);
  for (const BoundData& b : {with({1, 3}), with({kNan, kNan})}) {
    CHECK(b.clamped == std::vector<bool>{false, false});
    CHECK(b.observed[0].values.empty());
  }
}

TEST_CASE("observed variables with gaps that cannot be left out become latent there") {
  const auto m = model_of(
      "plate n; plate d; observe y[n] ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = y[n], sd = 1);"
      "observe v[n] ~ MvNormal(mean = 0, precision = 1) over d;");
  const auto with = [&](std::vector<double> y, std::vector<double> v) {
    return bound(
        m, {array_of("x", {2}, {1, kNan}), array_of("y", {2}, std::move(y)), array_of("v", {2, 2}, std::move(v))});
  };
  CHECK(with({1, 2}, {1, 2, kNan, kNan}).clamped == std::vector<bool>{false, false, false});
  const BoundData b = with({1, kNan}, {1, 2, kNan, 3});
  CHECK(b.clamped == std::vector<bool>{true, false, true});
  REQUIRE(b.warnings.size() == 2);
  CHECK(b.warnings[0].text == "y[1] is missing and other variables depend on y: 'y' is latent where it is missing");
}

TEST_CASE("a stick has one element more") {
  const auto m = model_of(
      "plate n; plate s = 4; plate t; v[s] ~ Beta(1, 2); l[t] ~ Gamma(shape = 1, rate = 1);"
      "z[n] ~ Categorical(stick_breaking(v)); observe x[n] ~ Poisson(l[z[n]]);");
  const BoundData b = bound(m, {array_of("x", {2}, {1, 2})});
  CHECK(size(m, b, "t") == 5);
  CHECK_FALSE(b.sized_by_data[2]);
}

TEST_CASE("ordered categories are one more than their cuts, and those one more than their distances") {
  const auto m = model_of(
      "plate n; plate g = 3; plate t; d[g] ~ Gamma(shape = 1, rate = 1); l[t] ~ Gamma(shape = 1, rate = 1);"
      "z[n] ~ Categorical(ordered_logistic(0, cumulative(d))); observe x[n] ~ Poisson(l[z[n]]);");
  CHECK(size(m, bound(m, {array_of("x", {2}, {1, 2})}), "t") == 5);
}

TEST_CASE("sizes of plates may use other sizes") {
  const auto m = model_of(
      "const K = size(n) / 2; plate n; plate k = K; p ~ Dirichlet(concentration = 1) over k;"
      "observe x[n] ~ Categorical(p);");
  const BoundData b = bound(m, {array_of("x", {6}, {0, 1, 2, 0, 1, 2})});
  CHECK(size(m, b, "k") == 3);
}

TEST_CASE("bind_sizes needs no data") {
  const auto m = model_of(kCorpus);
  Settings settings;
  settings.sizes = {{"doc", 2}, {"token", 5}};
  const auto b = bind_sizes(m, settings);
  REQUIRE(b);
  CHECK(b->sizes == std::vector<std::int64_t>{2, 10, 3, -1});
  CHECK(b->offsets[1] == std::vector<std::int64_t>{0, 5, 10});
}

TEST_CASE("columns name the elements of the last axis") {
  const auto m = model_of("plate n; plate d; observe x[n, d] ~ Normal(mean = 0, sd = 1);");
  DataArray x = array_of("x", {1, 2}, {1, 2});
  x.axis_labels = {"height", "weight"};
  CHECK(bound(m, {x}).labels[1] == std::vector<std::string>{"height", "weight"});
}

TEST_CASE("bind_givens needs no observations") {
  const auto m = model_of(kCorpus);
  Settings settings;
  settings.sizes = {{"doc", 2}, {"token", 5}, {"term", 4}};
  const BoundData b = test::require_ok(bind_givens(m, {}, settings));
  CHECK(b.sizes == std::vector<std::int64_t>{2, 10, 3, 4});
  CHECK(b.givens[0].values == std::vector<double>(10, 1.0));
  CHECK(b.observed[3].values.empty());
}
