// Name resolution of well-formed models: types of categories, event axes, aliases of plates, `let`, chains, stick
// breaking. The resolved model is checked in its printed form.
#include <catch2/catch.hpp>

#include "compiler/model/print_model.h"
#include "tests/model/text.h"

using namespace lehr;

namespace {

const model::Variable& variable(const model::Model& m, const std::string& name) {
  for (const auto& v : m.variables) {
    if (v.name == name) return v;
  }
  FAIL("no variable " + name);
  return m.variables.front();
}

std::string statement_text(const model::Model& m, const std::string& name) {
  const std::string all = print(m);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    const std::string line = all.substr(at, end - at);
    if (line.find(name) != std::string::npos && line.find(" ~ ") != std::string::npos) {
      if (line.find(name) < line.find(" ~ ")) return line.substr(2);
    }
    at = end + 1;
  }
  return "";
}

std::string plate_name(const model::Model& m, std::optional<model::PlateId> p) { return p ? m[*p].name : ""; }

}  // namespace

TEST_CASE("a category ranges over the axis of its probabilities") {
  const auto m = model_of(R"(
    plate doc; plate token in doc; plate topic = 4; plate term;
    observe w[doc, token] ~ Categorical(beta[z[doc, token]]);
    z[doc, token] ~ Categorical(theta[doc]);
    beta[topic] ~ Dirichlet(concentration = 1) over term;
    theta[doc] ~ Dirichlet(concentration = 1) over topic;)");
  CHECK(plate_name(m, variable(m, "z").value_plate) == "topic");
  CHECK(plate_name(m, variable(m, "w").value_plate) == "term");
  CHECK(variable(m, "w").observed);
  CHECK(variable(m, "theta").support == math::Support::simplex);
  const auto& z = m[variable(m, "z").statement];
  REQUIRE(z.index_vars.size() == 2);
  CHECK(m[z.index_vars[1]].parent == z.index_vars[0]);
}

TEST_CASE("the event axis comes from a vector parameter") {
  const auto m = model_of(R"(
    plate n; plate d;
    data m0 : vector over d;
    mu ~ MvNormal(mean = m0, precision = 1);
    observe x[n] ~ MvNormal(mean = mu, precision = 1);)");
  CHECK(plate_name(m, variable(m, "mu").event.at(0)) == "d");
  CHECK(plate_name(m, variable(m, "x").event.at(0)) == "d");
}

TEST_CASE("aliases are one set, under names of their own") {
  const auto m = model_of(R"(
    plate pair; plate g = 3; plate h = g; plate node;
    data src[pair] : node; data dst[pair] : node;
    pi ~ Dirichlet(concentration = 1) over h;
    z[node] ~ Categorical(pi);
    B[g, h] ~ Beta(1, 1);
    observe e[pair] ~ Bernoulli(B[z[src[pair]], z[dst[pair]]]);)");
  const auto& b = variable(m, "B");
  CHECK(b.axes[0] == b.axes[1]);
  CHECK(plate_name(m, b.axes[0]) == "g");
  CHECK(m[m[b.statement].index_vars[1]].name == "h");
}

TEST_CASE("a size that is a constant is no alias") {
  const auto m = model_of(
      "const K = 3; plate k = K; p ~ Dirichlet(concentration = 1) over k; plate n;"
      "observe x[n] ~ Categorical(p);");
  CHECK(m.plates[0].set == model::PlateId(0));
  CHECK(m.plates[0].size);
}

TEST_CASE("let is substitution with renaming") {
  const auto m = model_of(R"(
    plate user; plate rating; plate d;
    data who[rating] : user; data x[user] : vector over d;
    w ~ MvNormal(mean = 0, precision = 1) over d;
    b[user] ~ Normal(mean = 0, sd = 1);
    let f[user] = dot(w, x[user]) + b[user];
    observe y[rating] ~ Normal(mean = f[who[rating]], sd = 1);)");
  CHECK(statement_text(m, "y[") ==
        "observe y[rating] ~ Normal(mean = dot(w, x[who[rating]]) + b[who[rating]], sd = 1);  // real");
}

TEST_CASE("a let that is a name takes further indices") {
  const auto m = model_of(R"(
    plate n; plate k = 2;
    A[n, k] ~ Normal(mean = 0, sd = 1);
    let row[n] = A[n];
    observe y[n, k] ~ Normal(mean = row[n, k], sd = 1);)");
  CHECK(statement_text(m, "y[") == "observe y[n, k] ~ Normal(mean = A[n, k], sd = 1);  // real");
}

TEST_CASE("chains name the previous element") {
  const auto m = model_of(R"(
    plate seq; plate t in seq ordered; plate state = 2;
    A[state] ~ Dirichlet(concentration = 1) over state;
    s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(1 / 2);
    observe x[seq, t] ~ Normal(mean = 0, sd = 1) ;
    mu[state] ~ Normal(mean = 0, sd = 1);
    observe y[seq, t] ~ Normal(mean = mu[s[seq, t]], sd = 1);)");
  CHECK(plate_name(m, variable(m, "s").value_plate) == "state");
  CHECK(m[variable(m, "s").statement].start);
}

