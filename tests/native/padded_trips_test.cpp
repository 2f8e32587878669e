// Padded trip counts: which loops may continue to the end of a vector, over zeros behind a row, and that those that do
// compute the same.
#include "compiler/native/padded_trips.h"

#include <functional>

#include "tests/native/harness.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

constexpr std::int64_t kWidth = 20, kStride = 24;
constexpr int kLanes = 8;

/// A program with a padded table, one without known padding, a local vector, and a loop over a row.
struct Rows {
  Builder b;
  const SizeId n = b.runtime_size("N"), stride = b.constant_size("stride", kStride), k = b.constant_size("K", kWidth);
  const BufferId table = b.buffer("T", Role::table, {n, stride}), bare = b.buffer("B", Role::table, {n, stride}),
                 out = b.buffer("out", Role::statistic, {k});
  BufferId v;
  ScalarId sum;
  std::function<void()> before = [] {};

  ExprId of(BufferId rows, ExprId row, ExprId e) { return b.load(rows, {row, e}); }

  loops::Program program(const std::function<void(ExprId row)>& loop) {
    b.function("f", [&] {
      v = b.local_array("v", {k});
      sum = b.local("sum", b.f(0));
      before();
      b.for_each("row", n, loop);
      b.add_to(out, {b.i(0)}, b.get(sum));
    });
    loops::Program p = b.take();
    p.buffers[table.index()].used_length = kWidth;
    return p;
  }
  /// Returns how many iterations the loop over begin, ..., end - 1 with this body may continue, for vectors of `lanes`.
  std::int64_t after(const std::function<void(ExprId row, ExprId e)>& body, std::int64_t begin = 0,
                     std::int64_t end = kWidth, int lanes = kLanes) {
    const loops::Program p =
        program([&](ExprId row) { b.for_range("k", b.i(begin), b.i(end), [&](ExprId e) { body(row, e); }); });
    const auto& rows = std::get<loops::For>(p.functions[0].body.end()[-2].node);
    return native::TripPadding(p, p.functions[0], lanes).extra_trips(std::get<loops::For>(rows.body[0].node), lanes);
  }
};

}  // namespace

TEST_CASE("sums of products with rows go on") {
  Rows one, two, narrow, added, scaled;
  CHECK(one.after([&](ExprId r, ExprId e) { one.b.accumulate(one.sum, one.of(one.table, r, e)); }) == 4);
  const auto product = [](Rows& x) {
    return [&x](ExprId r, ExprId e) {
      const ExprId p = x.b.let("p", x.b.mul(x.of(x.table, r, e), x.b.load(x.v, {e})));
      x.b.accumulate(x.sum, p);
    };
  };
  CHECK(two.after(product(two)) == 4);
  CHECK(narrow.after(product(narrow), 0, kWidth, 4) == 0);
  CHECK(added.after([&](ExprId r, ExprId e) {
    added.b.add_to(added.v, {e}, added.b.sub(added.of(added.table, r, e), added.b.load(added.v, {e})));
  }) == 4);
  CHECK(scaled.after([&](ExprId r, ExprId e) {
    const ExprId scale = scaled.b.load(scaled.bare, {r, scaled.b.i(3)});
    const ExprId picked = scaled.b.select(scaled.b.less(e, r), scale, scaled.b.f(2));
    scaled.b.accumulate(scaled.sum, scaled.b.mul(picked, scaled.of(scaled.table, r, e)));
  }) == 4);
}

