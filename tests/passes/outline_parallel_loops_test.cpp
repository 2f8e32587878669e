// The pass `outline-parallel-loops` (outlining of parallel loops): which loops become parallel regions, and which must
// not. Regions run iteration by iteration in reverse order, and must compute the same.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "compiler/loops/verify_regions.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

constexpr std::int64_t kRows = 5, kWidth = 4;

/// A function over rows of `kWidth` numbers, and arrays that it may use.
struct Rows {
  Builder b;
  const loops::SizeId n = b.runtime_size("N"), k = b.constant_size("K", kWidth);
  const BufferId from = b.buffer("x", Role::data, {n, k}), transposed = b.buffer("y", Role::data, {k, n}),
                 to = b.buffer("p", Role::parameter, {n, k}), other = b.buffer("q", Role::expectation, {n, k}),
                 one = b.buffer("o", Role::output, {k}), scratch = b.buffer("s", Role::scratch, {k});

  void rows(const std::function<void(ExprId)>& body) { b.for_each(b.fresh("n"), n, body); }
  void each(const std::function<void(ExprId)>& body) { b.for_each(b.fresh("k"), k, body); }

  /// Returns the number of parallel regions ("phases") after the pass. `left`: how many statements must remain in the
  /// body.
  std::size_t phases(const std::function<void()>& body, std::size_t left) {
    b.function("f", body);
    const loops::Program before = b.take();
    const loops::Program after = loops::outline_parallel_loops(before);
    test::Buffers values(before.buffers.size(), std::vector<double>(kRows * kWidth));
    for (std::size_t m = 0; m < values.size(); ++m) {
      for (std::size_t e = 0; e < values[m].size(); ++e)
        values[m][e] = static_cast<double>((7 * e + 3 * m) % 11);
    }
    test::check_same(before, after, values, {kRows});
    CHECK(after.functions[0].body.size() == left);
    return after.functions[0].regions.size();
  }
};

}  // namespace

TEST_CASE("loops over rows of their own are one phase, what is filled before them too") {
  Rows x;
  Builder& b = x.b;
  CHECK(x.phases(
            [&] {
              b.fill(x.to, b.f(0));
              const ExprId c = b.let("c", b.mul(b.f(2), b.load(x.transposed, {b.i(0), b.i(1)})));
              x.rows([&](ExprId n) {
                x.each([&](ExprId k) { b.add_to(x.to, {n, k}, b.mul(c, b.load(x.transposed, {k, n}))); });
              });
              x.rows([&](ExprId n) {
                x.each([&](ExprId k) { b.store(x.other, {n, k}, b.add(c, b.load(x.to, {n, k}))); });
              });
            },
            0) == 1);
}

TEST_CASE("rows that other turns read begin a phase of their own") {
  Rows x;
  Builder& b = x.b;
  CHECK(x.phases(
            [&] {
              x.rows([&](ExprId n) { x.each([&](ExprId k) { b.store(x.to, {n, k}, b.load(x.from, {n, k})); }); });
              x.rows([&](ExprId n) { x.each([&](ExprId k) { b.store(x.other, {n, k}, b.load(x.to, {b.i(1), k})); }); });
            },
            0) == 2);
}

TEST_CASE("a loop after a store to its array stays, and so does one that assigns a number") {
  Rows x;
  Builder& b = x.b;
  const bool stored = GENERATE(true, false);
  CHECK(x.phases(
            [&] {
              const loops::ScalarId last = b.local("last", b.f(0));
              if (stored) b.store(x.to, {b.i(0), b.i(0)}, b.f(5));
              x.rows([&](ExprId n) {
                x.each([&](ExprId k) { b.store(x.to, {n, k}, b.load(x.from, {n, k})); });
                if (!stored) b.assign(last, b.load(x.from, {n, b.i(0)}));
              });
              b.store(x.one, {b.i(0)}, b.get(last));
            },
            stored ? 4 : 3) == 0);
}

