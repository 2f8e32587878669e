// Accuracy of the generated special functions (exp, log, digamma, lgamma and others) over their whole domains, against
// libm in long double and against recurrences.
#include <random>

#include "compiler/loops/special.h"
#include "compiler/lower/functions.h"
#include "compiler/math/special.h"
#include "tests/native/harness.h"

using namespace lehr;
using loops::UnaryOp;

namespace {

/// Makes and compiles a program that computes out[n] = f(in[n]) for n < N.
template <class F>
std::vector<double> evaluate_each(const F& f, const std::vector<double>& in, const native::Options& options = {}) {
  loops::Builder b;
  const auto n = b.runtime_size("N");
  const auto x = b.buffer("x", loops::Role::data, {n});
  const auto y = b.buffer("y", loops::Role::table, {n});
  b.function("f", [&] { b.for_each("n", n, [&](auto i) { b.store(y, {i}, f(b, b.load(x, {i}))); }); });
  const native::Jit jit(b.program(), options);
  test::Memory memory({in.size(), in.size()});
  std::copy(in.begin(), in.end(), memory.reals(x));
  const auto size = static_cast<std::int64_t>(in.size());
  jit.function("f")(memory.table(), &size, nullptr, nullptr);
  return {memory.reals(y), memory.reals(y) + in.size()};
}

/// Returns f of all numbers; with `single` in 32 bits.
std::vector<double> evaluate(UnaryOp op, const std::vector<double>& in, const native::Options& options = {},
                             bool single = false) {
  const auto f = [op, single](loops::Builder& b, loops::ExprId x) {
    return single ? b.to_f64(b.unary(op, b.to_f32(x))) : b.unary(op, x);
  };
  return evaluate_each(f, in, options);
}

std::vector<double> log_uniform(double from, double to, int count) {
  std::mt19937_64 generator(7);
  std::uniform_real_distribution<double> exponent(std::log(from), std::log(to));
  std::vector<double> result = {from, to};
  while (result.size() < static_cast<std::size_t>(count))
    result.push_back(std::exp(exponent(generator)));
  return result;
}

std::vector<double> uniform(double from, double to, int count) {
  std::mt19937_64 generator(11);
  std::uniform_real_distribution<double> value(from, to);
  std::vector<double> result;
  while (result.size() < static_cast<std::size_t>(count))
    result.push_back(value(generator));
  return result;
}

/// Returns the largest error relative to max(|exact|, floor).
template <class Exact>
double worst(UnaryOp op, const std::vector<double>& in, double floor, Exact exact, bool single = false) {
  const auto out = evaluate(op, in, {}, single);
  double result = 0, at = 0;
  for (std::size_t k = 0; k < in.size(); ++k) {
    const long double want = exact(in[k]);
    const auto error = static_cast<double>(std::abs(want - out[k]) / std::max<long double>(std::abs(want), floor));
    if (!(error <= result)) result = error, at = in[k];
  }
  UNSCOPED_INFO("worst at " << at << ": " << result);
  return result;
}

long double exact_exp(double x) { return std::exp(static_cast<long double>(x)); }
long double exact_log(double x) { return std::log(static_cast<long double>(x)); }
long double exact_log1p(double x) { return std::log1p(static_cast<long double>(x)); }
long double exact_curvature(double x) {
  return x == 0 ? 0.125L : std::tanh(0.5L * x) / (4 * static_cast<long double>(x));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("exp is accurate to 2e-15") {
  CHECK(worst(UnaryOp::exp, uniform(-707.9, 709.78, 200000), 0, exact_exp) < 5e-16);
  CHECK(worst(UnaryOp::exp, uniform(-1, 1, 100000), 0, exact_exp) < 5e-16);
  CHECK(worst(UnaryOp::exp, log_uniform(1e-300, 1, 10000), 0, exact_exp) < 5e-16);
}

TEST_CASE("log and log1p are accurate to 2e-15") {
  CHECK(worst(UnaryOp::log, log_uniform(1e-307, 1e307, 200000), 0, exact_log) < 1e-15);
  CHECK(worst(UnaryOp::log, uniform(0.5, 2, 200000), 0, exact_log) < 1e-15);
  CHECK(worst(UnaryOp::log, uniform(0.999, 1.001, 100000), 0, exact_log) < 1e-15);
  CHECK(worst(UnaryOp::log, {5e-324, 1e-310, 2.2e-308}, 0, exact_log) < 1e-15);
  CHECK(worst(UnaryOp::log1p, log_uniform(1e-300, 1e300, 100000), 0, exact_log1p) < 1e-15);
  CHECK(worst(UnaryOp::log1p, uniform(-0.9999, 1, 100000), 0, exact_log1p) < 1e-15);
}

TEST_CASE("The curvature of the bound of a logit is accurate to 1e-15") {
  for (const double sign : {1.0, -1.0}) {
    for (std::vector<double> points : {uniform(0, 2, 200000),
                                       uniform(0, 100, 200000),
                                       log_uniform(1e-320, 1, 100000),
                                       log_uniform(1, 1e300, 100000),
                                       {0, 1e-301, 1e-300, 79.9, 80, 80.1}}) {
      for (double& x : points)
        x *= sign;
      CHECK(worst(UnaryOp::logit_curvature, points, 0, exact_curvature) < 1e-15);
    }
  }
}

TEST_CASE("digamma, trigamma and lgamma are accurate to 1e-13") {
  for (const auto& points : {log_uniform(1e-300, 1e15, 100000), uniform(0.5, 12, 100000), uniform(7.9, 8.1, 10000),
                             log_uniform(1e-8, 1e-3, 10000)}) {
    CHECK(worst(UnaryOp::digamma, points, 1, loops::digamma) < 1e-14);
    CHECK(worst(UnaryOp::lgamma, points, 1, loops::log_gamma) < 2e-14);
  }
  CHECK(worst(UnaryOp::trigamma, log_uniform(1e-150, 1e15, 100000), 0, loops::trigamma) < 1e-14);
  CHECK(worst(UnaryOp::trigamma, uniform(0.5, 12, 100000), 0, loops::trigamma) < 1e-14);
  CHECK(worst(UnaryOp::digamma, uniform(2, 12, 100000), 0, loops::digamma) < 2e-14);
  CHECK(worst(UnaryOp::lgamma, {1e-300, 1e-100, 1e200, 1e300}, 0, loops::log_gamma) < 1e-14);
}

TEST_CASE("The logarithm of a tail of the Normal distribution is accurate to 1e-14") {
  const auto exact = [](double x) {
    const long double half = std::erfc(std::abs(static_cast<long double>(x)) / std::sqrt(2.0L)) / 2;
    return x < 0 ? std::log1p(-half) : std::log(half);
  };
  const auto compiled = [](loops::Builder& b, loops::ExprId x) { return loops::apply(b, math::Function::log_tail, x); };
  std::vector<double> in = uniform(-12, 12, 4000);
  for (const double x : uniform(12, 140, 1000))
    in.push_back(x);
  const std::vector<double> out = evaluate_each(compiled, in);
  for (std::size_t k = 0; k < in.size(); ++k) {
    INFO("at " << in[k]);
    // The margin is for logarithms near 0, where rounding the argument alone gives a larger relative error.
    const auto right = Approx(static_cast<double>(exact(in[k]))).epsilon(1e-14).margin(1e-24);
    CHECK(out[k] == right);
    CHECK(math::log_tail_value(in[k]) == right);
  }
  CHECK(evaluate_each(compiled, {-kInfinity, kInfinity, -1e150}) == std::vector<double>{0, -kInfinity, 0});
  CHECK(evaluate_each(compiled, {1e150})[0] == Approx(-0.5e300));
}

TEST_CASE("In 32 bits all are accurate to 1e-6, and most to 3e-7") {
  const auto rounded = [](std::vector<double> points) {
    for (double& x : points)
      x = static_cast<float>(x);
    return points;
  };
  CHECK(worst(UnaryOp::exp, rounded(uniform(-86.9, 88.7, 100000)), 0, exact_exp, true) < 2e-7);
  CHECK(worst(UnaryOp::exp, rounded(uniform(-1, 1, 100000)), 0, exact_exp, true) < 2e-7);
  for (const auto& points : {log_uniform(1e-37, 1e37, 100000), uniform(0.5, 2, 100000)})
    CHECK(worst(UnaryOp::log, rounded(points), 0, exact_log, true) < 2e-7);
  for (const auto& points : {log_uniform(1e-12, 1e15, 100000), uniform(0.5, 12, 100000), uniform(7.9, 8.1, 10000)}) {
    CHECK(worst(UnaryOp::digamma, rounded(points), 1, loops::digamma, true) < 1e-6);
    CHECK(worst(UnaryOp::lgamma, rounded(points), 0, loops::log_gamma, true) < 1e-7);
  }
  CHECK(worst(UnaryOp::trigamma, rounded(uniform(0.5, 12, 100000)), 0, loops::trigamma, true) < 1e-7);
  CHECK(worst(UnaryOp::log1p, rounded(uniform(-0.9, 9, 100000)), 0, exact_log1p, true) < 1e-7);
  for (const auto& points : {uniform(-2, 2, 100000), uniform(-100, 100, 100000), log_uniform(1e-44, 1e37, 100000)})
    CHECK(worst(UnaryOp::logit_curvature, rounded(points), 0, exact_curvature, true) < 4e-7);
}

TEST_CASE("The reference functions agree with known values") {
  CHECK(loops::digamma(1) == Approx(-0.57721566490153286061).epsilon(1e-15));
  CHECK(loops::trigamma(1) == Approx(1.6449340668482264365).epsilon(1e-15));
  CHECK(loops::log_gamma(0.5) == Approx(0.57236494292470008707).epsilon(1e-15));
  for (double x : {1e-8, 0.3, 2.5, 40.0, 1e9})
    CHECK(loops::log_gamma(x) == Approx(std::lgamma(x)).epsilon(1e-14));
}

TEST_CASE("Special values") {
  const auto is = [](UnaryOp op, double x, double want) {
    for (const bool single : {false, true}) {
      const double got = evaluate(op, std::vector<double>(37, x), {}, single)[36];
      INFO(loops::name_of(op) << "(" << x << ") = " << got << ", wanted " << want << (single ? ", in 32 bits" : ""));
      CHECK((std::isnan(want) ? std::isnan(got) : got == want));
    }
  };
  is(UnaryOp::exp, -kInfinity, 0), is(UnaryOp::exp, kInfinity, kInfinity), is(UnaryOp::exp, kNaN, kNaN);
  is(UnaryOp::exp, loops::kLogZero, 0), is(UnaryOp::exp, 710, kInfinity), is(UnaryOp::exp, 0, 1);
  is(UnaryOp::exp, -708.5, 0), is(UnaryOp::exp, 1e300, kInfinity);
  is(UnaryOp::logit_curvature, 0, 0.125), is(UnaryOp::logit_curvature, kNaN, kNaN);
  is(UnaryOp::logit_curvature, kInfinity, 0), is(UnaryOp::logit_curvature, -kInfinity, 0);
  is(UnaryOp::log, 0, -kInfinity), is(UnaryOp::log, kInfinity, kInfinity), is(UnaryOp::log, -1, kNaN);
  is(UnaryOp::log, kNaN, kNaN), is(UnaryOp::log, 1, 0), is(UnaryOp::log, -kInfinity, kNaN);
  is(UnaryOp::log1p, -1, -kInfinity), is(UnaryOp::log1p, kInfinity, kInfinity), is(UnaryOp::log1p, kNaN, kNaN);
  is(UnaryOp::log1p, -2, kNaN), is(UnaryOp::log1p, 0, 0);
  for (auto op : {UnaryOp::digamma, UnaryOp::lgamma}) {
    is(op, kInfinity, kInfinity), is(op, kNaN, kNaN), is(op, 0, kNaN), is(op, -0.5, kNaN), is(op, -kInfinity, kNaN);
  }
  is(UnaryOp::trigamma, kInfinity, 0), is(UnaryOp::trigamma, kNaN, kNaN), is(UnaryOp::trigamma, -1, kNaN);
}

TEST_CASE("exp(digamma(x) - c) is fused and accurate") {
  const auto points = log_uniform(1e-3, 1e9, 20000);
  for (const double c : {0.0, 3.0, -650.0}) {
    loops::Builder b;
    const auto n = b.runtime_size("N");
    const auto x = b.buffer("x", loops::Role::data, {n});
    const auto y = b.buffer("y", loops::Role::table, {n});
    b.function("f", [&] {
      b.for_each("n", n, [&](auto i) { b.store(y, {i}, b.exp(b.sub(b.digamma(b.load(x, {i})), b.f(c)))); });
    });
    CHECK(native::llvm_text(b.program(), {.level = 0}).find("lehr.exp_digamma") != std::string::npos);
    const native::Jit jit(b.program());
    test::Memory memory({points.size(), points.size()});
    std::copy(points.begin(), points.end(), memory.reals(x));
    const auto size = static_cast<std::int64_t>(points.size());
    jit.function("f")(memory.table(), &size, nullptr, nullptr);
    double worst_error = 0;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double psi = loops::digamma(points[k]), exponent = psi - c;
      if (exponent > 700 || exponent < -700) continue;
      const long double want = std::exp(static_cast<long double>(exponent));
      const auto error =
          static_cast<double>(std::abs(memory.reals(y)[k] / want - 1) / (1 + std::abs(psi) + std::abs(c)));
      worst_error = std::max(worst_error, error);
    }
    CHECK(worst_error < 2e-15);
  }
}

TEST_CASE("Older machines get the same accuracy") {
  const auto points = uniform(-50, 50, 1000);
  const auto wide = evaluate(UnaryOp::exp, points), narrow = evaluate(UnaryOp::exp, points, {.cpu = "x86-64"});
  for (std::size_t k = 0; k < points.size(); ++k)
    CHECK(narrow[k] == Approx(wide[k]).epsilon(1e-15));
  const auto positive = log_uniform(1e-10, 1e10, 1000);
  for (auto op : {UnaryOp::digamma, UnaryOp::lgamma, UnaryOp::log}) {
    const auto a = evaluate(op, positive), c = evaluate(op, positive, {.cpu = "x86-64-v3"});
    for (std::size_t k = 0; k < positive.size(); ++k)
      CHECK(c[k] == Approx(a[k]).epsilon(1e-13).margin(1e-14));
  }
}
