// The pass `guard-on-demand` (demand-driven outputs): per-item parameters that nothing in a sweep reads, and sums that
// only the ELBO needs, are written only when a flag asks for them.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// A loop over items that fills a row of parameters for each and adds to a sum. A flag asks for the rows.
struct Items {
  Builder b;
  const loops::SizeId k = b.constant_size("K", 3), n = b.runtime_size("N");
  const BufferId x = b.buffer("x", Role::data, {n}), rows = b.buffer("z.precision", Role::parameter, {n, k}),
                 sums = b.buffer("S", Role::statistic, {k}),
                 weights = b.buffer("weights", Role::data, {b.constant_size("weights", 2)});

  Items() {
    b.set_demand(rows, loops::Demand::item_parameters);
    b.set_demand_flag(loops::Demand::item_parameters, weights, 1);
  }

  /// Returns the program; with `reads`, the sum reads the rows, so that they are always needed. Without, the pass may
  /// skip them, and the results must be the same whenever they are asked for.
  loops::Program program(bool reads) {
    b.function("items", [&] {
      b.for_each("row", n, [&](ExprId row) {
        b.for_each("i", k, [&](ExprId i) { b.store(rows, {row, i}, b.add(b.load(x, {row}), b.to_f64(i))); });
        b.for_each("j", k, [&](ExprId j) { b.add_to(sums, {j}, reads ? b.load(rows, {row, j}) : b.load(x, {row})); });
      });
    });
    return b.take();
  }
};

test::Buffers values(double demanded) {
  return {{1, 2, 4, 8}, std::vector<double>(12, -1.0), {0, 0, 0}, {1, demanded}};
}

}  // namespace

TEST_CASE("rows that nothing reads are written where they are asked for") {
  const loops::Program before = Items().program(false), after = loops::guard_on_demand(before);
  test::check_same(before, after, values(1), {4});
  const test::Ran whole = test::run(before, values(0), {4}), ran = test::run(after, values(0), {4});
  CHECK(whole.buffers[1][11] == 10);
  CHECK(ran.buffers[1] == std::vector<double>(12, -1.0));
  CHECK(ran.buffers[2] == whole.buffers[2]);
}

TEST_CASE("rows that a sweep reads are written always") {
  const loops::Program before = Items().program(true), after = loops::guard_on_demand(before);
  CHECK(loops::print(before) == loops::print(after));
  test::check_same(before, after, values(0), {4});
}

TEST_CASE("what runs once a fit may read rows, and writes them") {
  Items items;
  items.b.function("prepare", [&] {
    items.b.for_each("r", items.n, [&](ExprId r) {
      items.b.store(items.rows, {r, items.b.i(0)},
                    items.b.add(items.b.f(1), items.b.load(items.rows, {r, items.b.i(1)})));
    });
  });
  items.b.mark_cold(0);
  const loops::Program before = items.program(false), after = loops::guard_on_demand(before);
  test::check_same(before, after, values(0), {4});  // runs only the first function, `prepare`
  CHECK(loops::print(after).find("if 0.0 < weights[1]") != std::string::npos);
}

