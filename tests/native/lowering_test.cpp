// Code generation on small programs, one feature each: the interpreter and the native code must agree. Some tests also
// look at the text of the LLVM IR.
#include "tests/native/harness.h"

using namespace lehr;
using namespace lehr::loops;
using test::Memory;
using test::run_both;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("Every operation on reals") {
  const std::vector<double> inputs = {0.5, 1.0, 2.5, 7.75, 30, 1e-5, 1e5, 3.25, 12};
  const std::vector<UnaryOp> unary = {
      UnaryOp::negate, UnaryOp::exp, UnaryOp::logit_curvature, UnaryOp::log,      UnaryOp::log1p,
      UnaryOp::sqrt,   UnaryOp::abs, UnaryOp::digamma,         UnaryOp::trigamma, UnaryOp::lgamma};
  const std::vector<BinaryOp> binary = {BinaryOp::add,    BinaryOp::subtract, BinaryOp::multiply,
                                        BinaryOp::divide, BinaryOp::minimum,  BinaryOp::maximum};
  Builder b;
  const auto n = b.constant_size("N", static_cast<std::int64_t>(inputs.size()));
  const auto ops = b.constant_size("ops", static_cast<std::int64_t>(unary.size() + binary.size()));
  const auto x = b.buffer("x", Role::data, {n});
  const auto y = b.buffer("y", Role::table, {n, ops});
  b.function("f", [&] {
    b.for_each("n", n, [&](ExprId i) {
      std::int64_t at = 0;
      for (UnaryOp op : unary)
        b.store(y, {i, b.i(at++)}, b.unary(op, b.load(x, {i})));
      for (BinaryOp op : binary)
        b.store(y, {i, b.i(at++)}, b.binary(op, b.load(x, {i}), b.load(x, {b.i(2)})));
    });
  });
  Memory memory({inputs.size(), inputs.size() * (unary.size() + binary.size())});
  std::copy(inputs.begin(), inputs.end(), memory.reals(x));
  run_both(b.program(), memory);
  memory.reals(x)[2] = kNaN;
  run_both(b.program(), memory);
  memory.reals(x)[2] = -kInfinity;
  run_both(b.program(), memory);
}

TEST_CASE("No address of an element is said to lie inside its buffer") {
  // Memory exists only for the items of a minibatch; the address of a buffer is that of its absent item 0.
  Builder b;
  const auto n = b.runtime_size("N");
  const auto x = b.buffer("x", Role::data, {n});
  const auto y = b.buffer("y", Role::parameter, {n});
  b.function("f", [&] {
    b.for_each("n", n, [&](ExprId i) { b.store(y, {i}, b.load(x, {i})); });
    b.fill(y, b.f(2));
  });
  const std::string text = native::llvm_text(b.program(), {.level = 0});
  CHECK(text.find("getelementptr double") != std::string::npos);
  CHECK(text.find("getelementptr inbounds double") == std::string::npos);
}

TEST_CASE("Every operation on integers and bools") {
  Builder b;
  const auto n = b.runtime_size("N");
  const auto width = b.constant_size("width", 16);
  const auto x = b.buffer("x", Role::data, {n}, Type::i64);
  const auto y = b.buffer("y", Role::table, {n, width}, Type::i64);
  const auto z = b.buffer("z", Role::table, {n});
  b.function("f", [&] {
    b.for_each("n", n, [&](ExprId i) {
      std::int64_t at = 0;
      const ExprId v = b.load(x, {i});
      const auto put = [&](ExprId e) { b.store(y, {i, b.i(at++)}, e); };
      const auto test = [&](ExprId c) { put(b.select(c, b.i(1), b.i(0))); };
      put(b.add(v, i)), put(b.sub(v, i)), put(b.mul(v, i)), put(b.min(v, i)), put(b.max(v, i)), put(b.neg(v));
      put(b.abs(v)), put(b.extent(n));
      test(b.less(v, i)), test(b.less_equal(v, i)), test(b.equal(v, i)), test(b.not_equal(v, i));
      test(b.logical_and(b.less(v, i), b.less(i, b.i(5)))), test(b.logical_or(b.less(v, i), b.less(i, b.i(5))));
      test(b.logical_not(b.less(v, i)));
      const ExprId real = b.to_f64(v);
      test(b.logical_or(b.is_nan(b.div(real, real)), b.equal(real, b.f(3))));
      b.store(z, {i}, b.select(b.less(real, b.f(2)), b.mul(real, b.f(0.5)), real));
    });
  });
  Memory memory({20, 20 * 16, 20});
  for (int k = 0; k < 20; ++k)
    memory.integers(x)[k] = (k * 7) % 11 - 4;
  run_both(b.program(), memory, {20});
  run_both(b.program(), memory, {0});
  run_both(b.program(), memory, {1});
}

