// The formulas of compiler/math: folding of constants, printing with few parentheses, and evaluation over scalars,
// vectors and matrices.
#include <catch2/catch.hpp>

#include <cmath>
#include <set>
#include <string_view>

#include "compiler/math/evaluate.h"
#include "compiler/math/special.h"

using namespace lehr::math;

TEST_CASE("operators fold numbers only") {
  const Expr x = symbol("x");
  CHECK(print(0.0 + x) == "x");
  CHECK(print(1.0 * x) == "x");
  CHECK(print(0.0 * x) == "0");
  CHECK(print(2.0 * (3.0 * x)) == "6*x");
  CHECK(print(x * 2.0) == "2*x");
  CHECK(print(-(-x)) == "x");
  CHECK(print(log(Expr(1.0)) + x) == "x");
  CHECK(print(delta(kFirst, kFirst)) == "1");
}

TEST_CASE("formulas print with the fewest parentheses that keep their meaning") {
  const Expr x = symbol("x"), y = symbol("y");
  CHECK(print(-0.5 * y * square(x - y)) == "-0.5*y*(x - y)^2");
  CHECK(print(x - (y - 1.0)) == "x - (y - 1)");
  CHECK(print((x + y) / (x - y)) == "(x + y)/(x - y)");
  CHECK(print(x / (y * y)) == "x/y^2");
  CHECK(print(1.0 - exp(-x)) == "1 - exp(-x)");
  CHECK(print(2.0 * sum(Index{2}, symbol("a", Index{2}) + 1.0)) == "2*(sum(j) (a[j] + 1))");
  CHECK(print(sum(Index{2}, symbol("m", kFirst, Index{2}))) == "sum(l) m[j,l]");
  CHECK(print(inverse("scale", kFirst, kSecond)) == "inverse(scale)[j,l]");
  CHECK(print(log(at_value("p", "x"))) == "log(p[x])");
}

TEST_CASE("formulas evaluate over scalars, vectors and matrices") {
  const Environment e{2, {{"s", {0, {2.0}}}, {"v", {1, {3.0, 4.0}}}, {"m", {2, {2.0, 1.0, 1.0, 3.0}}}}};
  const Index a{2}, b{3};
  CHECK(evaluate(sum(a, symbol("v", a) * symbol("v", a)), e) == 25.0);
  CHECK(evaluate(symbol("m", kFirst, kSecond), e, 1, 0) == 1.0);
  CHECK(evaluate(sum(a, sum(b, symbol("m", a, b) * symbol("v", a) * symbol("v", b))), e) == 90.0);
  CHECK(evaluate(logdet("m"), e) == Approx(std::log(5.0)));
  CHECK(evaluate(inverse("m", kFirst, kSecond), e, 0, 1) == Approx(-0.2));
  CHECK(evaluate(extent() + index_value(kFirst), e, 1) == 3.0);
  CHECK(evaluate(symbol("s", kFirst), e, 1) == 2.0);
  CHECK(evaluate(logdet("s"), e) == Approx(2.0 * std::log(2.0)));
  CHECK(evaluate(at_value("v", "one"), {2, {{"v", {1, {3.0, 4.0}}}, {"one", {0, {1.0}}}}}) == 4.0);
  CHECK(std::isnan(evaluate(logdet("m"), {2, {{"m", {2, {1.0, 2.0, 2.0, 1.0}}}}})));
  CHECK(evaluate(xlogx(symbol("s")) + xlogx(symbol("s") - 2.0), e) == Approx(2.0 * std::log(2.0)));
  CHECK(evaluate(log_cosh(400.0 * symbol("s")), e) == Approx(800.0 - std::log(2.0)));
}

TEST_CASE("free event indices are counted") {
  CHECK(free_event_rank(symbol("v", Index{2})) == 0);
  CHECK(free_event_rank(sum(Index{2}, symbol("m", kFirst, Index{2}))) == 1);
  CHECK(free_event_rank(delta(kFirst, kSecond)) == 2);
}

TEST_CASE("digamma and trigamma") {
  // Exact values: psi(1) = -gamma, psi(1/2) = -gamma - 2 log 2, psi'(1) = pi^2/6, psi'(1/2) = pi^2/2.
  constexpr double kEuler = 0.57721566490153286061;
  CHECK(digamma_value(1.0) == Approx(-kEuler).epsilon(1e-14));
  CHECK(digamma_value(0.5) == Approx(-kEuler - 2.0 * std::log(2.0)).epsilon(1e-14));
  CHECK(digamma_value(10.0) == Approx(2.251752589066721).epsilon(1e-14));
  CHECK(digamma_value(1e8) == Approx(std::log(1e8) - 0.5e-8).epsilon(1e-15));
  CHECK(digamma_value(1e-8) == Approx(-1e8 - kEuler).epsilon(1e-15));
  CHECK(trigamma_value(1.0) == Approx(M_PI * M_PI / 6.0).epsilon(1e-14));
  CHECK(trigamma_value(0.5) == Approx(M_PI * M_PI / 2.0).epsilon(1e-14));
  CHECK(std::isnan(digamma_value(0.0)));
}

TEST_CASE("every function has a name of its own, and what a model may call a value") {
  std::set<std::string_view> names;
  for (int k = 0; k <= static_cast<int>(Function::logdet); ++k) {
    const FunctionRow& row = row_of(static_cast<Function>(k));
    INFO(row.name);
    CHECK(row.function == static_cast<Function>(k));
    CHECK(names.insert(row.name).second);
    CHECK((row.value != nullptr || !row.in_language));
    CHECK((row.value != nullptr || std::isnan(value_of(row.function, 0.5))));
  }
  CHECK(value_of(Function::logistic, 0.0) == 0.5);
  CHECK(value_of(Function::log_cosh, 0.0) == 0.0);
}