TEST_CASE("loops over two constant numbers of rows are two phases") {
  Rows x;
  Builder& b = x.b;
  const loops::SizeId five = b.constant_size("J", 5);
  const BufferId of_five = b.buffer("j", Role::table, {five, x.k}), columns = b.buffer("c", Role::table, {x.k, x.n});
  CHECK(x.phases(
            [&] {
              x.each([&](ExprId k) { x.rows([&](ExprId n) { b.store(columns, {k, n}, b.load(x.from, {n, k})); }); });
              b.for_each("j", five, [&](ExprId j) {
                x.each([&](ExprId k) { b.store(of_five, {j, k}, b.mul(b.f(2), b.load(x.transposed, {k, b.i(0)}))); });
              });
            },
            0) == 2);
}

TEST_CASE("a loop joins no phase that is before what it reads") {
  Rows x;
  Builder& b = x.b;
  const BufferId columns = b.buffer("c", Role::table, {x.k, x.n});
  CHECK(x.phases(
            [&] {
              x.rows([&](ExprId n) { x.each([&](ExprId k) { b.store(x.to, {n, k}, b.load(x.from, {n, k})); }); });
              x.each([&](ExprId k) { x.rows([&](ExprId n) { b.store(columns, {k, n}, b.load(x.to, {n, k})); }); });
              x.rows([&](ExprId n) { x.each([&](ExprId k) { b.store(x.other, {n, k}, b.load(columns, {k, n})); }); });
            },
            0) == 3);
}

TEST_CASE("a turn that reads what another stores stays") {
  Rows x;
  Builder& b = x.b;
  const bool first = GENERATE(true, false);
  CHECK(
      x.phases(
          [&] {
            x.rows([&](ExprId n) {
              x.each([&](ExprId k) { b.store(x.to, {n, k}, b.load(x.to, {first ? b.i(0) : n, first ? k : b.i(0)})); });
            });
          },
          first ? 1 : 0) == (first ? 0 : 1));
}

TEST_CASE("scratch of a turn is its own, unless something else has to do with it") {
  Rows x;
  Builder& b = x.b;
  const bool before = GENERATE(true, false);
  CHECK(x.phases(
            [&] {
              if (before) b.fill(x.scratch, b.f(1));
              x.rows([&](ExprId n) {
                if (!before) b.fill(x.scratch, b.f(0));
                x.each([&](ExprId k) { b.add_to(x.scratch, {k}, b.load(x.from, {n, k})); });
                x.each([&](ExprId k) { b.store(x.to, {n, k}, b.load(x.scratch, {k})); });
              });
            },
            before ? 2 : 0) == (before ? 0 : 1));
}

TEST_CASE("scratch that is read after a loop, and a number of what the function stores, keep a loop where it is") {
  Rows x;
  Builder& b = x.b;
  const bool scratch = GENERATE(true, false);
  CHECK(x.phases(
            [&] {
              b.store(x.one, {b.i(0)}, b.load(x.from, {b.i(2), b.i(1)}));
              const ExprId c = b.let("c", scratch ? b.f(2) : b.load(x.one, {b.i(0)}));
              x.rows([&](ExprId n) {
                x.each([&](ExprId k) { b.store(x.scratch, {k}, b.mul(c, b.load(x.from, {n, k}))); });
                x.each([&](ExprId k) { b.store(x.to, {n, k}, b.load(x.scratch, {k})); });
              });
              if (scratch) b.store(x.one, {b.i(1)}, b.load(x.scratch, {b.i(1)}));
            },
            3) == 0);
}

TEST_CASE("scratch that a turn leaves to others stays") {
  Rows x;
  Builder& b = x.b;
  const BufferId left = b.buffer("l", Role::scratch, {x.n});
  CHECK(x.phases(
            [&] {
              x.rows([&](ExprId n) {
                const loops::ScalarId sum = b.local("sum", b.load(x.from, {n, b.i(0)}));
                b.for_loop("m", b.i(0), n, [&](ExprId m) { b.accumulate(sum, b.load(left, {m})); });
                b.store(left, {n}, b.get(sum));
                x.each([&](ExprId k) { b.store(x.to, {n, k}, b.get(sum)); });
              });
            },
            1) == 0);
}

