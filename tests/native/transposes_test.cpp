// Transposition of 8 x 8 squares as whole vectors: rows into lanes and back. The interpreter and the native code must
// agree.
#include "tests/native/harness.h"

using namespace lehr;
using namespace lehr::loops;
using test::Memory;
using test::run_both;

TEST_CASE("Squares of lanes are turned over as whole vectors") {
  // Rows of any length, also from the middle of an array. Short rows and other loops are left to the
  // optimiser.
  for (const std::int64_t width : {3, 5, 8, 10, 17}) {
    Builder b;
    const auto steps = b.runtime_size("steps"), k = b.constant_size("K", width), lanes = b.constant_size("lanes", 8);
    const auto x = b.buffer("x", Role::scratch, {steps, k, lanes});
    const auto y = b.buffer("y", Role::table, {steps, lanes, k});
    b.function("f", [&] {
      const auto rows = b.local_array("rows", {lanes, k});
      b.for_each("t", steps, [&](ExprId t) {
        b.for_each("k", k, [&](ExprId i) {
          b.for_each("l", lanes, [&](ExprId l) { b.store(rows, {l, i}, b.load(x, {t, i, l})); });
        });
        b.for_each("l", lanes, [&](ExprId l) {
          b.for_each("k", k, [&](ExprId i) { b.store(y, {t, l, i}, b.load(rows, {l, i})); });
        });
      });
    });
    const std::size_t elements = static_cast<std::size_t>(3 * 8 * width);
    Memory memory({elements, elements, elements});
    for (std::size_t i = 0; i < elements; ++i)
      memory.reals(x)[i] = static_cast<double>(i);
    run_both(b.program(), memory, {3}, {}, {}, 0);
  }
}

TEST_CASE("Rows are turned over into lanes, and back") {
  constexpr std::int64_t kRows = 40, kFirst = 3;
  for (const std::int64_t width : {1, 2, 3, 4, 5, 8, 10, 16, 19}) {
    for (const std::int64_t lanes : {4, 8, 16}) {
      Builder b;
      const auto n = b.constant_size("N", kRows), k = b.constant_size("K", width), trips = b.constant_size("T", lanes);
      const auto x = b.buffer("x", Role::data, {n, k}), y = b.buffer("y", Role::parameter, {n, k}),
                 z = b.buffer("z", Role::parameter, {k, trips});
      b.function("f", {{"first", Type::i64}}, [&](const Builder::Indices& p) {
        const auto own = b.local_array("own", {k, trips});
        const auto row = [&](ExprId index) { return b.add(p[0], index); };
        b.for_each("e", k, [&](ExprId e) {
          b.for_each("t", trips, [&](ExprId t) { b.store(own, {e, t}, b.load(x, {row(t), e})); });
        });
        b.for_each("e2", k, [&](ExprId e) {
          b.for_each("t2", trips, [&](ExprId t) { b.add_to(z, {e, t}, b.load(own, {e, t})); });
        });
        b.for_each("e3", k, [&](ExprId e) {
          b.for_each("t3", trips, [&](ExprId t) { b.store(y, {row(t), e}, b.load(own, {e, t})); });
        });
      });
      INFO(width << " numbers, " << lanes << " lanes");
      const auto rows = static_cast<std::size_t>(kRows * width);
      Memory memory({rows, rows, static_cast<std::size_t>(width * lanes), 0});
      for (std::size_t e = 0; e < rows; ++e)
        memory.reals(x)[e] = static_cast<double>(e);
      Memory after = run_both(b.program(), memory, {}, {kFirst});
      for (std::int64_t e = 0; e < kRows * width; ++e) {
        const bool mine = e >= kFirst * width && e < (kFirst + lanes) * width;
        CHECK(after.reals(y)[e] == (mine ? static_cast<double>(e) : 0));
      }
    }
  }
}

