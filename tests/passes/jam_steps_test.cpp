// The pass `jam-steps` (unroll-and-jam over the steps of chains): four steps that add to the same sums are computed at
// once. Each program must compute the same bits.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// A loop over the steps of eight chains in lanes. Each step adds products of two coordinates to sums.
struct Sums {
  Builder b;
  const loops::SizeId d = b.constant_size("D", 3), k = b.constant_size("K", 2),
                      iterations = b.constant_size("turns", 8), groups = b.runtime_size("groups"),
                      steps = b.runtime_size("steps");
  const BufferId x = b.buffer("x", Role::data, {steps, d}), p = b.buffer("p", Role::table, {steps, k}),
                 sums = b.buffer("S", Role::statistic, {d, d, k, iterations}),
                 rows = b.buffer("R", Role::statistic, {steps, d});
  std::function<void(ExprId step)> more = [](ExprId) {};

  /// Returns true if the pass has combined steps.
  bool together(std::int64_t length) {
    b.function("f", [&] {
      const BufferId c = b.local_array("c", {iterations});
      b.for_range("group", b.i(0), b.extent(groups), [&](ExprId) {
        const loops::ScalarId end = b.local("longest", b.extent(steps));
        b.for_range("t", b.i(0), b.get(end), [&](ExprId t) {
          b.for_each("i", d, [&](ExprId i) {
            b.for_range("j", b.i(0), b.add(i, b.i(1)), [&](ExprId j) {
              b.for_each("turn", iterations, [&](ExprId r) {
                b.store(c, {r}, b.mul(b.mul(b.load(x, {t, i}), b.load(x, {t, j})), b.add(b.to_f64(r), b.f(0.3))));
              });
              b.for_each("k", k, [&](ExprId e) {
                b.for_each("r", iterations, [&](ExprId r) {
                  b.add_to(sums, {i, j, e, r}, b.mul(b.load(c, {r}), b.load(p, {t, e})));
                });
              });
            });
          });
          more(t);
        });
      });
    });
    loops::Program before = b.take();
    auto& loop = std::get<loops::For>(before.functions[0].body.back().node);
    loop.step = 8;
    loop.vectorised = true;
    const loops::Program done = loops::jam_steps(before);
    test::Buffers values(before.buffers.size());
    for (std::vector<double>& all : values)
      for (std::int64_t e = 0; e < 200; ++e)
        all.push_back(0.1 * static_cast<double>((7 * e) % 23));
    test::check_same(before, done, values, {3, length});
    return loops::print(before) != loops::print(done);
  }
};

}  // namespace

TEST_CASE("steps that add to the same elements go together") {
  for (const std::int64_t length : {0, 1, 3, 4, 5, 8, 11})
    CHECK(Sums().together(length));
}

TEST_CASE("sums that are read at every step do not") {
  Sums s;
  s.more = [&](ExprId) {
    s.b.store(s.p, {s.b.i(0), s.b.i(0)}, s.b.load(s.sums, {s.b.i(0), s.b.i(0), s.b.i(0), s.b.i(0)}));
  };
  CHECK_FALSE(s.together(6));
}

TEST_CASE("steps that add to elements of their own do not") {
  Sums s;
  s.more = [&](ExprId t) { s.b.for_each("a", s.d, [&](ExprId a) { s.b.add_to(s.rows, {t, a}, s.b.f(1)); }); };
  CHECK_FALSE(s.together(6));
}
