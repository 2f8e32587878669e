// Loops of independent iterations that are whole vectors: which are emitted as vector instructions directly, and that
// they compute the same as the interpreter.
#include <functional>

#include "tests/native/harness.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// A loop of independent iterations inside a loop over rows.
struct LaneLoop {
  static constexpr std::size_t kRows = 5;
  explicit LaneLoop(std::int64_t trips, Type element = Type::f64) : width(trips), type(element) {}

  std::int64_t width;
  Type type;
  Builder b;
  const SizeId n = b.runtime_size("N"), k = b.constant_size("K", width), twice = b.constant_size("2K", 2 * width);
  const BufferId x = b.buffer("x", Role::data, {n, twice}, type), y = b.buffer("y", Role::table, {n, twice}, type),
                 transposed = b.buffer("turned", Role::data, {twice, n}, type),
                 whole = b.buffer("whole", Role::data, {n, k}, Type::i64), sums = b.buffer("sums", Role::table, {n}),
                 counts = b.buffer("counts", Role::table, {n}, Type::i64);
  BufferId own;
  loops::ScalarId sum, count;

  loops::Program program(const std::function<void(ExprId row, ExprId index)>& body, bool independent = true) {
    b.function("f", [&] {
      own = b.local_array("own", {k}, type);
      b.for_each("row", n, [&](ExprId row) {
        b.fill(own, type == Type::f64 ? b.f(0.5) : b.to_f32(b.f(0.5)));
        sum = b.local("sum", b.f(0.25)), count = b.local("count", b.i(3));
        b.for_each(
            "turn", k, [&](ExprId index) { body(row, index); }, independent);
        b.store(sums, {row}, b.get(sum)), b.store(counts, {row}, b.get(count));
      });
    });
    return b.take();
  }

  /// Returns true if the loop is emitted as vectors. Fails the test if native code and interpreter differ.
  bool are_vectors(const std::function<void(ExprId row, ExprId index)>& body, bool independent = true) {
    const loops::Program p = program(body, independent);
    const auto trips = static_cast<std::size_t>(width);
    test::Memory memory({2 * trips * kRows, 2 * trips * kRows, 2 * trips * kRows, trips * kRows, kRows, kRows, 0});
    const auto put = [&](BufferId to, std::size_t at, double value) {
      if (type == Type::f64) memory.reals(to)[at] = value;
      else memory.singles(to)[at] = static_cast<float>(value);
    };
    for (std::size_t at = 0; at < 2 * trips * kRows; ++at) {
      const auto real = static_cast<double>(at);
      put(x, at, 1.5 + std::sin(real)), put(transposed, at, std::cos(real)), put(y, at, std::sin(2 * real));
    }
    for (std::size_t at = 0; at < trips * kRows; ++at)
      memory.integers(whole)[at] = static_cast<std::int64_t>(at * 7 % 11);
    for (const char* cpu : {"", "x86-64-v3"})
      test::run_both(p, memory, {kRows}, {}, {}, type == Type::f64 ? 1e-12 : 1e-5, {.cpu = cpu});
    // Filling the local array is vector code in any case, so only the text from the first loop on counts.
    const std::string text = native::llvm_text(p, {.level = 0});
    const std::string loop = text.substr(text.find("phi i64"));
    return loop.find("load <") != std::string::npos || loop.find("call <") != std::string::npos ||
           loop.find("fadd reassoc nsz arcp contract <") != std::string::npos;
  }
};

}  // namespace

TEST_CASE("turns that are whole vectors are emitted as such") {
  for (const std::int64_t width : {8, 24}) {
    LaneLoop sums(width), stores(width), scalars(width), separate(width), alone(width);
    CHECK(sums.are_vectors([&](ExprId r, ExprId t) {
      const ExprId p = sums.b.let("p", sums.b.mul(sums.b.load(sums.x, {r, t}), sums.b.load(sums.own, {t})));
      sums.b.accumulate(sums.sum, p);
      sums.b.accumulate(sums.count, sums.b.load(sums.whole, {r, t}));
      sums.b.accumulate(sums.sum, sums.b.f(0.5));
      sums.b.accumulate(sums.count, r);
    }));
    CHECK(stores.are_vectors([&](ExprId r, ExprId t) {
      const ExprId further = stores.b.add(stores.b.i(width - 1), stores.b.add(t, stores.b.i(1)));
      stores.b.store(stores.own, {t}, stores.b.div(stores.b.f(1), stores.b.load(stores.x, {r, further})));
      stores.b.add_to(stores.own, {t}, stores.b.load(stores.x, {r, t}));
      stores.b.store(stores.y, {r, t}, stores.b.load(stores.own, {t}));
      stores.b.store(stores.y, {r, further}, stores.b.load(stores.x, {r, stores.b.i(3)}));
    }));
    CHECK(scalars.are_vectors([&](ExprId r, ExprId t) {
      Builder& b = scalars.b;
      const ExprId inside = b.logical_and(b.less(t, b.add(r, b.i(5))), b.logical_not(b.equal(t, b.i(2))));
      const ExprId value = b.select(inside, b.load(scalars.x, {r, b.add(r, t)}), b.f(-1));
      b.store(scalars.y, {r, t}, b.mul(value, b.to_f64(b.add(r, t))));
      b.accumulate(scalars.count, b.select(b.less(value, b.f(0)), b.i(1), b.min(t, b.load(scalars.whole, {r, t}))));
      b.accumulate(scalars.sum, b.select(b.less(r, b.i(2)), value, b.f(3)));
    }));
    CHECK(separate.are_vectors(
        [&](ExprId r, ExprId t) {
          separate.b.accumulate(separate.sum, separate.b.load(separate.x, {r, t}));
        },
        /*independent=*/false));
    CHECK(alone.are_vectors([&](ExprId, ExprId) { alone.b.accumulate(alone.sum, alone.b.f(0.125)); }));
  }
}

