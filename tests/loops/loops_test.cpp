// Builder, printer, verifier and interpreter of the loop IR, without native code: sharing and folding of expressions,
// the printed text, errors of malformed programs, and bounds checks.
#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

#include "compiler/analysis/verify.h"
#include "compiler/loops/builder.h"
#include "compiler/loops/bytes.h"
#include "compiler/loops/interpret.h"
#include "compiler/loops/print_loops.h"

using namespace lehr;
using namespace lehr::loops;

TEST_CASE("Expressions are shared and lightly folded") {
  Builder b;
  const auto n = b.runtime_size("N");
  const auto k = b.constant_size("K", 3);
  const auto x = b.get(b.scalar("x"));
  const auto i = b.get(b.scalar("i", Type::i64));
  CHECK(b.add(x, b.f(1)) == b.add(x, b.f(1)));
  CHECK(b.mul(x, b.f(1)) == x);
  CHECK(b.add(b.f(0), x) == x);
  CHECK(b.mul(b.f(2), b.f(3)) == b.f(6));
  CHECK(b.mul(b.f(0), x) != b.f(0));  // x may be NaN
  CHECK(b.mul(b.i(0), i) == b.i(0));
  CHECK(b.sub(i, i) == b.i(0));
  CHECK(b.neg(b.neg(x)) == x);
  CHECK(b.to_f64(b.i(4)) == b.f(4));
  CHECK(b.to_f64(x) == x);
  CHECK(b.extent(k) == b.i(3));
  CHECK(b.extent(n) != b.i(3));
  CHECK(b.select(b.less(b.i(1), b.i(2)), x, b.f(0)) == x);
  CHECK(b.logical_and(b.boolean(true), b.less(x, b.f(0))) == b.less(x, b.f(0)));
  CHECK(b.exp(b.f(0)) == b.f(1));
  double value = 0;
  CHECK(b.constant(b.digamma(b.f(1)), value));
  CHECK(value == Approx(-0.5772156649015329));
  CHECK_THROWS_AS(b.add(x, i), std::logic_error);
  CHECK_THROWS_AS(b.comment("outside"), std::logic_error);
}

TEST_CASE("The text of a program") {
  Builder b;
  const auto docs = b.runtime_size("doc"), rows = b.runtime_size("doc + 1"), tokens = b.runtime_size("token");
  const auto k = b.constant_size("K", 4);
  const auto offsets = b.buffer("offsets", Role::data, {rows}, Type::i64);
  const auto w = b.buffer("w", Role::data, {tokens}, Type::i64);
  const auto s = b.buffer("S", Role::statistic, {k});
  b.function("estep", {{"T", Type::f64}, {"from", Type::i64}}, [&](const auto& p) {
    const auto local = b.local_array("p", {k});
    b.comment("one pass");
    b.fill(local, b.f(0.5));
    b.for_loop("d", p[1], b.extent(docs), [&](ExprId d) {
      const auto total = b.local("total", b.f(0));
      const ExprId first = b.let("first", b.load(w, {b.add(b.load(offsets, {d}), b.i(1))}));
      b.for_each(
          "k", k,
          [&](ExprId j) {
            b.accumulate(total, b.mul(b.sub(b.load(local, {j}), b.f(1)), b.neg(b.exp(b.div(b.get(total), p[0])))));
            b.for_each("k", k, [&](ExprId other) { b.store(local, {other}, b.to_f64(b.sub(j, b.sub(other, first)))); });
          },
          true);
      b.if_else(
          b.logical_and(b.less(p[0], b.f(0)), b.logical_not(b.is_nan(b.get(total)))), [&] { b.fail(2); },
          [&] { b.add_to(s, {first}, b.select(b.equal(first, b.i(1)), b.f(1e-9), b.max(p[0], b.get(total)))); });
      b.break_if(b.less_equal(b.i(9), d));
      b.assign(total, b.f(-2));
    });
  });
  CHECK(loops::verify_functions(b.program()).empty());
  CHECK(loops::print(b.program()) == R"(sizes
  doc = slot 0
  'doc + 1' = slot 1
  token = slot 2
  K = 4
buffers
  offsets['doc + 1'] : i64 data
  w[token] : i64 data
  S[K] : f64 statistic
  p[K] : f64 scratch
function estep(T: f64, from: i64)
  array p
  // one pass
  fill p[] = 0.5
  for d in from .. doc
    var total = 0.0
    let first = w[offsets[d] + 1]
    for k in 0 .. 4 independent
      total += (p[k] - 1.0) * -exp(total / T)
      for k_2 in 0 .. 4
        p[k_2] = f64(k - (k_2 - first))
    if T < 0.0 and not is_nan(total)
      fail 2
    else
      S[first] += select(first == 1, 1e-09, max(T, total))
    break if 9 <= d
    total = -2.0
)");
}

TEST_CASE("The bytes of a program tell it from others, its comments do not") {
  const auto bytes = [](double number, const char* comment, bool independent, bool cold, const char* moved = "") {
    Builder b;
    const auto n = b.runtime_size("n");
    const auto x = b.buffer("x", Role::output, {n});
    const std::size_t f = b.function("f", [&] {
      b.comment(comment);
      b.for_each(
          "i", n, [&](ExprId i) { b.store(x, {i}, b.f(number)); }, independent);
    });
    if (cold) b.mark_cold(f);
    loops::Program program = b.program();
    program.thresholds = Thresholds(moved);
    return loops::serialise(program);
  };
  const std::string one = bytes(0.1, "a", false, false);
  CHECK(bytes(0.1, "b", false, false) == one);
  CHECK(bytes(std::nextafter(0.1, 1), "a", false, false) != one);
  CHECK(bytes(0.1, "a", true, false) != one);
  CHECK(bytes(0.1, "a", false, true) != one);
  CHECK(bytes(0.1, "a", false, false, "a=1") != one);
  CHECK(bytes(0.1, "a", false, false, "a=1") != bytes(0.1, "a", false, false, "a=2"));
}

