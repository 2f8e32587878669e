// Data that do not fit a model: each error must name the data, the location in the file, and both sides of a
// contradiction.
#include <catch2/catch.hpp>
#include <limits>

#include "tests/model/text.h"
#include "tests/results.h"

using namespace lehr;
using Catch::Contains;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string error_of(const std::string& body, const std::vector<DataArray>& arrays, ExitCode code = ExitCode::data,
                     const Settings& settings = {}) {
  const auto m = model_of(body);
  return test::complaint(lehr::bind(m, dataset_of(arrays), settings), code, "--");
}

const std::string kScalar = "plate n; observe x[n] ~ Normal(mean = 0, sd = 1);";
const std::string kPair = "plate n; data a[n] : real; observe x[n] ~ Normal(mean = a[n], sd = 1);";
const std::string kMixture =
    "const K = 2; plate n; plate k = K; mu[k] ~ Normal(mean = 0, sd = 1); data z[n] : k;"
    "observe x[n] ~ Normal(mean = mu[z[n]], sd = 1);";

}  // namespace

TEST_CASE("sizes that disagree name both sources") {
  CHECK_THAT(error_of(kPair, {array_of("a", {3}, {1, 2, 3}), array_of("x", {2}, {1, 2})}),
             Contains("plate 'n' has 3 elements in a (a.npy), but 2 in x (x.npy)"));
  Settings settings;
  settings.sizes["n"] = 5;
  CHECK_THAT(error_of(kScalar, {array_of("x", {2}, {1, 2})}, ExitCode::data, settings), Contains("--sizes n"));
}

TEST_CASE("wrong numbers of axes name both") {
  CHECK_THAT(error_of(kScalar, {array_of("x", {2, 2}, {1, 2, 3, 4})}),
             Contains("'x' has 2 axes here (2 x 2), but x[n] has 1"));
  CHECK_THAT(
      error_of("plate s; plate t in s; observe x[s, t] ~ Normal(mean = 0, sd = 1);", {array_of("x", {2}, {1, 2})}),
      Contains("t=lengths.npy"));
  CHECK_THAT(error_of(kScalar, {ragged_of("x", {{1}, {2, 3}})}), Contains("rows of different lengths"));
}

TEST_CASE("unbound names suggest the nearest") {
  CHECK_THAT(error_of(kPair, {array_of("A", {2}, {1, 2}), array_of("x", {2}, {1, 2})}),
             Contains("nothing is bound to a[n]") && Contains("the data have"));
  CHECK_THAT(error_of(kScalar, {}), Contains("--data x=FILE"));
}

TEST_CASE("settings must name what the model has") {
  Settings settings;
  settings.constants["k"] = 3;
  CHECK_THAT(error_of(kMixture, {}, ExitCode::usage, settings), Contains("no constant 'k'") && Contains("--sizes k="));
  settings = {};
  settings.sizes["m"] = 3;
  CHECK_THAT(error_of(kMixture, {}, ExitCode::usage, settings), Contains("no plate 'm'"));
  settings = {};
  settings.constants["K"] = 2.5;
  CHECK_THAT(error_of(kMixture, {array_of("z", {1}, {0}), array_of("x", {1}, {0})}, ExitCode::usage, settings),
             Contains("the size of plate 'k' is 2.5"));
  CHECK_THAT(error_of("const s; plate n; observe x[n] ~ Normal(mean = 0, sd = s);", {array_of("x", {1}, {0})},
                      ExitCode::usage),
             Contains("constant 's' has no value"));
}

