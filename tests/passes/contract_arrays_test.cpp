// The pass `contract-arrays` (array contraction): per-item arrays that are used only in the iteration that fills them
// shrink to one item. Each program must compute the same.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// A loop over items that computes the squares of an item's numbers and adds them up.
struct Squares {
  explicit Squares(std::int64_t width = 5) : k(b.constant_size("K", width)) {}

  Builder b;
  const loops::SizeId n = b.runtime_size("N"), k;
  const BufferId mean = b.buffer("z.mean", Role::parameter, {n, k}), sums = b.buffer("S", Role::statistic, {k});
  const BufferId square = b.buffer("E.z.square", Role::expectation, {n, k});
  std::function<void(ExprId)> before = [](ExprId) {}, after = [](ExprId) {};
  std::function<void()> other = [] {};

  void each(const std::function<void(ExprId)>& body) { b.for_each(b.fresh("k"), k, body); }
  void form(ExprId item) {
    each([&](ExprId e) { b.store(square, {item, e}, b.mul(b.load(mean, {item, e}), b.load(mean, {item, e}))); });
  }
  void add(ExprId item) {
    each([&](ExprId e) { b.add_to(sums, {e}, b.load(square, {item, e})); });
  }

  /// Returns true if the pass has contracted the array of squares to one item.
  bool within() {
    b.function("items", [&] {
      b.for_each("item", n, [&](ExprId item) {
        before(item);
        form(item);
        add(item);
        after(item);
      });
    });
    other();
    const loops::Program program = b.take();
    loops::Program done = loops::contract_arrays(program);
    const bool gone = done[square].axes.empty();
    test::Buffers values(program.buffers.size());
    for (std::vector<double>& all : values) {
      for (std::size_t e = 0; e < 3 * 1025; ++e)
        all.push_back(0.25 * static_cast<double>((7 * e) % 11));
    }
    loops::Program expected = program;
    if (gone) expected.buffers[square.index()].role = Role::scratch;
    test::check_same(expected, done, values, {3});
    return gone;
  }
};

}  // namespace

TEST_CASE("what an item forms and reads itself has room for one item, in every function") {
  CHECK(Squares().within());
  CHECK(Squares(1024).within());
  Squares formed;
  formed.other = [&] {
    formed.b.function("expectations",
                      [&] { formed.b.for_each("item", formed.n, [&](ExprId item) { formed.form(item); }); });
  };
  CHECK(formed.within());
}

TEST_CASE("a number of an item that it forms and reads itself has room for one item") {
  for (const bool early : {false, true}) {
    Builder b;
    const auto n = b.runtime_size("N");
    const auto x = b.buffer("x", Role::parameter, {n}), sum = b.buffer("S", Role::statistic, {});
    const auto square = b.buffer("E.x.square", Role::expectation, {n});
    b.function("items", [&] {
      b.for_each("item", n, [&](ExprId item) {
        if (early) b.add_to(sum, {}, b.load(square, {item}));
        b.store(square, {item}, b.mul(b.load(x, {item}), b.load(x, {item})));
        b.add_to(sum, {}, b.load(square, {item}));
      });
    });
    const loops::Program program = b.take(), done = loops::contract_arrays(program);
    CHECK(done[square].axes.empty() == !early);
    loops::Program expected = program;
    if (!early) expected.buffers[square.index()].role = Role::scratch;
    test::Buffers values = {{0.5, 1.5, 3}, {0.25}, {7, 8, 9}};
    for (std::size_t k = values.size(); k < done.buffers.size(); ++k)
      values.push_back({0});
    test::check_same(expected, done, values, {3});
  }
}

TEST_CASE("what is read before it is formed, or by others, or is long, is kept") {
  CHECK(!Squares(1025).within());
  Squares early, neighbour, summed, outside;
  early.before = [&](ExprId item) { early.add(item); };
  CHECK(!early.within());
  neighbour.after = [&](ExprId) {
    neighbour.b.add_to(neighbour.sums, {neighbour.b.i(0)},
                       neighbour.b.load(neighbour.square, {neighbour.b.i(0), neighbour.b.i(1)}));
  };
  CHECK(!neighbour.within());
  summed.other = [&] {
    summed.b.function("sum", [&] { summed.b.for_each("item", summed.n, [&](ExprId item) { summed.add(item); }); });
  };
  CHECK(!summed.within());
  outside.other = [&] {
    outside.b.function("elbo", [&] {
      outside.b.add_to(outside.sums, {outside.b.i(0)},
                       outside.b.load(outside.square, {outside.b.i(0), outside.b.i(0)}));
    });
  };
  CHECK(!outside.within());
}

TEST_CASE("what is formed in some items only is kept") {
  Squares some;
  some.after = [&](ExprId item) {
    some.b.if_then(some.b.less(some.b.load(some.mean, {item, some.b.i(0)}), some.b.f(1)), [&] {
      some.each([&](ExprId e) { some.b.store(some.square, {item, e}, some.b.f(2)); });
    });
  };
  CHECK(!some.within());
}