TEST_CASE("a matrix is a name with two axes missing") {
  const auto m = model_of(R"(
    plate t ordered; plate d = 2; plate i = d;
    A[i] ~ MvNormal(mean = 0, precision = 1) over d;
    h[t] ~ MvNormal(mean = A * h[t-1], precision = 1) start MvNormal(mean = 0, precision = 1) over d;
    observe x[t] ~ MvNormal(mean = h[t], precision = 1);)");
  const auto& h = m[variable(m, "h").statement];
  CHECK(std::holds_alternative<model::MatrixVector>(m[h.main.parameters[0].value].node));
}

TEST_CASE("stick breaking makes a plate with one element more, which unifies with the plate that it indexes") {
  const auto m = model_of(R"(
    plate n; plate s = 9; plate t;
    v[s] ~ Beta(1, 2);
    l[t] ~ Gamma(shape = 1, rate = 1);
    z[n] ~ Categorical(stick_breaking(v));
    observe x[n] ~ Poisson(l[z[n]]);)");
  CHECK(plate_name(m, variable(m, "z").value_plate) == "t");
  CHECK(plate_name(m, m.plates.back().stick) == "s");
  CHECK(plate_name(m, m.plates.back().set) == "t");
}

TEST_CASE("times may name undeclared data") {
  const auto m = model_of(
      "plate doc; plate token in doc times count; p ~ Beta(1, 1);"
      "observe w[doc, token] ~ Bernoulli(p);");
  REQUIRE(m.plates[1].times);
  CHECK(m[*m.plates[1].times].name == "count");
  CHECK(m[*m.plates[1].times].axes.size() == 2);
}

TEST_CASE("an optional leading parameter is skipped by position") {
  const auto one =
      model_of("plate n; plate k; p ~ Dirichlet(concentration = 1) over k; observe x[n] ~ Multinomial(p);");
  CHECK(one.statements.back().main.parameters.size() == 1);
  const auto two = model_of(
      "plate n; plate k; data c[n] : count; p ~ Dirichlet(concentration = 1) over k;"
      "observe x[n] ~ Multinomial(c[n], p);");
  REQUIRE(two.statements.back().main.parameters.size() == 2);
  CHECK(two.statements.back().main.parameters[0].spelling->name == "n");
}

TEST_CASE("a model of potentials alone is a model") {
  const auto m = model_of(
      "plate site; plate edge; data a[edge] : site; data b[edge] : site; s[site] ~ Spin();"
      "potential[edge] 0.3 * s[a[edge]] * s[b[edge]];");
  REQUIRE(m.potentials.size() == 1);
  CHECK(print(m, m.potentials[0].value) == "0.3 * s[a[edge]] * s[b[edge]]");
}

TEST_CASE("parameters stand in the row's order however they are written") {
  const auto m = model_of("plate n; observe x[n] ~ Normal(sd = 2, mean = 1);");
  CHECK(m.statements[0].main.parameters[0].spelling->canonical == "mean");
  CHECK(m.statements[0].main.parameters[1].spelling->name == "sd");
}

TEST_CASE("a sum binds one product") {
  const auto m = model_of(R"(
    plate n; plate f = 2;
    data a[n, f] : real; b[f] ~ Normal(mean = 0, sd = 1); c ~ Normal(mean = 0, sd = 1);
    observe x[n] ~ Normal(mean = sum(f) a[n, f] * b[f] + c, sd = 1);)");
  const auto& mean = m[m.statements.back().main.parameters[0].value];
  CHECK(std::get<model::Binary>(mean.node).op == model::BinaryOp::add);
  CHECK(print(m, m.statements.back().main.parameters[0].value) == "sum(f) a[n, f] * b[f] + c");
}

TEST_CASE("numbers drawn element by element have one more plate, and parameters taken at its elements") {
  const auto m = model_of(R"(
    plate n; plate d; plate k = 2;
    data A : matrix over d, k; data user[n] : k; data s : vector over d;
    h[n] ~ MvNormal(mean = 0, precision = 1) over k;
    b[k] ~ Normal(mean = 0, sd = 1) over d;
    observe x[n] ~ Normal(mean = A * h[n] + b[user[n]], sd = sqrt(s)) over d;
    observe y[n] ~ Normal(mean = dot(x[n], b[0]), sd = x[n, 1]);)");
  CHECK(statement_text(m, "b") == "b[k, d] ~ Normal(mean = 0, sd = 1);  // real");
  CHECK(statement_text(m, "observe x") ==
        "observe x[n, d] ~ Normal(mean = (A * h[n] + b[user[n]])[d], sd = sqrt(s[d]));  // real");
  CHECK(variable(m, "x").event.empty());
  REQUIRE(m[variable(m, "x").statement].index_vars.size() == 2);
  CHECK(m[m[variable(m, "x").statement].index_vars[1]].plate == variable(m, "x").axes[1]);
}

TEST_CASE("an alias is a second plate of numbers drawn element by element") {
  const auto m = model_of("plate g; plate h = g; observe x[g] ~ Poisson(3) over h;");
  CHECK(variable(m, "x").axes == std::vector<model::PlateId>(2, model::PlateId(0)));
}

TEST_CASE("a chain records which of its plates is ordered") {
  const auto m = model_of(R"(
    plate t ordered; plate d;
    observe x[t] ~ Normal(mean = x[t-1], sd = 1) over d start Normal(mean = 0, sd = 1);)");
  const auto& s = m[variable(m, "x").statement];
  REQUIRE(s.index_vars.size() == 2);
  CHECK(s.lagged == s.index_vars[0]);
}