TEST_CASE("values outside their supports name the element") {
  CHECK_THAT(error_of(kMixture, {array_of("z", {2}, {0, 2}), array_of("x", {2}, {1, 2})}),
             Contains("z[1] is element 2, outside plate 'k', which has 2 elements") && Contains("0-based"));
  CHECK_THAT(error_of(kMixture, {array_of("z", {2}, {0, 0.5}), array_of("x", {2}, {1, 2})}), Contains("z[1] is 0.5"));
  CHECK_THAT(error_of("plate n; plate d; observe x[n, d] ~ Poisson(1);", {array_of("x", {2, 2}, {1, 2, -3, 4})}),
             Contains("x[1, 0] is -3, but it must be a count"));
  CHECK_THAT(error_of("plate n; observe x[n] ~ Beta(1, 1);", {array_of("x", {2}, {0.5, 1})}),
             Contains("between 0 and 1"));
  CHECK_THAT(error_of("plate n; observe x[n] ~ Bernoulli(0.5);", {array_of("x", {2}, {0, 2})}), Contains("0 or 1"));
  CHECK_THAT(error_of("plate n; observe x[n] ~ Gamma(shape = 1, rate = 1);", {array_of("x", {2}, {0, 2})}),
             Contains("x[0] is 0, but it must be positive"));
  CHECK_THAT(error_of("plate s; plate t in s; observe x[s, t] ~ Poisson(1);", {ragged_of("x", {{1, 2}, {}, {3, 0.5}})}),
             Contains("x[2, 1] is 0.5"));
  CHECK_THAT(error_of("plate n; plate k; data p[n] : simplex over k; z[n] ~ Categorical(p[n]); l[k] ~ "
                      "Gamma(shape = 1, rate = 1);"
                      "observe x[n] ~ Poisson(l[z[n]]);",
                      {array_of("p", {2, 2}, {0.5, 0.5, 0.5, 0.6}), array_of("x", {2}, {1, 2})}),
             Contains("p[1, 0] on sum to 1.1"));
  CHECK_THAT(error_of("plate n; plate d; observe x[n] ~ Wishart(df = 3, scale = 1) over d;",
                      {array_of("x", {1, 2, 2}, {1, 2, 2, 1})}),
             Contains("positive definite"));
}

TEST_CASE("missing values where the likelihood cannot leave them out") {
  CHECK_THAT(error_of(kPair, {array_of("a", {2}, {1, kNan}), array_of("x", {2}, {1, 2})}), Contains("a[1] is missing"));
  CHECK_THAT(error_of("plate n; observe y[n] ~ Gamma(shape = 1, rate = 1); observe x[n] ~ Poisson(y[n]);",
                      {array_of("y", {2}, {1, kNan}), array_of("x", {2}, {1, 2})}),
             Contains("other variables depend on y") && Contains("'y' is a positive real"));
  CHECK_THAT(error_of("plate n; plate d; observe x[n] ~ Dirichlet(concentration = 1) over d;",
                      {array_of("x", {2, 2}, {0.5, 0.5, kNan, 0.4})}),
             Contains("x[1, 0] is missing") && Contains("other entries of the same vector"));
}

TEST_CASE("values of latent variables that cannot be kept") {
  const auto named = [](DataArray a) {
    a.named_by_binding = true;
    return a;
  };
  const DataArray x = array_of("x", {2}, {1, 2});
  const std::string normal = "plate n; m[n] ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = m[n], sd = 1);";
  CHECK_THAT(error_of(normal, {x, named(array_of("m", {2}, {1, 2}))}),
             Contains("all values of 'm'") && Contains("`observe m ~ ...` makes it data"));
  CHECK_THAT(error_of(normal, {x, array_of("m", {2, 1, 1}, {1, kNan})}), Contains("'m' has 3 axes here"));
  CHECK_THAT(error_of(normal, {x, array_of("m", {3}, {1, kNan, 2})}), Contains("plate 'n' has"));
  CHECK_THAT(error_of("plate n; r[n] ~ Gamma(shape = 1, rate = 1); observe x[n] ~ Poisson(r[n]);",
                      {x, named(array_of("r", {2}, {1, kNan}))}),
             Contains("some elements of the latent 'r'") && Contains("'r' is a positive real"));
  CHECK_THAT(error_of("plate n; plate k = 2; m[k] ~ Normal(mean = 0, sd = 1); t[k] ~ Gamma(shape = 1, rate = 1);"
                      "z[n] ~ Categorical(0.5) over k; observe x[n] ~ Normal(mean = m[z[n]], precision = t[z[n]]);"
                      "guide joint(m, t);",
                      {x, named(array_of("m", {2}, {1, kNan}))}),
             Contains("'m' shares a factor"));
  CHECK_THAT(error_of("plate n; plate k = 2; m[k] ~ Normal(mean = 0, sd = 1); z[n] ~ Categorical(0.5) over k;"
                      "observe x[n] ~ Normal(mean = m[z[n]], sd = 1);",
                      {x, array_of("z", {2}, {kNan, 2})}),
             Contains("z[1] is element 2, outside plate 'k'"));
  CHECK_THAT(error_of("plate n; s[n] ~ Spin(); observe x[n] ~ Normal(mean = s[n], sd = 1);",
                      {x, array_of("s", {2}, {kNan, 0})}),
             Contains("s[1] is 0, but it must be -1 or +1"));
}

