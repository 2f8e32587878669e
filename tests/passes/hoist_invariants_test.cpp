// The pass `hoist-invariants` (loop-invariant code motion): which statements leave a loop, and which must not. Each
// program must compute the same afterwards.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// A loop over the items begin <= n < end, and arrays that its body may use.
class Items {
 public:
  using Body = std::function<void(ExprId n)>;

  Items()
      : n_(b.runtime_size("N")),
        k_(b.constant_size("K", 3)),
        data(b.buffer("x", Role::data, {n_, k_})),
        table(b.buffer("G", Role::table, {k_})),
        parameter(b.buffer("p", Role::parameter, {n_, k_})),
        other(b.buffer("q", Role::parameter, {n_, k_})),
        sums(b.buffer("S", Role::statistic, {k_})) {}

  loops::Program make(const Body& body) {
    b.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
      a = b.local_array("a", {k_});
      c = b.local_array("c", {k_});
      b.for_loop("n", p[0], p[1], body);
    });
    return b.take();
  }
  void each(const std::function<void(ExprId)>& body) { b.for_each(b.fresh("k"), k_, body); }

  Builder b;

 private:
  loops::SizeId n_, k_;

 public:
  BufferId data, table, parameter, other, sums, a, c;
};

test::Buffers values() { return {{1, 2, 3, 4, 5, 6}, {0.5, -1, 2}, {7, 7, 7, 7, 7, 7}, {8, 8, 8, 8, 8, 8}, {1, 1, 1}}; }

void check_same(const loops::Program& before, const loops::Program& after) {
  for (const auto& range : {std::vector<std::int64_t>{0, 2}, {1, 2}, {1, 1}})
    test::check_same(before, after, values(), {2}, range);
}

/// Returns the statements before the loop in the program's only function.
loops::Block before_loop(const loops::Program& p) {
  for (const loops::Stmt& s : p.functions[0].body) {
    if (const auto* some = std::get_if<loops::If>(&s.node)) return some->then_block;
  }
  return {};
}

/// Returns the number of statements that the pass moves out of the loop.
std::size_t moved(const Items::Body& body, Items& items) {
  const loops::Program p = items.make(body);
  const loops::Program after = loops::hoist_invariants(p);
  check_same(p, after);
  const loops::Block before = before_loop(after);
  return before.empty() ? 0 : before.size() - 1;
}

}  // namespace

TEST_CASE("an array that is the same for all items is computed once") {
  Items x;
  Builder& b = x.b;
  CHECK(moved(
            [&](ExprId n) {
              x.each([&](ExprId k) { b.store(x.a, {k}, b.exp(b.load(x.table, {k}))); });
              x.each([&](ExprId k) { b.add_to(x.sums, {k}, b.mul(b.load(x.a, {k}), b.load(x.data, {n, k}))); });
            },
            x) == 1);
}

TEST_CASE("a slice of the item is computed once and copied, and so is what is made of it") {
  Items x;
  Builder& b = x.b;
  CHECK(moved(
            [&](ExprId n) {
              x.each([&](ExprId k) { b.store(x.parameter, {n, k}, b.exp(b.load(x.table, {k}))); });
              const auto total = b.local("total", b.f(0));
              x.each([&](ExprId k) { b.accumulate(total, b.load(x.parameter, {n, k})); });
              x.each([&](ExprId k) { b.store(x.other, {n, k}, b.mul(b.get(total), b.load(x.data, {n, k}))); });
            },
            x) == 3);
}

TEST_CASE("a slice that is read before it is filled, or elsewhere, stays") {
  Items x;
  Builder& b = x.b;
  const auto fill = [&](ExprId n) {
    x.each([&](ExprId k) { b.store(x.parameter, {n, k}, b.exp(b.load(x.table, {k}))); });
  };
  const bool before = GENERATE(true, false);
  CHECK(moved(
            [&](ExprId n) {
              const ExprId at = before ? n : b.i(0);
              if (before) x.each([&](ExprId k) { b.add_to(x.sums, {k}, b.load(x.parameter, {at, k})); });
              fill(n);
              if (!before) x.each([&](ExprId k) { b.add_to(x.sums, {k}, b.load(x.parameter, {at, k})); });
            },
            x) == 0);
}

TEST_CASE("what is filled in part is no slice") {
  Items x;
  Builder& b = x.b;
  CHECK(moved(
            [&](ExprId n) {
              b.for_loop("k", b.i(1), b.i(3), [&](ExprId k) { b.store(x.parameter, {n, k}, b.load(x.table, {k})); });
            },
            x) == 0);
}

TEST_CASE("a sum over the items stays") {
  Items x;
  Builder& b = x.b;
  CHECK(moved([&](ExprId) { x.each([&](ExprId k) { b.add_to(x.sums, {k}, b.load(x.table, {k})); }); }, x) == 0);
}

