// Kernels on which inference spends most of its time must be compiled to vector code: the update of topics in LDA, and
// quadratic scores. Compile time must not depend on the size of the data.
#include <ctime>
#include <regex>

#include "compiler/native/code.h"
#include "tests/native/harness.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

std::size_t count(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

/// Returns the kernel of LDA. For each token: s = theta . B[w], acc += (c / s) B[w]; then gamma = alpha + theta acc.
loops::Program mixture_of_words(std::int64_t topics) {
  Builder b;
  const auto n = b.runtime_size("N"), v = b.runtime_size("V");
  const auto k = b.constant_size("K", topics);
  const auto w = b.buffer("w", Role::data, {n}, Type::i64);
  const auto c = b.buffer("c", Role::data, {n});
  const auto table = b.buffer("B", Role::table, {v, k});
  const auto gamma = b.buffer("gamma", Role::parameter, {k});
  b.function("f", [&] {
    const auto theta = b.local_array("theta", {k}), acc = b.local_array("acc", {k});
    b.for_each("k", k, [&](ExprId j) { b.store(theta, {j}, b.exp(b.digamma(b.load(gamma, {j})))); });
    b.fill(acc, b.f(0));
    b.for_each("n", n, [&](ExprId i) {
      const ExprId word = b.let("word", b.load(w, {i}));
      const auto s = b.local("s", b.f(1e-100));
      b.for_each("k", k, [&](ExprId j) { b.accumulate(s, b.mul(b.load(theta, {j}), b.load(table, {word, j}))); });
      const ExprId q = b.let("q", b.div(b.load(c, {i}), b.get(s)));
      b.for_each("k", k, [&](ExprId j) { b.add_to(acc, {j}, b.mul(q, b.load(table, {word, j}))); });
    });
    b.for_each("k", k,
               [&](ExprId j) { b.store(gamma, {j}, b.add(b.f(0.1), b.mul(b.load(theta, {j}), b.load(acc, {j})))); });
  });
  return b.take();
}

/// Returns the kernel of a Gaussian mixture: nat[k] += x_j x_l L[j][l][k] for each point.
loops::Program quadratic_scores() {
  Builder b;
  const auto n = b.runtime_size("N");
  const auto k = b.constant_size("K", 32), d = b.constant_size("D", 16);
  const auto x = b.buffer("x", Role::data, {n, d});
  const auto table = b.buffer("L", Role::table, {d, d, k});
  const auto scores = b.buffer("scores", Role::table, {n, k});
  b.function("f", [&] {
    const auto nat = b.local_array("nat", {k});
    b.for_each("n", n, [&](ExprId i) {
      b.fill(nat, b.f(0));
      b.for_each("j", d, [&](ExprId j) {
        b.for_each("l", d, [&](ExprId l) {
          const ExprId product = b.let("product", b.mul(b.load(x, {i, j}), b.load(x, {i, l})));
          b.for_each("k", k, [&](ExprId c) { b.add_to(nat, {c}, b.mul(product, b.load(table, {j, l, c}))); });
        });
      });
      b.for_each("k", k, [&](ExprId c) { b.store(scores, {i, c}, b.load(nat, {c})); });
    });
  });
  return b.take();
}

}  // namespace

TEST_CASE("A dot product and an axpy over constant extents are vectors in registers") {
  for (const std::int64_t topics : {20, 100, 500}) {
    const auto program = mixture_of_words(topics);
    const std::string wide = native::llvm_text(program, {.cpu = "skylake-avx512"});
    INFO("K = " << topics);
    CHECK(count(wide, "fadd [a-z ]*<8 x double>") >= 2);
    CHECK(count(wide, "fmul [a-z ]*<8 x double>") >= 2);
    CHECK(count(wide, "fdiv <8 x double>") >= 1);
    // acc stays in registers up to sixteen vectors; theta too if unrolling its loop pays.
    if (topics == 20) CHECK(count(wide, "alloca") == 0);
    if (topics == 100) CHECK(count(wide, "alloca") == 1);
    const std::string narrow = native::llvm_text(program, {.cpu = "haswell"});
    CHECK(count(narrow, "fadd [a-z ]*<4 x double>") >= 2);

    test::Memory memory({30, 30, static_cast<std::size_t>(7 * topics), static_cast<std::size_t>(topics), 0, 0});
    for (int i = 0; i < 30; ++i)
      memory.integers(loops::BufferId(0u))[i] = (i * 5) % 7, memory.reals(loops::BufferId(1u))[i] = 1 + i % 3;
    for (int i = 0; i < 7 * topics; ++i)
      memory.reals(loops::BufferId(2u))[i] = 0.01 * (1 + i % 11);
    for (int i = 0; i < topics; ++i)
      memory.reals(loops::BufferId(3u))[i] = 0.1 + 0.3 * (i % 17);
    test::run_both(program, memory, {30, 7});
    test::run_both(program, memory, {30, 7}, {}, {}, 1e-11, {.cpu = "haswell"});
  }
}

TEST_CASE("Quadratic scores accumulate in registers") {
  const auto program = quadratic_scores();
  const std::string text = native::llvm_text(program, {.cpu = "skylake-avx512"});
  CHECK(count(text, "fadd [a-z ]*<8 x double>") >= 4);
  CHECK(count(text, "alloca") == 0);
  test::Memory memory({5 * 16, 16 * 16 * 32, 5 * 32, 0});
  for (int i = 0; i < 5 * 16; ++i)
    memory.reals(loops::BufferId(0u))[i] = std::sin(i);
  for (int i = 0; i < 16 * 16 * 32; ++i)
    memory.reals(loops::BufferId(1u))[i] = std::cos(0.1 * i);
  test::run_both(program, memory, {5});
}

TEST_CASE("Compiling takes time for the model, not for the data, and not much") {
  const std::clock_t start = std::clock();
  CHECK_FALSE(native::assembly(mixture_of_words(100)).empty());
  CHECK(std::clock() - start < CLOCKS_PER_SEC / 2);
}
