// The pass `jam-data-loops` (unroll-and-jam): which loops compute several iterations at once, and which must not. Each
// program must compute the same.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// A loop over rows that computes a work array and its sum, and adds the array times the sum to a vector.
struct Rows {
  explicit Rows(std::int64_t row_width = 8) : width(row_width) {}

  Builder b;
  const std::int64_t width;
  const loops::SizeId n = b.runtime_size("N"), k = b.constant_size("K", width);
  const BufferId from = b.buffer("x", Role::data, {n, k}), to = b.buffer("S", Role::statistic, {k}),
                 by_row = b.buffer("r", Role::statistic, {n, k});
  BufferId part;

  void each(const std::function<void(ExprId)>& body) { b.for_each(b.fresh("k"), k, body); }
  /// Adds the body of one iteration. `before` and `after` are further statements; rows with a sum below `small` get
  /// constants instead.
  void iteration(ExprId row, double small, const std::function<void(ExprId)>& before,
                 const std::function<void(ExprId)>& after) {
    before(row);
    const loops::ScalarId sum = b.local("sum", b.f(0));
    each([&](ExprId e) {
      const ExprId p = b.let("p", b.mul(b.f(2), b.load(from, {row, e})));
      b.store(part, {e}, p);
      b.accumulate(sum, p);
    });
    b.if_then(b.less(b.get(sum), b.f(small)), [&] {
      each([&](ExprId e) { b.store(part, {e}, b.f(1)); });
      b.assign(sum, b.f(4));
    });
    const ExprId c = b.let("c", b.sub(b.get(sum), b.f(1)));
    each([&](ExprId e) { b.add_to(to, {e}, b.mul(c, b.load(part, {e}))); });
    after(row);
  }

  /// Returns true if the pass combines iterations.
  bool jams(const std::function<void()>& body) {
    b.function("f", [&] {
      part = b.local_array("part", {k});
      body();
    });
    const loops::Program before = b.take(), after = loops::jam_data_loops(before);
    for (const std::int64_t rows : {0, 1, 3, 7, 8, 9, 16, 19}) {
      test::Buffers values(before.buffers.size(), std::vector<double>(static_cast<std::size_t>(20 * width)));
      for (std::size_t e = 0; e < values[0].size(); ++e)
        values[0][e] = static_cast<double>((7 * e) % 11);
      test::check_same(before, after, values, {rows});
    }
    return loops::print(before) != loops::print(after);
  }
};

const auto kNothing = [](ExprId) {};

}  // namespace

TEST_CASE("turns that add to the same elements go together, one by one where a condition holds") {
  Rows x;
  const double small = GENERATE(-1, 70, 1e9);
  CHECK(x.jams([&] { x.b.for_each("row", x.n, [&](ExprId row) { x.iteration(row, small, kNothing, kNothing); }); }));
}

TEST_CASE("scratch that a turn reads before it fills it keeps turns apart") {
  Rows x;
  CHECK(!x.jams([&] {
    x.b.fill(x.part, x.b.f(1));
    x.b.for_each("row", x.n, [&](ExprId row) {
      x.iteration(
          row, -1, [&](ExprId) { x.b.add_to(x.to, {x.b.i(0)}, x.b.load(x.part, {x.b.i(0)})); }, kNothing);
    });
  }));
}

TEST_CASE("scratch that is read after the loop keeps turns apart") {
  Rows x;
  CHECK(!x.jams([&] {
    x.b.for_each("row", x.n, [&](ExprId row) { x.iteration(row, -1, kNothing, kNothing); });
    x.b.add_to(x.to, {x.b.i(0)}, x.b.load(x.part, {x.b.i(0)}));
  }));
}

TEST_CASE("sums that are read keep turns apart") {
  Rows x;
  Builder& b = x.b;
  CHECK(!x.jams([&] {
    b.for_each("row", x.n, [&](ExprId row) {
      x.iteration(row, -1, kNothing, [&](ExprId) { b.add_to(x.by_row, {b.i(0), b.i(0)}, b.load(x.to, {b.i(0)})); });
    });
  }));
}

TEST_CASE("rows that turns add to, one for each, may be the same, and are short") {
  const std::int64_t width = GENERATE(8, 100);
  const double small = GENERATE(-1, 70);
  Rows x(width);
  Builder& b = x.b;
  const bool together = x.jams([&] {
    b.for_each("row", x.n, [&](ExprId row) {
      x.iteration(row, small, kNothing, [&](ExprId r) {
        const ExprId same = b.min(r, b.i(2)), c = b.let("c", b.mul(b.f(3), b.load(x.from, {r, b.i(1)})));
        x.each([&](ExprId e) { b.add_to(x.by_row, {same, e}, b.mul(c, b.load(x.part, {e}))); });
        b.add_to(x.to, {b.i(2)}, b.mul(c, b.load(x.from, {r, b.i(3)})));
      });
    });
  });
  CHECK(together == (width == 8));
}