TEST_CASE("Reductions over constant and run-time extents") {
  for (const std::int64_t length : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 31, 32, 64, 100, 127, 200, 1000}) {
    for (const bool constant : {true, false}) {
      Builder b;
      const auto n = constant ? b.constant_size("N", length) : b.runtime_size("N");
      const auto one = b.constant_size("four", 4);
      const auto x = b.buffer("x", Role::data, {n});
      const auto y = b.buffer("y", Role::output, {one});
      const auto p = b.buffer("p", Role::scratch, {n});
      b.function("f", [&] {
        const auto sum = b.local("sum", b.f(0));
        const auto top = b.local("top", b.f(-1e300));
        const auto last = b.local("last", b.f(0));
        b.for_each("k", n, [&](ExprId k) {
          b.accumulate(sum, b.mul(b.load(x, {k}), b.load(x, {k})));
          b.assign(top, b.max(b.get(top), b.load(x, {k})));
        });
        b.for_each("k", n, [&](ExprId k) {
          b.store(p, {k}, b.exp(b.sub(b.load(x, {k}), b.get(top))));
          b.accumulate(last, b.load(p, {k}));
        });
        b.for_each("k", n, [&](ExprId k) { b.store(p, {k}, b.div(b.load(p, {k}), b.get(last))); });
        b.store(y, {b.i(0)}, b.get(sum)), b.store(y, {b.i(1)}, b.get(top)), b.store(y, {b.i(2)}, b.get(last));
      });
      Memory memory({static_cast<std::size_t>(length), 4, static_cast<std::size_t>(length)});
      for (int k = 0; k < length; ++k)
        memory.reals(x)[k] = std::sin(k) * 3;
      run_both(b.program(), memory, {length});
    }
  }
}

TEST_CASE("Rows of different lengths, packed between two other axes") {
  Builder b;
  const auto copies = b.constant_size("copies", 2);
  const auto docs = b.runtime_size("docs");
  const auto tokens = b.runtime_size("tokens");
  const auto offsets_size = b.runtime_size("docs1");
  const auto k = b.constant_size("K", 5);
  const auto offsets = b.buffer("offsets", Role::data, {offsets_size}, Type::i64);
  const auto w = b.buffer("w", Role::data, {tokens}, Type::i64);
  const auto phi = b.buffer("phi", Role::scratch, {copies, tokens, k});
  const auto counts = b.buffer("counts", Role::statistic, {k});
  b.function("f", [&] {
    b.fill(phi, b.f(0.25));
    b.for_each("c", copies, [&](ExprId c) {
      b.for_each("d", docs, [&](ExprId d) {
        const ExprId length = b.let("length", b.sub(b.load(offsets, {b.add(d, b.i(1))}), b.load(offsets, {d})));
        b.for_loop("n", b.i(0), length, [&](ExprId n) {
          const ExprId token = b.add(b.load(offsets, {d}), n);
          b.for_each("k", k, [&](ExprId j) {
            b.add_to(phi, {c, token, j}, b.to_f64(b.add(b.mul(b.i(10), b.load(w, {token})), j)));
          });
          b.add_to(counts, {b.load(w, {token})}, b.f(1));
        });
      });
    });
  });
  Memory memory({5, 9, 2 * 9 * 5, 5});
  const std::int64_t rows[] = {0, 3, 3, 8, 9};
  std::copy(rows, rows + 5, memory.integers(offsets));
  for (int n = 0; n < 9; ++n)
    memory.integers(w)[n] = (n * n) % 5;
  run_both(b.program(), memory, {4, 9, 5});
}