TEST_CASE("loops over parts of rows, and what is not 0 behind them, end where they end") {
  const auto plain = [](Rows& x) { return [&x](ExprId r, ExprId e) { x.b.accumulate(x.sum, x.of(x.table, r, e)); }; };
  Rows part, part_of_own, from, bare, next, one, call, quotient, filled, sum, stored, assigned;
  CHECK(part.after(plain(part), 0, kWidth - 1) == 0);
  CHECK(
      part_of_own.after(
          [&](ExprId, ExprId e) { part_of_own.b.accumulate(part_of_own.sum, part_of_own.b.load(part_of_own.v, {e})); },
          0, kWidth - 1) == 0);
  CHECK(from.after(plain(from), 1) == 0);
  CHECK(bare.after([&](ExprId r, ExprId e) { bare.b.accumulate(bare.sum, bare.of(bare.bare, r, e)); }) == 0);
  CHECK(next.after([&](ExprId r, ExprId e) {
    next.b.accumulate(next.sum, next.of(next.table, r, next.b.min(e, next.b.i(kWidth - 1))));
  }) == 0);
  CHECK(one.after([&](ExprId r, ExprId e) {
    one.b.accumulate(one.sum, one.b.add(one.of(one.table, r, e), one.b.f(1)));
  }) == 0);
  // 0 times a number that can be infinite is not 0
  CHECK(call.after([&](ExprId r, ExprId e) {
    call.b.accumulate(call.sum, call.b.mul(call.of(call.table, r, e), call.b.log(call.b.load(call.v, {e}))));
  }) == 0);
  CHECK(quotient.after([&](ExprId r, ExprId e) {
    quotient.b.accumulate(quotient.sum,
                          quotient.b.div(quotient.of(quotient.table, r, e), quotient.b.load(quotient.v, {e})));
  }) == 0);
  filled.before = [&] { filled.b.fill(filled.v, filled.b.f(1)); };
  CHECK(filled.after([&](ExprId, ExprId e) { filled.b.accumulate(filled.sum, filled.b.load(filled.v, {e})); }) == 0);
  CHECK(sum.after([&](ExprId r, ExprId e) { sum.b.add_to(sum.out, {e}, sum.of(sum.table, r, e)); }) == 0);
  CHECK(stored.after(
            [&](ExprId, ExprId e) { stored.b.store(stored.v, {e}, stored.b.exp(stored.b.load(stored.v, {e}))); }) == 0);
  CHECK(assigned.after([&](ExprId r, ExprId e) {
    assigned.b.assign(assigned.sum, assigned.b.max(assigned.b.get(assigned.sum), assigned.of(assigned.table, r, e)));
  }) == 0);
}

TEST_CASE("what vectors store behind an array stays 0 where it is read") {
  for (const std::int64_t width : {5, 9, 12, 20, 23, 100}) {
    const std::int64_t stride = (width + 7) / 8 * 8;
    Builder b;
    const SizeId n = b.runtime_size("N"), row = b.constant_size("stride", stride), k = b.constant_size("K", width);
    const BufferId table = b.buffer("T", Role::table, {n, row}), out = b.buffer("out", Role::statistic, {n});
    b.function("f", [&] {
      const BufferId v = b.local_array("v", {k}), u = b.local_array("u", {k}), w = b.local_array("w", {k});
      b.for_each("row", n, [&](ExprId r) {
        b.for_each("k", k, [&](ExprId e) { b.store(v, {e}, b.exp(b.load(table, {r, e}))); });
        b.for_each("k", k, [&](ExprId e) { b.store(u, {e}, b.add(b.load(v, {e}), b.f(1))); });
        b.fill(w, b.f(0));
        b.for_each("k", k, [&](ExprId e) { b.add_to(w, {e}, b.mul(b.load(v, {e}), b.load(u, {e}))); });
        const ScalarId sum = b.local("sum", b.f(0)), other = b.local("other", b.f(0));
        b.for_each("k", k, [&](ExprId e) { b.accumulate(sum, b.mul(b.load(v, {e}), b.load(u, {e}))); });
        b.for_each("k", k, [&](ExprId e) { b.accumulate(other, b.mul(b.load(w, {e}), b.load(table, {r, e}))); });
        b.add_to(out, {r}, b.add(b.get(sum), b.get(other)));
        b.for_each("k", k, [&](ExprId e) { b.add_to(table, {r, e}, b.mul(b.f(0.5), b.load(v, {e}))); });
      });
    });
    loops::Program p = b.take();
    p.buffers[table.index()].used_length = width;
    constexpr std::size_t kRows = 7;
    test::Memory memory({kRows * static_cast<std::size_t>(stride), kRows, 0, 0, 0});
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t e = 0; e < static_cast<std::size_t>(width); ++e)
        memory.reals(table)[r * static_cast<std::size_t>(stride) + e] = 0.1 * static_cast<double>((7 * e + r) % 11);
    }
    for (const char* cpu : {"", "x86-64-v2", "x86-64-v3"}) {
      native::Options options;
      options.cpu = cpu;
      test::run_both(p, memory, {kRows}, {}, {}, 1e-11, options);
    }
  }
}