TEST_CASE("The verifier names what is wrong") {
  Builder b;
  const auto n = b.constant_size("N", 2), run_time = b.runtime_size("M");
  const auto x = b.buffer("x", Role::data, {n});
  const auto y = b.buffer("y", Role::table, {run_time});
  const auto stray = b.get(b.scalar("stray"));
  b.function("f", [&] {
    b.statement({loops::Store{x, {b.i(0)}, b.f(1)}});
    b.statement({loops::Store{y, {}, b.f(1)}});
    b.statement({loops::Store{y, {b.f(1)}, stray}});
    const ExprId v = b.let("v", b.load(x, {b.i(1)}));
    b.statement({loops::Assign{std::get<loops::Get>(b.program()[v].node).scalar, b.f(0)}});
    b.break_if(b.less(v, b.f(0)));
    b.fail(0);
  });
  loops::Program program = b.program();
  program.buffers[y.index()].name = "x";
  std::string all;
  for (const auto& problem : loops::verify_functions(program))
    all += problem + "\n";
  INFO(all);
  for (const char* expected : {"two buffers are called `x`", "store to the data `x`", "`x` has 1 axes, not 0",
                               "index `1.0` is f64, not i64", "`stray` is used outside its block",
                               "`v` cannot be assigned here", "break outside a loop", "status 0 of a failure"}) {
    CHECK(all.find(expected) != std::string::npos);
  }
}

TEST_CASE("The builder numbers arrays of which another has the name") {
  Builder b;
  const auto n = b.constant_size("N", 2);
  std::vector<std::string> names;
  for (const char* name : {"S0", "S0", "S0 2", "S0", "x"})
    names.push_back(b.program()[b.buffer(name, Role::data, {n})].name);
  CHECK(names == std::vector<std::string>{"S0", "S0 2", "S0 2 2", "S0 3", "x"});
}

TEST_CASE("The verifier visits what is shared once") {
  Builder b;
  const auto x = b.buffer("x", Role::data, {b.constant_size("K", 1)});
  const auto y = b.buffer("y", Role::statistic, {b.constant_size("K", 1)});
  b.function("f", [&] {
    ExprId sum = b.load(x, {b.i(0)});
    for (int doublings = 0; doublings < 64; ++doublings)  // without sharing, the text would have 2^64 terms
      sum = b.add(sum, b.exp(sum));
    b.store(y, {b.i(0)}, sum);
  });
  CHECK(loops::verify_functions(b.program()).empty());
}

TEST_CASE("The interpreter checks every index") {
  Builder b;
  const auto docs = b.constant_size("docs", 2), tokens = b.runtime_size("tokens");
  const auto w = b.buffer("w", Role::table, {docs, tokens});
  b.function("f", {{"d", Type::i64}, {"n", Type::i64}}, [&](const auto& p) { b.store(w, {p[0], p[1]}, b.f(1)); });
  b.function("g", [&] {
    const auto local = b.local_array("local", {docs}, Type::i64);
    b.store(w, {b.load(local, {b.i(0)}), b.i(0)}, b.f(1));
  });
  double values[6] = {};
  void* buffers[] = {values, nullptr};
  const std::int64_t sizes[] = {3};
  const auto call = [&](std::int64_t d, std::int64_t n) {
    const std::int64_t integers[] = {d, n};
    return loops::interpret(b.program(), 0, buffers, sizes, integers, nullptr);
  };
  CHECK(call(1, 1) == 0);
  CHECK(values[4] == 1);
  CHECK_THROWS_AS(call(0, 3), std::logic_error);  // inside the buffer, but outside of row 0
  CHECK_THROWS_AS(call(2, 0), std::logic_error);
  CHECK_THROWS_AS(call(1, -1), std::logic_error);
  CHECK_THROWS_AS(loops::interpret(b.program(), 1, buffers, sizes, nullptr, nullptr), std::logic_error);
}

TEST_CASE("The interpreter counts what it does to real numbers") {
  Builder b;
  const auto n = b.constant_size("N", 5);
  const auto x = b.buffer("x", Role::table, {n}), sums = b.buffer("sums", Role::statistic, {n});
  const auto position = b.buffer("place", Role::data, {n}, Type::i64);
  b.function("f", [&] {
    b.for_each("n", n, [&](ExprId i) {
      const ExprId v = b.let("v", b.load(x, {i}));                          // 8 bytes
      b.add_to(sums, {b.load(position, {i})}, b.mul(v, b.sqrt(b.exp(v))));  // 8, 8 and 8; 3 operations, 1 function
      b.if_then(b.less(v, b.f(0)), [&] { b.store(x, {b.add(i, b.i(0))}, b.neg(v)); });  // 8 bytes, of two elements
    });
  });
  double values[] = {-1, -2, 3, 4, 5}, totals[5] = {};
  std::int64_t positions[] = {0, 0, 1, 4, 2};
  void* buffers[] = {values, totals, positions};
  loops::OperationCounts work;
  REQUIRE(loops::interpret(b.program(), 0, buffers, nullptr, nullptr, nullptr, &work) == 0);
  CHECK(work.operations == 3 * 5);
  CHECK(work.functions == 5);
  CHECK(work.bytes == 32 * 5 + 8 * 2);
}