TEST_CASE("Break, fail, if and parameters") {
  Builder b;
  const auto n = b.runtime_size("N");
  const auto x = b.buffer("x", Role::data, {n});
  const auto y = b.buffer("y", Role::table, {n});
  b.function("f", {{"limit", Type::f64}, {"skip", Type::i64}, {"scale", Type::f64}}, [&](const auto& p) {
    const auto total = b.local("total", b.f(0));
    b.for_each("n", n, [&](ExprId i) {
      b.if_else(
          b.equal(i, p[1]), [&] { b.store(y, {i}, b.f(-1)); },
          [&] {
            b.accumulate(total, b.mul(p[2], b.load(x, {i})));
            b.store(y, {i}, b.get(total));
          });
      b.fail_if(b.is_nan(b.load(x, {i})), 7);
      b.break_if(b.less(p[0], b.get(total)));
    });
    b.for_loop("k", b.i(0), b.i(3), [&](ExprId k) {
      b.break_if(b.equal(k, p[1]));
      b.if_then(b.less(k, b.extent(n)), [&] { b.add_to(y, {k}, b.f(100)); });
    });
    b.fail_if(b.less(b.get(total), b.f(0)), 9);
  });
  Memory memory({40, 40});
  for (int k = 0; k < 40; ++k)
    memory.reals(x)[k] = 0.5 + k % 3;
  run_both(b.program(), memory, {40}, {3}, {1e9, 2});
  run_both(b.program(), memory, {40}, {1}, {11, 2});
  run_both(b.program(), memory, {40}, {50}, {1e9, -1});
  run_both(b.program(), memory, {2}, {2}, {1e9, 1});
  memory.reals(x)[20] = kNaN;
  run_both(b.program(), memory, {40}, {3}, {1e9, 2});
}

TEST_CASE("What a branch that is seldom taken changes around it, where it leaves a loop too") {
  Builder b;
  const auto n = b.runtime_size("N");
  const auto k = b.constant_size("K", 4), wide = b.constant_size("W", 200);
  const auto x = b.buffer("x", Role::data, {n});
  const auto y = b.buffer("y", Role::table, {n});
  b.function("f", {{"limit", Type::f64}}, [&](const auto& p) {
    const auto total = b.local("total", b.f(0));
    const auto few = b.local_array("few", {k}), many = b.local_array("many", {wide});
    b.fill(few, b.f(1));
    b.fill(many, b.f(1));
    b.for_each("n", n, [&](ExprId i) {
      b.accumulate(total, b.f(1));
      const ExprId twice = b.let("twice", b.mul(b.f(2), b.load(x, {i})));
      b.if_rarely(b.less(b.f(2), b.load(x, {i})), [&] {
        b.accumulate(total, twice);
        b.for_each("k", k, [&](ExprId j) { b.add_to(few, {j}, b.get(total)); });
        b.add_to(many, {b.i(3)}, twice);
        b.break_if(b.less(p[0], b.get(total)));
        b.if_rarely(b.less(b.f(3), b.load(x, {i})), [&] { b.assign(total, b.f(5)); });
      });
      b.store(y, {i}, b.add(b.load(few, {b.i(2)}), b.load(many, {b.i(3)})));
    });
    b.add_to(y, {b.i(0)}, b.get(total));
    b.add_to(y, {b.i(1)}, b.load(few, {b.i(1)}));
    b.add_to(y, {b.i(2)}, b.load(many, {b.i(3)}));
  });
  Memory memory({40, 40, 0, 0});
  for (int i = 0; i < 40; ++i)
    memory.reals(x)[i] = 0.75 * (i % 6);
  for (double limit : {1e9, 25., 3.})
    run_both(b.program(), memory, {40}, {}, {limit});
}