TEST_CASE("what began outside the loop stays") {
  Items x;
  Builder& b = x.b;
  b.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
    const BufferId a = b.local_array("a", std::vector<std::int64_t>{3});
    const auto total = b.local("total", b.f(0));
    b.fill(a, b.f(1));
    b.for_loop("n", p[0], p[1], [&](ExprId) {
      x.each([&](ExprId k) { b.add_to(a, {k}, b.load(x.table, {k})); });
      x.each([&](ExprId k) { b.accumulate(total, b.load(x.table, {k})); });
    });
    x.each([&](ExprId k) { b.store(x.sums, {k}, b.mul(b.get(total), b.load(a, {k}))); });
  });
  const loops::Program p = b.take();
  const loops::Program after = loops::hoist_invariants(p);
  CHECK(before_loop(after).empty());
  check_same(p, after);
}

TEST_CASE("an array that is written again after an item has read it stays") {
  Items x;
  Builder& b = x.b;
  CHECK(moved(
            [&](ExprId n) {
              x.each([&](ExprId k) { b.store(x.a, {k}, b.load(x.table, {k})); });
              x.each([&](ExprId k) { b.store(x.parameter, {n, k}, b.mul(b.load(x.a, {k}), b.load(x.data, {n, k}))); });
              x.each([&](ExprId k) { b.store(x.a, {k}, b.exp(b.load(x.table, {k}))); });
              x.each([&](ExprId k) { b.store(x.other, {n, k}, b.mul(b.load(x.a, {k}), b.load(x.data, {n, k}))); });
            },
            x) == 0);
}

TEST_CASE("arrays that depend on the item by a scalar, or in part, stay") {
  Items x;
  Builder& b = x.b;
  CHECK(moved(
            [&](ExprId n) {
              const ExprId first = b.let("first", b.load(x.data, {n, b.i(0)}));
              x.each([&](ExprId k) { b.store(x.a, {k}, b.mul(first, b.load(x.table, {k}))); });
              b.fill(x.c, b.f(0));
              x.each([&](ExprId k) { b.add_to(x.c, {k}, b.load(x.table, {k})); });
              b.if_then(b.less(n, b.i(1)), [&] { b.store(x.c, {b.i(0)}, b.f(5)); });
              x.each([&](ExprId k) { b.add_to(x.sums, {k}, b.add(b.load(x.a, {k}), b.load(x.c, {k}))); });
            },
            x) == 0);
}

TEST_CASE("nothing leaves a loop that may end early") {
  Items x;
  Builder& b = x.b;
  CHECK(moved(
            [&](ExprId n) {
              x.each([&](ExprId k) { b.store(x.a, {k}, b.load(x.table, {k})); });
              x.each([&](ExprId k) { b.add_to(x.sums, {k}, b.load(x.a, {k})); });
              b.break_if(b.less(b.load(x.data, {n, b.i(0)}), b.f(2)));
            },
            x) == 0);
}

TEST_CASE("a failure for all items is none where there are none") {
  Items x;
  Builder& b = x.b;
  const loops::Program p = x.make([&](ExprId n) {
    x.each([&](ExprId k) {
      b.fail_if(b.less(b.load(x.table, {k}), b.f(0)), 7);
      b.store(x.a, {k}, b.sqrt(b.load(x.table, {k})));
    });
    x.each([&](ExprId k) { b.add_to(x.sums, {k}, b.mul(b.load(x.a, {k}), b.load(x.data, {n, k}))); });
  });
  const loops::Program after = loops::hoist_invariants(p);
  CHECK(test::run(after, values(), {2}, {0, 2}).status == 7);
  CHECK(test::run(after, values(), {2}, {1, 1}).status == 0);
  check_same(p, after);
}

TEST_CASE("what leaves an inner loop leaves the outer one too") {
  Items x;
  Builder& b = x.b;
  CHECK(moved(
            [&](ExprId n) {
              x.each([&](ExprId j) {
                x.each([&](ExprId k) { b.store(x.a, {k}, b.exp(b.load(x.table, {k}))); });
                x.each([&](ExprId k) { b.add_to(x.sums, {j}, b.mul(b.load(x.a, {k}), b.load(x.data, {n, k}))); });
              });
            },
            x) == 0);  // it needs the length of the inner loop as a guard, and LLVM moves it too
}

TEST_CASE("functions that run once stay as they are") {
  Items x;
  Builder& b = x.b;
  loops::Program p = x.make([&](ExprId n) {
    x.each([&](ExprId k) { b.store(x.a, {k}, b.load(x.table, {k})); });
    x.each([&](ExprId k) { b.add_to(x.sums, {k}, b.mul(b.load(x.a, {k}), b.load(x.data, {n, k}))); });
  });
  p.functions[0].cold = true;
  CHECK(loops::print(loops::hoist_invariants(p)) == loops::print(p));
}