TEST_CASE("Squares that lanes have each are turned over, and back") {
  constexpr std::int64_t kRows = 20, kFirst = 5;
  for (const std::int64_t width : {2, 4, 9}) {
    Builder b;
    const auto n = b.constant_size("N", kRows), k = b.constant_size("K", width), trips = b.constant_size("T", 8);
    const auto x = b.buffer("x", Role::data, {n, k, k}), y = b.buffer("y", Role::parameter, {n, k, k});
    b.function("f", {{"first", Type::i64}}, [&](const Builder::Indices& p) {
      const auto own = b.local_array("own", {k, k, trips});
      const auto squares = [&](const std::function<void(ExprId, ExprId, ExprId)>& body) {
        b.for_each(b.fresh("i"), k, [&](ExprId i) {
          b.for_each(b.fresh("j"), k,
                     [&](ExprId j) { b.for_each(b.fresh("t"), trips, [&](ExprId t) { body(i, j, t); }); });
        });
      };
      squares([&](ExprId i, ExprId j, ExprId t) { b.store(own, {i, j, t}, b.load(x, {b.add(p[0], t), i, j})); });
      squares([&](ExprId i, ExprId j, ExprId t) { b.store(own, {i, j, t}, b.add(b.load(own, {i, j, t}), b.f(1))); });
      squares([&](ExprId i, ExprId j, ExprId t) { b.store(y, {b.add(p[0], t), i, j}, b.load(own, {i, j, t})); });
    });
    const auto elements = static_cast<std::size_t>(kRows * width * width);
    Memory memory({elements, elements, 0});
    for (std::size_t e = 0; e < elements; ++e)
      memory.reals(x)[e] = static_cast<double>(e);
    Memory after = run_both(b.program(), memory, {}, {kFirst}, {}, 0);
    const std::int64_t row = width * width;
    for (std::int64_t e = 0; e < kRows * row; ++e) {
      const bool mine = e >= kFirst * row && e < (kFirst + 8) * row;
      CHECK(after.reals(y)[e] == (mine ? static_cast<double>(e) + 1 : 0));
    }
  }
}

TEST_CASE("Nests that look like a transposition of squares, and are none, stay loops") {
  enum class Nest { from_one, from_one_inside, in_place, part_of_rows };
  for (const Nest nest : {Nest::from_one, Nest::from_one_inside, Nest::in_place, Nest::part_of_rows}) {
    Builder b;
    const auto n = b.constant_size("N", 17);
    const auto x = b.buffer("x", Role::data, {n, n}), y = b.buffer("y", Role::parameter, {n, n});
    b.function("f", [&] {
      const auto own = b.local_array("own", {n, n});
      b.for_each("i", n, [&](ExprId i) {
        b.for_each("j", n, [&](ExprId j) { b.store(own, {i, j}, b.load(x, {i, j})); });
      });
      const std::int64_t outer = nest == Nest::from_one ? 1 : 0, inner = nest == Nest::from_one_inside ? 1 : 0;
      const std::int64_t length = nest == Nest::part_of_rows ? 13 : 8;
      b.for_loop("k", b.i(outer), b.i(outer + length), [&](ExprId k) {
        b.for_loop("l", b.i(inner), b.i(inner + 8), [&](ExprId l) {
          b.store(own, {l, k}, b.load(nest == Nest::in_place ? own : x, {k, l}));
        });
      });
      b.for_each("e", n, [&](ExprId e) {
        b.for_each("g", n, [&](ExprId g) { b.store(y, {e, g}, b.load(own, {e, g})); });
      });
    });
    INFO("nest " << static_cast<int>(nest));
    Memory memory({17 * 17, 17 * 17, 0});
    for (std::size_t e = 0; e < 17 * 17; ++e)
      memory.reals(x)[e] = static_cast<double>(e);
    run_both(b.program(), memory);
  }
}

TEST_CASE("A loop of constant length 0 runs not once, whatever is in it") {
  for (const std::int64_t length : {0, 1, 2}) {
    Builder b;
    const auto n = b.runtime_size("n");
    const auto y = b.buffer("y", Role::parameter, {n});
    b.function("f", [&] {
      b.for_loop("k", b.i(1), b.i(1 + length),
                 [&](ExprId) { b.for_each("i", n, [&](ExprId i) { b.add_to(y, {i}, b.f(1)); }); });
    });
    Memory memory({5});
    Memory after = run_both(b.program(), memory, {5});
    for (std::size_t i = 0; i < 5; ++i)
      CHECK(after.reals(y)[i] == static_cast<double>(length));
  }
}