TEST_CASE("Local arrays, scatter and guarded accumulation") {
  for (const std::int64_t components : {2, 3, 4, 6, 8, 10, 20, 32, 33}) {
    Builder b;
    const auto n = b.runtime_size("N");
    const auto k = b.constant_size("K", components);
    const auto x = b.buffer("x", Role::data, {n});
    const auto z = b.buffer("z", Role::data, {n}, Type::i64);
    const auto s = b.buffer("S", Role::statistic, {k, k});
    const auto r = b.buffer("r", Role::table, {n, k});
    b.function("f", [&] {
      const auto nat = b.local_array("nat", {k});
      const auto count = b.local_array("count", {k}, Type::i64);
      b.fill(count, b.i(0));
      b.for_each("n", n, [&](ExprId i) {
        b.fill(nat, b.f(0));
        b.for_each("j", k, [&](ExprId j) {
          b.for_each("k", k, [&](ExprId c) { b.add_to(nat, {c}, b.mul(b.load(x, {i}), b.to_f64(b.add(j, c)))); });
        });
        const auto sum = b.local("sum", b.f(0));
        b.for_each("k", k, [&](ExprId c) {
          b.store(nat, {c}, b.exp(b.mul(b.f(-0.01), b.load(nat, {c}))));
          b.accumulate(sum, b.load(nat, {c}));
        });
        b.for_each("k", k, [&](ExprId c) {
          b.store(r, {i, c}, b.div(b.load(nat, {c}), b.get(sum)));
          b.add_to(s, {b.load(z, {i}), c}, b.load(r, {i, c}));
          b.if_then(b.equal(c, b.load(z, {i})), [&] { b.add_to(s, {c, b.i(0)}, b.f(1)); });
        });
        b.add_to(count, {b.load(z, {i})}, b.i(1));
      });
      b.for_each("k", k, [&](ExprId c) { b.add_to(s, {b.i(0), c}, b.to_f64(b.load(count, {c}))); });
    });
    const auto kk = static_cast<std::size_t>(components);
    // Local arrays have an entry in the table of buffers too, which is not read.
    Memory memory({50, 50, kk * kk, 50 * kk, 0, 0});
    for (int i = 0; i < 50; ++i)
      memory.reals(x)[i] = 0.1 * i, memory.integers(z)[i] = (i * 3) % components;
    run_both(b.program(), memory, {50});
  }
}

TEST_CASE("Several functions share memory, and names may have any character") {
  Builder b;
  const auto n = b.constant_size("N", 33);
  const auto x = b.buffer("E.beta.log", Role::table, {n});
  b.function("update beta'", [&] { b.for_each("n", n, [&](ExprId i) { b.add_to(x, {i}, b.to_f64(i)); }); });
  b.function("elbo", [&] { b.fail(3); });
  const native::Jit jit(b.program(), {.prefix = "m_"});
  Memory memory({33});
  CHECK(jit.function("update beta'")(memory.table(), nullptr, nullptr, nullptr) == 0);
  CHECK(jit.function("update beta'")(memory.table(), nullptr, nullptr, nullptr) == 0);
  CHECK(memory.reals(x)[32] == 64);
  CHECK(jit.function("elbo")(memory.table(), nullptr, nullptr, nullptr) == 3);
  CHECK(jit.function("m_elbo") == nullptr);
  CHECK(native::assembly(b.program(), {.prefix = "m_"}).find("m_elbo:") != std::string::npos);
  CHECK_FALSE(native::assembly(b.program(), {.cpu = "x86-64-v3"}).empty());
}

TEST_CASE("Unoptimised code means the same") {
  Builder b;
  const auto n = b.constant_size("N", 21);
  const auto x = b.buffer("x", Role::table, {n});
  b.function("f",
             [&] { b.for_each("n", n, [&](ExprId i) { b.store(x, {i}, b.digamma(b.to_f64(b.add(i, b.i(1))))); }); });
  run_both(b.program(), Memory({21}), {}, {}, {}, 1e-13, {.level = 0});
  run_both(b.program(), Memory({21}), {}, {}, {}, 1e-13, {.cpu = "x86-64"});
}