TEST_CASE("multiplicities must come from somewhere") {
  CHECK_THAT(error_of("plate doc; plate token in doc times count; observe w[doc, token] ~ Bernoulli(0.5);",
                      {ragged_of("w", {{1}, {0}})}),
             Contains("nothing is bound to count[doc, token]") && Contains("LDA-C"));
}

TEST_CASE("ragged arrays over one plate must agree row by row") {
  CHECK_THAT(error_of("plate s; plate t in s; data a[s, t] : real; observe x[s, t] ~ Normal(mean = a[s, t], sd = 1);",
                      {ragged_of("a", {{1}, {2, 3}}), ragged_of("x", {{1, 2}, {3}})}),
             Contains("row 0 of plate 't' has 1 elements in a (a.json), but 2 in x (x.json)"));
}

TEST_CASE("plates that nothing sizes, empty plates, constant indices out of range") {
  CHECK_THAT(error_of("plate n; plate k; p ~ Dirichlet(concentration = 1) over k; l[n] ~ Normal(mean = 0, sd = 1);"
                      "z[n] ~ Categorical(p); mu[k] ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = "
                      "mu[z[n]] + l[n], sd = 1);",
                      {array_of("x", {1}, {0})}),
             Contains("nothing gives the size of plate 'k'") && Contains("--sizes k="));
  CHECK(lehr::bind(model_of(kScalar), dataset_of({array_of("x", {0}, {})}), {}));
  CHECK_THAT(error_of("plate t ordered; s[t] ~ Normal(mean = s[t-1], sd = 1) start Normal(mean = 0, sd = 1);"
                      "observe x[t] ~ Normal(mean = s[t], sd = 1);",
                      {array_of("x", {0}, {})}),
             Contains("plate 't' has no elements"));
  CHECK_THAT(error_of("plate n; plate k = 2; mu[k] ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = "
                      "mu[2], sd = 1);",
                      {array_of("x", {1}, {0})}),
             Contains("mu is indexed by 2, but plate 'k' has 2 elements"));
}

TEST_CASE("text where a number is needed, and unknown names of elements") {
  DataArray x = array_of("x", {2}, {0, 1});
  x.levels = {"low", "high"};
  CHECK_THAT(error_of(kScalar, {x}), Contains("'x' is text here"));
  DataArray z = array_of("z", {2}, {0, 1});
  z.levels = {"cat", "dog"};
  Settings settings;
  settings.labels["k"] = {"cat", "cow"};
  CHECK_THAT(error_of(kMixture, {z, array_of("x", {2}, {0, 1})}, ExitCode::data, settings),
             Contains("'dog' is not among the labels of plate 'k'"));
}

TEST_CASE("all problems of one run are reported together") {
  const std::string text =
      error_of("plate n; data a[n] : real; data c[n] : count; observe x[n] ~ Normal(mean = a[n] + c[n], sd = 1);",
               {array_of("a", {2}, {1, kNan}), array_of("c", {2}, {1, -1}), array_of("x", {2}, {1, 2})});
  CHECK_THAT(text, Contains("a[1] is missing") && Contains("c[1] is -1"));
}

TEST_CASE("rows of different lengths are no vectors") {
  CHECK_THAT(
      error_of("plate n; plate d; observe x[n] ~ MvNormal(mean = 0, precision = 1) over d;",
               {ragged_of("x", {{1, 2}, {3, 4}, {5}})}),
      Contains("row 0 has 2 elements, row 2 has 1; x[n] over d needs one size of 'd'") && Contains("`plate d in n`"));
}

TEST_CASE("given parameters must be in the domains of their families") {
  const auto x = array_of("x", {2}, {1, 2});
  const std::string mixture =
      "plate n; plate k = 4; mu[k] ~ Normal(mean = 0, sd = 1);"
      "observe x[n] ~ Normal(mean = mu[z[n]], sd = 1);";
  Settings settings;
  settings.constants["s"] = -1;
  CHECK_THAT(error_of("const s = 1; plate n; observe x[n] ~ Normal(mean = 0, sd = s);", {x}, ExitCode::model, settings),
             Contains("s is -1, but the sd of Normal must be positive") && Contains("x is drawn from"));
  CHECK_THAT(error_of("plate n; observe x[n] ~ Normal(mean = 0, precision = 0);", {x}, ExitCode::model),
             Contains("the precision of Normal is 0, but it must be positive"));
  CHECK_THAT(error_of("plate n; data t[n] : real; observe x[n] ~ Normal(mean = 0, precision = t[n]);",
                      {x, array_of("t", {2}, {1, 0})}),
             Contains("t[1] is 0, but the precision of Normal must be positive"));
  CHECK_THAT(error_of(mixture + "z[n] ~ Categorical(0.5) over k;", {x}, ExitCode::model),
             Contains("must be 1 / 4 for the 4 elements of 'k'"));
  CHECK_THAT(
      error_of(mixture + "data p : vector over k; z[n] ~ Categorical(p);", {x, array_of("p", {4}, {0.5, 0.5, 0.5, 0})}),
      Contains("the sum from p[0] on is 1.5"));
  CHECK_THAT(error_of("plate n; data p[n] : real; observe x[n] ~ Bernoulli(p[n]);",
                      {array_of("x", {2}, {1, 0}), array_of("p", {2}, {0.5, 1.5})}),
             Contains("p[1] is 1.5") && Contains("between 0 and 1"));
}