namespace {

/// A loop over items that adds to a sum, and to another sum that only the ELBO needs. The pass must find the parts that
/// the ELBO alone needs: an array (`logs`) and a scalar (`late`). The first sum and the condition read the others
/// (`total`, `needed`, `largest`).
loops::Program with_bound() {
  Builder b;
  const loops::SizeId k = b.constant_size("K", 3), n = b.runtime_size("N"), one = b.constant_size("one", 1);
  const BufferId x = b.buffer("x", Role::data, {n}), sums = b.buffer("S", Role::statistic, {k}),
                 energy = b.buffer("energy", Role::statistic, {one}),
                 weights = b.buffer("weights", Role::data, {b.constant_size("weights", 2)});
  b.set_demand(energy, loops::Demand::elbo);
  b.set_demand_flag(loops::Demand::elbo, weights, 1);
  b.function("items", [&] {
    const BufferId logs = b.local_array("logs", {k}), needed = b.local_array("needed", {k});
    b.for_each("row", n, [&](ExprId row) {
      const loops::ScalarId total = b.local("total", b.f(0)), largest = b.local("largest", b.f(0)),
                            late = b.local("late", b.load(x, {row}));
      b.for_each("i", k, [&](ExprId i) { b.store(logs, {i}, b.log(b.add(b.load(x, {row}), b.to_f64(i)))); });
      b.for_each("g", k, [&](ExprId g) { b.store(needed, {g}, b.log(b.add(b.load(x, {row}), b.to_f64(g)))); });
      b.for_each("h", k, [&](ExprId) { b.assign(largest, b.max(b.get(largest), b.log(b.load(x, {row})))); });
      b.if_then(b.less(b.f(1), b.get(largest)), [&] { b.add_to(sums, {b.i(1)}, b.load(needed, {b.i(2)})); });
      b.for_each("j", k, [&](ExprId j) { b.accumulate(total, b.mul(b.to_f64(j), b.load(x, {row}))); });
      b.for_each("l", k, [&](ExprId l) {
        b.add_to(sums, {l}, b.get(total));
        b.add_to(energy, {b.i(0)}, b.log(b.load(x, {row})));
      });
      b.for_each("m", k, [&](ExprId m) { b.add_to(energy, {b.i(0)}, b.mul(b.get(late), b.load(logs, {m}))); });
    });
  });
  return b.take();
}

test::Buffers of_bound(double demanded) { return {{1, 2, 4, 8}, {0, 0, 0}, {0}, {1, demanded}, {}, {}}; }

}  // namespace

TEST_CASE("sums for a bound are formed where it is asked for") {
  const loops::Program before = with_bound(), after = loops::guard_on_demand(before);
  test::check_same(before, after, of_bound(1), {4});
  const test::Ran whole = test::run(before, of_bound(0), {4}), ran = test::run(after, of_bound(0), {4});
  CHECK(ran.buffers[1] == whole.buffers[1]);
  CHECK(whole.buffers[1][0] == 45);
  CHECK(whole.buffers[1][1] == Approx(45 + std::log(6.) + std::log(10.)));
  // Statements in an innermost loop of constant length that also does other work are not guarded.
  CHECK(ran.buffers[2][0] == Approx(3 * (std::log(2.) + std::log(4.) + std::log(8.))));
  CHECK(whole.buffers[2][0] > ran.buffers[2][0] + 1);
  const std::string text = loops::print(after);
  CHECK(text.find("if 0.0 < weights[1]") < text.find("= log(x["));
}

TEST_CASE("items without loops inside have a loop without what the bound alone needs") {
  Builder b;
  const loops::SizeId n = b.runtime_size("N"), one = b.constant_size("one", 1);
  const BufferId x = b.buffer("x", Role::data, {n}), sums = b.buffer("S", Role::statistic, {one}),
                 energy = b.buffer("energy", Role::statistic, {one}),
                 weights = b.buffer("weights", Role::data, {b.constant_size("weights", 2)});
  b.set_demand(energy, loops::Demand::elbo);
  b.set_demand_flag(loops::Demand::elbo, weights, 1);
  b.function("items", [&] {
    const BufferId logs = b.local_array("logs", std::vector<loops::SizeId>{});
    b.for_each("row", n, [&](ExprId row) {
      const ExprId root = b.let("root", b.sqrt(b.load(x, {row})));
      const loops::ScalarId part = b.local("part", b.f(0));
      b.store(logs, {}, b.log(b.load(x, {row})));
      b.if_then(b.less(b.f(1), root), [&] {
        b.accumulate(part, b.load(logs, {}));
        b.add_to(sums, {b.i(0)}, root);
      });
      b.add_to(energy, {b.i(0)}, b.get(part));
    });
  });
  const loops::Program before = b.take(), after = loops::guard_on_demand(before);
  const auto values = [](double demanded) { return test::Buffers{{1, 4, 9, 16}, {0}, {0}, {1, demanded}, {0}}; };
  test::check_same(before, after, values(1), {4});
  const test::Ran ran = test::run(after, values(0), {4});
  CHECK(ran.buffers[1][0] == 9);
  CHECK(ran.buffers[2][0] == 0);
  const std::string text = loops::print(after);
  CHECK(text.find("log(") < text.find("else"));
  CHECK(text.find("log(", text.find("else")) == std::string::npos);
}
