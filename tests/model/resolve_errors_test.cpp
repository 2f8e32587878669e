// Mistakes in models that the golden files do not cover: the message must name the right things, and one mistake must
// not give a second error.
#include <catch2/catch.hpp>

#include "tests/model/text.h"

using namespace lehr;

namespace {

std::string errors_of(const std::string& body) {
  const Resolved r = resolve_text("model m {\n" + body + "\n}\n");
  CHECK_FALSE(r.model);
  return r.diagnostics;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("a wrong plate names both plates") {
  const std::string text = errors_of(R"(
    plate doc; plate token in doc; plate topic = 3;
    theta[doc] ~ Dirichlet(concentration = 1) over topic;
    z[doc, token] ~ Categorical(theta[doc]);
    observe w[doc, token] ~ Categorical(theta[z[doc, token]]);)");
  CHECK_THAT(text, Catch::Contains("theta (axis 0) is indexed by 'doc', but z is an element of 'topic'"));
  CHECK(count(text, "error:") == 1);
}

TEST_CASE("one mistake is one error") {
  CHECK(count(errors_of("plate n; z[n] ~ Categorical(pi); mu[k] ~ Normal(mean = 0, sd = 1);"
                        "observe x[n] ~ Normal(mean = mu[z[n]], sd = 1);"),
              "error:") == 2);  // pi, k
  CHECK(count(errors_of("plate n; let f[n] = q[n]; observe x[n] ~ Normal(mean = f[n] + f[n], sd = 1);"), "error:") ==
        1);
  CHECK(count(errors_of("plate n; observe x[n] ~ Nrmal(mean = 0, sd = 1); y[n] ~ Normal(mean = x[n], sd = 1);"),
              "error:") == 1);
}

TEST_CASE("errors in the arguments show even when a parameter is misspelt") {
  const std::string text = errors_of("plate n; observe x[n] ~ Normal(maen = a, sd = b);");
  CHECK_THAT(text, Catch::Contains("no parameter 'maen'") && Catch::Contains("'a' is not declared") &&
                       Catch::Contains("'b' is not declared"));
}

TEST_CASE("the model's name is in no namespace") {
  const Resolved r = resolve_text(
      "model pump { plate pump; l[pump] ~ Gamma(shape = 1, rate = 1);"
      "observe x[pump] ~ Poisson(l[pump]); }");
  CHECK(r.diagnostics.empty());
}

TEST_CASE("a latent Multinomial needs its total") {
  CHECK_THAT(
      errors_of("plate n; plate k = 2; x[n] ~ Multinomial(1 / 2) over k; observe y[n] ~ Normal(mean = 0, sd = 1);"),
      Catch::Contains("Multinomial needs 'n' where it is not observed"));
}

TEST_CASE("two sticks of different plates do not unify") {
  CHECK_THAT(errors_of(R"(plate n; plate s = 2; plate r = 3; plate t;
      u[s] ~ Beta(1, 1); v[r] ~ Beta(1, 1); l[t] ~ Gamma(shape = 1, rate = 1);
      z[n] ~ Categorical(stick_breaking(u)); y[n] ~ Categorical(stick_breaking(v)) over t;
      w[n] ~ Categorical(stick_breaking(u)) over s;
      observe x[n] ~ Poisson(l[z[n]] );  observe q[n] ~ Poisson(l[w[n]]);)"),
             Catch::Contains("l (axis 0) is indexed by 't', but w is an element of 's'"));
}

TEST_CASE("the previous element is legal in another variable's statement, given a start") {
  CHECK(resolve_text("model m { plate t ordered; h[t] ~ Normal(mean = 0, sd = 1);"
                     "observe x[t] ~ Normal(mean = h[t-1], sd = 1) start Normal(mean = 0, sd = 1); }")
            .diagnostics.empty());
  CHECK_THAT(errors_of("plate t ordered; h[t] ~ Normal(mean = 0, sd = 1); observe x ~ Normal(mean = sum(t) "
                       "h[t-1], sd = 1);"),
             Catch::Contains("does not exist for the first 't'"));
  CHECK_THAT(errors_of("plate t ordered; h[t] ~ Normal(mean = 0, sd = 1);"
                       "observe x[t] ~ Normal(mean = h[t+1], sd = 1) start Normal(mean = 0, sd = 1);"),
             Catch::Contains("'t + 1' is not supported"));
}

TEST_CASE("mutual dependence through the previous element is no cycle") {
  CHECK(resolve_text("model m { plate t ordered; a[t] ~ Normal(mean = b[t-1], sd = 1) start Normal(mean = 0, sd = 1);"
                     "b[t] ~ Normal(mean = a[t], sd = 1); observe x[t] ~ Normal(mean = b[t], sd = 1); }")
            .diagnostics.empty());
}

TEST_CASE("a cycle through lookups is refused") {
  CHECK_THAT(errors_of("plate n; data up[n] : n; h[n] ~ Normal(mean = h[up[n]], sd = 1); observe x[n] ~ "
                       "Normal(mean = h[n], sd = 1);"),
             Catch::Contains("h depends on itself"));
}

TEST_CASE("deep nesting and wide substitution are errors, not crashes") {
  std::string deep = "plate n; observe x[n] ~ Normal(mean = ";
  for (int i = 0; i < 3000; ++i)
    deep += "log(";
  deep += "1";
  for (int i = 0; i < 3000; ++i)
    deep += ")";
  errors_of(deep + ", sd = 1);");
  std::string wide = "plate n; let a0 = 1;";
  for (int i = 1; i < 60; ++i)
    wide += "let a" + std::to_string(i) + " = a" + std::to_string(i - 1) + " + a" + std::to_string(i - 1) + ";";
  CHECK_THAT(errors_of(wide + "observe x[n] ~ Normal(mean = a59, sd = 1);"),
             Catch::Contains("more than 200000 operations"));
}

TEST_CASE("numbers are drawn element by element over one plate of fixed size") {
  CHECK_THAT(errors_of("plate n; plate t in n; observe x[n] ~ Poisson(1) over t;"),
             Catch::Contains("plate 't' is nested in 'n'"));
  CHECK_THAT(errors_of("plate n; plate d; observe x[n, d] ~ Poisson(1) over d;"),
             Catch::Contains("'d' stands twice among the axes of x") && Catch::Contains("delete `over d`"));
  CHECK_THAT(errors_of("plate n; plate d; data M : matrix over d, d;"
                       "observe x[n] ~ Normal(mean = M, sd = 1) over d;"),
             Catch::Contains("mean of Normal must be a number, but this is a matrix"));
}