TEST_CASE("every function of a vector is that of its lanes") {
  for (const Type type : {Type::f64, Type::f32}) {
    for (const UnaryOp op : {UnaryOp::negate, UnaryOp::exp, UnaryOp::logit_curvature, UnaryOp::log, UnaryOp::log1p,
                             UnaryOp::sqrt, UnaryOp::abs, UnaryOp::digamma, UnaryOp::trigamma, UnaryOp::lgamma}) {
      LaneLoop x(16, type);
      CHECK(x.are_vectors([&](ExprId r, ExprId t) { x.b.store(x.y, {r, t}, x.b.unary(op, x.b.load(x.x, {r, t}))); }));
    }
    LaneLoop fused(16, type), plain(16, type);
    CHECK(fused.are_vectors([&](ExprId r, ExprId t) {
      Builder& b = fused.b;
      const ExprId shift = b.load(fused.x, {r, b.i(1)});
      b.store(fused.y, {r, t}, b.exp(b.sub(b.digamma(b.load(fused.x, {r, t})), shift)));
    }));
    CHECK(plain.are_vectors([&](ExprId r, ExprId t) {
      plain.b.accumulate(plain.sum, plain.b.to_f64(plain.b.load(plain.x, {r, t})));
    }));
  }
}

TEST_CASE("turns that are no lanes remain a loop") {
  LaneLoop strided(8), twice(8), read(8), same(8), waits(8), looked(8), rest(13), minus(8);
  CHECK_FALSE(strided.are_vectors([&](ExprId r, ExprId t) {
    strided.b.store(strided.y, {r, t}, strided.b.load(strided.transposed, {t, r}));
  }));
  CHECK_FALSE(twice.are_vectors([&](ExprId r, ExprId t) {
    twice.b.accumulate(twice.sum, twice.b.load(twice.x, {r, twice.b.add(t, t)}));
  }));
  CHECK_FALSE(minus.are_vectors([&](ExprId r, ExprId t) {
    minus.b.accumulate(minus.sum, minus.b.load(minus.x, {r, minus.b.sub(minus.b.i(7), t)}));
  }));
  CHECK_FALSE(read.are_vectors(
      [&](ExprId r, ExprId t) {
        read.b.accumulate(read.sum, read.b.load(read.x, {r, t}));
        read.b.store(read.y, {r, t}, read.b.get(read.sum));
      },
      false));
  CHECK_FALSE(same.are_vectors(
      [&](ExprId r, ExprId t) {
        same.b.add_to(same.y, {r, same.b.i(0)}, same.b.load(same.x, {r, t}));
      },
      false));
  CHECK_FALSE(waits.are_vectors(
      [&](ExprId r, ExprId t) {
        waits.b.store(waits.y, {r, waits.b.add(t, waits.b.i(1))}, waits.b.load(waits.y, {r, t}));
      },
      false));
  CHECK_FALSE(looked.are_vectors([&](ExprId r, ExprId t) {
    looked.b.store(looked.y, {r, t}, looked.b.load(looked.x, {r, looked.b.load(looked.whole, {r, t})}));
  }));
  CHECK_FALSE(rest.are_vectors([&](ExprId r, ExprId t) { rest.b.accumulate(rest.sum, rest.b.load(rest.x, {r, t})); }));
}

TEST_CASE("functions of vectors are called where little is made of a function") {
  Builder b;
  const SizeId k = b.constant_size("K", 16);
  const BufferId x = b.buffer("x", Role::data, {k}), y = b.buffer("y", Role::table, {k}),
                 sum = b.buffer("sum", Role::table, {b.constant_size("one", 1)});
  b.function("f", [&] {
    const loops::ScalarId all = b.local("all", b.f(0));
    b.for_each(
        "turn", k, [&](ExprId t) { b.store(y, {t}, b.lgamma(b.load(x, {t}))); }, true);
    b.for_each("turn2", k,
               [&](ExprId t) { b.accumulate(all, b.mul(b.digamma(b.load(x, {t})), b.log(b.load(x, {t})))); });
    b.store(sum, {b.i(0)}, b.get(all));
  });
  const loops::Program p = b.take();
  test::Memory memory({16, 16, 1});
  for (std::size_t e = 0; e < 16; ++e)
    memory.reals(x)[e] = 0.3 * static_cast<double>(e) + 0.1;
  for (const char* cpu : {"", "x86-64-v2", "x86-64-v3"})
    test::run_both(p, memory, {}, {}, {}, 1e-12, {.cpu = cpu});
  const std::string text = native::llvm_text(p, {.cpu = "x86-64-v4", .level = 0});
  CHECK(text.find("call reassoc nsz arcp contract <8 x double> @lehr.lgamma.v8") != std::string::npos);
}