TEST_CASE("code that does little work gets the quick tier") {
  const auto is_quick = [](std::int64_t rows, bool of_data, bool cold) {
    Builder b;
    const auto n = of_data ? b.runtime_size("N") : b.constant_size("N", rows);
    const auto x = b.buffer("x", Role::parameter, {n, n});
    const std::size_t f = b.function("f", [&] {
      b.for_each("i", n, [&](ExprId i) {
        b.for_range("j", b.i(0), b.add(i, b.i(1)), [&](ExprId j) { b.store(x, {i, j}, b.exp(b.load(x, {j, i}))); });
      });
    });
    if (cold) b.mark_cold(f);
    return native::llvm_text(b.program(), {.level = 0}).find("\"lehr-tier\"=\"quick\"") != std::string::npos;
  };
  CHECK(is_quick(16, false, false));
  CHECK_FALSE(is_quick(64, false, false));
  CHECK_FALSE(is_quick(0, true, false));
  CHECK(is_quick(0, true, true));
}

TEST_CASE("little is made of a statement that a call comes to once, unless it forms what others need") {
  // Sums of lgamma over a few numbers beside a loop over data; with `own`, the values are stored in a local array.
  const auto calls = [](const char* cpu, std::int64_t few, bool own) {
    Builder b;
    const auto n = b.runtime_size("N"), k = b.constant_size("K", few);
    const auto x = b.buffer("x", Role::parameter, {n}), c = b.buffer("c", Role::parameter, {k});
    const auto out = b.buffer("out", Role::table, {b.constant_size("one", 1)});
    b.function("f", [&] {
      const auto work = b.local_array("work", {k});
      const auto total = b.local("total", b.f(0));
      b.for_each("k", k, [&](ExprId j) {
        const ExprId value = b.lgamma(b.load(c, {j}));
        if (own) b.store(work, {j}, value);
        else b.accumulate(total, value);
      });
      b.for_each("n", n, [&](ExprId i) {
        b.accumulate(total, b.load(x, {i}));
        if (own) b.for_each("k", k, [&](ExprId j) { b.accumulate(total, b.load(work, {j})); });
      });
      b.store(out, {b.i(0)}, b.get(total));
    });
    Memory memory({5, static_cast<std::size_t>(few), 1, static_cast<std::size_t>(few)});
    for (int i = 0; i < 5; ++i)
      memory.reals(loops::BufferId(0u))[i] = i + 0.5;
    for (int i = 0; i < few; ++i)
      memory.reals(loops::BufferId(1u))[i] = 0.3 * (i + 1);
    run_both(b.program(), memory, {5});
    return native::llvm_text(b.program(), {.cpu = cpu}).find("@lehr.lgamma(") != std::string::npos;
  };
  // The numbers of elements are chosen for each processor, since the width of its vectors decides what is emitted as
  // vectors.
  for (const auto& [cpu, few] : {std::pair("x86-64-v2", 48), {"x86-64-v3", 48}, {"x86-64-v4", 20}}) {
    INFO(cpu);
    CHECK(calls(cpu, few, false));
    CHECK_FALSE(calls(cpu, 200, false));
    CHECK_FALSE(calls(cpu, few, true));
  }
}

TEST_CASE("Rows with much to do for each number end in a mask") {
  const auto text = [](bool rows, bool along, bool much, std::int64_t length) {
    Builder b;
    const auto n = b.runtime_size("N"), k = b.runtime_size("K");
    const auto x = b.buffer("x", Role::parameter, {n, k}), y = b.buffer("y", Role::parameter, {k, n});
    const auto out = b.buffer("out", Role::table, {n, k});
    const auto one = [&](ExprId i, ExprId j) {
      const ExprId a = along ? b.load(x, {i, j}) : b.load(y, {j, i});
      b.store(out, {i, j}, much ? b.lgamma(a) : b.mul(a, b.add(a, b.f(2))));
    };
    b.function("f", [&] {
      if (rows) b.for_each("n", n, [&](ExprId i) { b.for_each("k", k, [&](ExprId j) { one(i, j); }); });
      else b.for_each("k", k, [&](ExprId j) { one(b.i(0), j); });
    });
    const auto size = static_cast<std::size_t>(3 * length);
    Memory memory({size, size, size});
    for (const unsigned buffer : {0u, 1u}) {
      for (int i = 0; i < 3 * length; ++i)
        memory.reals(loops::BufferId(buffer))[i] = 0.1 + 0.37 * i;
    }
    run_both(b.program(), memory, {3, length});
    run_both(b.program(), memory, {3, length}, {}, {}, 1e-11, {.cpu = "haswell"});
    return native::llvm_text(b.program(), {.cpu = "skylake-avx512"}).find("masked.load") != std::string::npos;
  };
  for (std::int64_t length = 0; length < 20; ++length)
    CHECK(text(true, true, true, length));
  CHECK_FALSE(text(false, true, true, 5));
  CHECK_FALSE(text(true, false, true, 5));
  CHECK_FALSE(text(true, true, false, 5));
}