TEST_CASE("numbers are added up, where they are read afterwards only") {
  Rows x;
  Builder& b = x.b;
  const bool read = GENERATE(true, false);
  CHECK(x.phases(
            [&] {
              const loops::ScalarId sum = b.local("sum", b.f(3));
              if (read) b.store(x.one, {b.i(1)}, b.get(sum));
              x.rows([&](ExprId n) { x.each([&](ExprId k) { b.accumulate(sum, b.load(x.from, {n, k})); }); });
              b.store(x.one, {b.i(0)}, b.get(sum));
            },
            read ? 4 : 3) == (read ? 0 : 1));
}

TEST_CASE("what must come before stays before, and so does what may end the function") {
  Rows x;
  Builder& b = x.b;
  const bool fails = GENERATE(true, false);
  CHECK(x.phases(
            [&] {
              if (fails) b.fail_if(b.less(b.load(x.from, {b.i(0), b.i(0)}), b.f(-1)), 7);
              else b.store(x.one, {b.i(0)}, b.f(4));
              x.rows([&](ExprId n) { x.each([&](ExprId k) { b.store(x.to, {n, k}, b.load(x.one, {b.i(0)})); }); });
            },
            2) == 0);
}

TEST_CASE("a turn may fail") {
  Rows x;
  Builder& b = x.b;
  CHECK(
      x.phases(
          [&] {
            x.rows([&](ExprId n) { x.each([&](ExprId k) { b.fail_if(b.less(b.load(x.from, {n, k}), b.f(1)), 9); }); });
          },
          0) == 1);
}

TEST_CASE("loops with nothing to do, and of few turns, stay") {
  Rows x;
  Builder& b = x.b;
  CHECK(x.phases(
            [&] {
              x.rows([&](ExprId n) { b.store(x.to, {n, b.i(0)}, b.load(x.from, {n, b.i(0)})); });
              b.for_range("k", b.i(0), b.i(2), [&](ExprId k) {
                x.rows([&](ExprId n) { b.store(x.other, {n, k}, b.load(x.from, {n, k})); });
              });
            },
            2) == 0);
}

TEST_CASE("what a phase leaves in scratch for the rest of the function is a table, which all workers share") {
  const bool elsewhere = GENERATE(true, false), two_phases = GENERATE(true, false);
  Rows x;
  Builder& b = x.b;
  const BufferId natural = b.buffer("l", Role::scratch, {x.n, x.k});
  if (elsewhere) b.function("other", [&] { b.store(natural, {b.i(0), b.i(0)}, b.f(1)); });
  const auto form = [&] {
    x.rows([&](ExprId n) {
      x.each([&](ExprId k) { b.store(natural, {n, k}, b.mul(b.f(2), b.load(x.from, {n, k}))); });
    });
    if (two_phases)
      x.each([&](ExprId k) {
        x.rows([&](ExprId n) { b.store(x.other, {n, k}, b.load(natural, {n, b.sub(b.i(kWidth - 1), k)})); });
      });
    b.store(x.one, {b.i(0)}, b.load(natural, {b.i(3), b.i(2)}));
  };
  b.function("f", form);
  loops::Program before = b.take();
  if (elsewhere) std::swap(before.functions[0], before.functions[1]);  // test::run calls the first function
  const loops::Program after = loops::outline_parallel_loops(before);
  INFO(loops::print(after));
  CHECK(loops::verify_regions(after).empty());
  CHECK(after.functions[0].regions.size() == (two_phases ? 2 : 1));
  CHECK(after[natural].role == (elsewhere ? Role::scratch : Role::table));
  test::Buffers values(before.buffers.size(), std::vector<double>(kRows * kWidth));
  for (std::size_t m = 0; m < values.size(); ++m) {
    for (std::size_t e = 0; e < values[m].size(); ++e)
      values[m][e] = static_cast<double>((7 * e + 3 * m) % 11);
  }
  values.resize(after.buffers.size(), std::vector<double>(kRows * kWidth));
  test::check_same(before, after, values, {kRows});
}