TEST_CASE("broadcast probabilities, certain events and improper priors are in their domains") {
  for (const char* body :
       {"plate n; plate k = 4; mu[k] ~ Normal(mean = 0, precision = 0); z[n] ~ Categorical(1 / 4) over k;"
        "observe x[n] ~ Normal(mean = mu[z[n]], sd = 1);",
        "const K = 3; plate n; plate k = K; mu[k] ~ Normal(mean = 0, sd = 1); z[n] ~ Categorical(1 / K) over k;"
        "observe x[n] ~ Normal(mean = mu[z[n]], sd = 1);",
        "plate n; t ~ Gamma(shape = 0, rate = 0); observe x[n] ~ Normal(mean = 0, precision = t);",
        "plate n; data p[n] : real; observe x[n] ~ Bernoulli(p[n]);"}) {
    const auto m = model_of(body);
    CHECK(lehr::bind(m, dataset_of({array_of("x", {2}, {1, 0}), array_of("p", {2}, {1, 0})}), {}));
  }
}

TEST_CASE("limits between which there is nothing are errors of the data that give them") {
  const std::string between =
      "plate n; plate k; data y[n] : k; data low[k] : real; const high[k]; m ~ Normal(mean = 0, sd = 1);"
      "u[n] ~ Normal(mean = m, sd = 1) above low[y[n]] below high[y[n]];";
  const auto arrays = [](double high) {
    return std::vector{array_of("y", {3}, {0, 1, 1}), array_of("low", {2}, {0, 1}), array_of("high", {2}, {1, high})};
  };
  CHECK(lehr::bind(model_of(between), dataset_of(arrays(1.5)), {}));
  for (const double high : {1.0, 0.5}) {
    CHECK_THAT(error_of(between, arrays(high)), Contains("low.npy") &&
                                                    Contains("u[1] is above low[y[n]] = 1 and below high[y[n]] = ") &&
                                                    Contains("no number between them"));
  }
  const std::string censored =
      "plate n; plate d; const end[d]; observe x[n] ~ Normal(mean = 0, sd = 1) over d censored "
      "above end below 1;";
  CHECK_THAT(error_of(censored, {array_of("x", {1, 2}, {1, 2}), array_of("end", {2}, {1, 0.5})}),
             Contains("end.npy") && Contains("x[0, 1] is censored above end[d] = 0.5 and below 1"));
  const std::string numbers =
      "plate n; m ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = m, sd = 1) censored "
      "above 1 below 2;";
  CHECK_THAT(error_of(numbers, {array_of("x", {1}, {1})}, ExitCode::model),
             Contains("x[0] is censored above 1 and below 2"));
  const std::string counts =
      "plate n; data end[n] : real; p ~ Beta(1, 1); observe x[n] ~ Geometric(p) censored above end[n];";
  CHECK_THAT(error_of(counts, {array_of("x", {2}, {1, 2}), array_of("end", {2}, {2, 2.5})}),
             Contains("end.npy") && Contains("x[1] is censored at end[n] = 2.5") && Contains("whole number"));
}

TEST_CASE("cuts of ordered categories go up") {
  const std::string model =
      "plate n; plate cut; const c[cut]; e ~ Normal(mean = 0, sd = 1); observe y[n] ~ Categorical(ordered_logistic(e, "
      "c));";
  CHECK(lehr::bind(model_of(model), dataset_of({array_of("y", {2}, {0, 2}), array_of("c", {2}, {0, 1})}), {}));
  CHECK_THAT(error_of(model, {array_of("y", {2}, {0, 2}), array_of("c", {2}, {1, 0.5})}),
             Contains("c.npy") && Contains("c[1] is 0.5, but c[0] is 1: each cut must be above the one before"));
}