TEST_CASE("Blocks of hundreds of statements") {
  // The function is split into several, which share scalars, local arrays, the exit of the loop, and failures.
  Builder b;
  const auto n = b.runtime_size("N");
  const auto x = b.buffer("x", Role::data, {n});
  const auto y = b.buffer("y", Role::table, {n});
  const auto z = b.buffer("z", Role::table, {b.constant_size("results", 3)});
  b.function("f", {{"limit", Type::f64}, {"last", Type::i64}}, [&](const Builder::Indices& given) {
    const auto work = b.local_array("work", std::vector<std::int64_t>{3});
    const auto total = b.local("total", b.f(0));
    b.fill(work, b.f(0));
    b.for_each("n", n, [&](ExprId i) {
      const auto own = b.local("own", b.load(x, {i}));
      std::vector<ExprId> lets;
      for (int k = 0; k < 300; ++k) {
        const ExprId far = lets.empty() ? b.load(x, {i}) : lets[lets.size() / 2];
        if (k % 3 == 0) lets.push_back(b.let("v", b.add(b.mul(far, b.f(0.5)), b.get(own))));
        else if (k % 3 == 1) b.accumulate(own, b.mul(far, b.f(0.01)));
        else b.add_to(work, {b.i(k % 2)}, lets.back());
      }
      b.for_loop("m", b.i(0), b.i(5), [&](ExprId m) {
        b.add_to(work, {b.i(2)}, b.to_f64(m));
        b.break_if(b.equal(m, b.i(3)));
      });
      b.break_if(b.equal(i, given[1]));
      b.fail_if(b.greater(b.get(own), given[0]), 7);
      b.store(y, {i}, b.add(b.get(own), lets[4]));
      b.assign(total, b.add(b.get(total), lets.back()));
    });
    b.store(z, {b.i(0)}, b.get(total));
    b.store(z, {b.i(1)}, b.load(work, {b.i(0)}));
    b.store(z, {b.i(2)}, b.add(b.load(work, {b.i(1)}), b.load(work, {b.i(2)})));
  });
  Memory memory({6, 6, 3, 0});  // no memory for `work`, a local array
  for (int k = 0; k < 6; ++k)
    memory.reals(x)[k] = 0.1 * k + 0.3;
  run_both(b.program(), memory, {6}, {99}, {1e9}, 1e-9);  // the loop runs to its end
  run_both(b.program(), memory, {6}, {3}, {1e9}, 1e-9);   // the loop is left at the fourth element
  run_both(b.program(), memory, {6}, {99}, {0.5}, 1e-9);  // a check fails
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST_CASE("functions in 32 bits take the tiniest numbers for zero, and leave the thread as it was") {
  Builder b;
  const auto x = b.buffer("x", Role::data, {b.constant_size("one", 1)});
  const auto y = b.buffer("y", Role::table, {b.program().buffers[x.index()].axes[0]});
  const std::size_t f = b.function("f", [&] {
    const ExprId tiny = b.mul(b.to_f32(b.load(x, {b.i(0)})), b.to_f32(b.f(0.5)));
    b.store(y, {b.i(0)}, b.to_f64(tiny));
  });
  const auto run = [&] {
    test::Memory memory({1, 1});
    memory.reals(x)[0] = 0x1p-126;
    REQUIRE(native::Jit(b.program()).function("f")(memory.table(), nullptr, nullptr, nullptr) == 0);
    return memory.reals(y)[0];
  };
  CHECK(run() == 0x1p-127);
  b.allow_f32(f);
  CHECK(run() == 0);
  volatile float tiny = 0x1p-126F;
  tiny = tiny * 0.5F;
  CHECK(tiny == 0x1p-127F);
}
#endif

TEST_CASE("Rows that end in half a vector, or a quarter, go without a mask") {
  for (const std::int64_t width : {10, 12, 20, 21, 100}) {
    Builder b;
    const auto n = b.runtime_size("N"), k = b.constant_size("K", width);
    const auto x = b.buffer("x", Role::data, {n, k}), out = b.buffer("out", Role::statistic, {n, k}),
               sums = b.buffer("sums", Role::statistic, {k});
    b.function("f", [&] {
      const auto all = b.local_array("all", {k});
      b.fill(all, b.f(0));
      b.for_each("n", n, [&](ExprId row) {
        const auto shifted = [&](ExprId e) { return b.mul(b.load(x, {row, e}), b.load(x, {b.i(0), e})); };
        b.for_each("k", k, [&](ExprId e) { b.add_to(all, {e}, shifted(e)); });
        b.for_each("k", k, [&](ExprId e) { b.add_to(out, {row, e}, b.mul(b.f(2), shifted(e))); });
      });
      b.for_each("k", k, [&](ExprId e) { b.store(sums, {e}, b.load(all, {e})); });
    });
    constexpr std::size_t kRows = 5;
    Memory memory({kRows * static_cast<std::size_t>(width), kRows * static_cast<std::size_t>(width),
                   static_cast<std::size_t>(width), 0});
    for (std::size_t e = 0; e < kRows * static_cast<std::size_t>(width); ++e)
      memory.reals(x)[e] = 0.25 * static_cast<double>(e % 13) - 1;
    for (const char* cpu : {"", "x86-64-v3"})
      run_both(b.program(), memory, {kRows}, {}, {}, 1e-13, {.cpu = cpu});
    const std::string text = native::llvm_text(b.program(), {.cpu = "skylake-avx512"});
    INFO(width << "\n" << text);
    CHECK((text.find("call void @llvm.masked.store") == std::string::npos) == (width != 21));
  }
}

TEST_CASE("Rows of items that go together are fetched a step ahead, once") {
  const auto prefetches = [](std::int64_t together, bool vectorised) {
    Builder b;
    const auto n = b.runtime_size("N"), k = b.runtime_size("K"), f = b.constant_size("F", 3);
    const auto x = b.buffer("x", Role::data, {n, k}), sums = b.buffer("sums", Role::statistic, {k, f});
    b.function("f", [&] {
      b.for_each("n", n, [&](ExprId i) {
        for (int pass = 0; pass < 2; ++pass) {
          b.for_each("k", k, [&](ExprId e) {
            b.for_each("f", f, [&](ExprId c) {
              for (std::int64_t iteration = 0; iteration < together; ++iteration)
                b.add_to(sums, {e, c}, b.load(x, {b.binary(BinaryOp::add, i, b.i(iteration)), e}));
            });
            for (std::int64_t iteration = 0; iteration < together; ++iteration)
              b.add_to(sums, {e, b.i(0)}, b.load(x, {b.binary(BinaryOp::add, i, b.i(iteration)), e}));
          });
        }
      });
    });
    loops::Program p = b.program();
    auto& items = std::get<loops::For>(p.functions[0].body[0].node);
    items.step = together;
    items.vectorised = vectorised;
    const std::int64_t rows = 2 * together, columns = 5;
    Memory memory({static_cast<std::size_t>(rows * columns), static_cast<std::size_t>(columns * 3)});
    for (std::int64_t i = 0; i < rows * columns; ++i)
      memory.reals(x)[i] = static_cast<double>(i);
    run_both(p, memory, {rows, columns});
    const std::string text = native::llvm_text(p, {.level = 0});
    std::size_t count = 0;
    for (std::size_t at = text.find("call void @llvm.prefetch"); at != std::string::npos;
         at = text.find("call void @llvm.prefetch", at + 1))
      ++count;
    return count;
  };
  CHECK(prefetches(8, true) == 1);
  CHECK(prefetches(16, true) == 2);
  CHECK(prefetches(4, true) == 0);  // rows shorter than a cache line are not prefetched
  CHECK(prefetches(8, false) == 0);
}
