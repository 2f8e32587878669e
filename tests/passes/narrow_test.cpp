// The pass `narrow`: what becomes 32 bits wide where single precision was asked for, and what must not: sums over items
// and their parts, and eliminations like Cholesky factors.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "compiler/loops/interpret.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

constexpr std::int64_t kWidth = 3;

/// A program of two functions: one fills a table, and one works on items, for which single precision is asked.
struct Items {
  Builder b;
  const loops::SizeId n = b.runtime_size("N"), k = b.constant_size("K", kWidth);
  const BufferId x = b.buffer("x", Role::data, {n, k}), table = b.buffer("T", Role::table, {k}),
                 sums = b.buffer("S", Role::statistic, {k}), stored = b.buffer("q", Role::expectation, {n, k}),
                 shape = b.buffer("a", Role::parameter, {n, k});
  BufferId work, more;

  loops::Program program(const std::function<void(ExprId item)>& of_item, bool single = true) {
    b.function("f", [&] { b.for_each("k", k, [&](ExprId e) { b.store(table, {e}, b.exp(b.load(x, {b.i(0), e}))); }); });
    const std::size_t items = b.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const auto& p) {
      work = b.local_array("work", {k});
      more = b.local_array("more", {k});
      b.for_range("n", p[0], p[1], of_item);
    });
    if (single) b.allow_f32(items);
    return b.take();
  }
  void each(const std::function<void(ExprId)>& body) { b.for_each(b.fresh("k"), k, body); }
  ExprId datum(ExprId item, ExprId e) { return b.load(x, {item, e}); }
};

Type type_of(const loops::Program& p, const std::string& name) {
  for (const loops::Scalar& s : p.scalars)
    if (s.name == name) return s.type;
  for (const loops::Buffer& s : p.buffers)
    if (s.name == name) return s.element;
  FAIL("there is no " << name);
  return Type::boolean;
}

std::vector<std::string> problems(const loops::Program& p) { return loops::verify(p); }

/// Runs both functions over three items.
test::Buffers values(const loops::Program& p) {
  test::Buffers out;
  std::vector<lehr_buffer> table;
  for (std::size_t k = 0; k < p.buffers.size(); ++k)
    out.emplace_back(static_cast<std::size_t>(3 * kWidth), 1.0 / 3 + static_cast<double>(k));
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (p.buffers[k].role == Role::statistic) out[k].assign(out[k].size(), 0);
    table.push_back(out[k].data());
  }
  const std::int64_t sizes[] = {3}, range[] = {0, 3};
  REQUIRE(loops::interpret(p, 0, table.data(), sizes, nullptr, nullptr) == 0);
  REQUIRE(loops::interpret(p, 1, table.data(), sizes, range, nullptr) == 0);
  return out;
}

}  // namespace

TEST_CASE("work arrays, tables and numbers of items have 32 bits, sums over items and their parts 64") {
  Items s;
  Builder& b = s.b;
  const auto of_item = [&](ExprId item) {
    const ScalarId total = b.local("total", b.f(0)), bound = b.local("bound", b.f(0));
    s.each([&](ExprId e) {
      b.store(s.work, {e}, b.mul(s.datum(item, e), b.load(s.table, {e})));
      b.accumulate(total, b.load(s.work, {e}));
    });
    const ExprId scale = b.let("scale", b.div(b.f(1), b.get(total)));
    s.each([&](ExprId e) {
      b.store(s.more, {e}, b.mul(scale, b.load(s.work, {e})));
      b.add_to(s.sums, {e}, b.mul(s.datum(item, e), b.load(s.more, {e})));
      b.accumulate(bound, b.log(b.load(s.more, {e})));
    });
    b.add_to(s.sums, {b.i(0)}, b.get(bound));
  };
  const loops::Program before = s.program(of_item), after = loops::narrow(before);
  CHECK(problems(after).empty());
  CHECK(type_of(after, "T") == Type::f32);
  CHECK(type_of(after, "work") == Type::f32);
  CHECK(type_of(after, "more") == Type::f32);
  CHECK(type_of(after, "total") == Type::f32);
  CHECK(type_of(after, "scale") == Type::f32);
  CHECK(type_of(after, "S") == Type::f64);
  CHECK(type_of(after, "bound") == Type::f64);
  CHECK(type_of(after, "x") == Type::f64);
  const test::Buffers want = values(before), got = values(after);
  for (std::size_t e = 0; e < kWidth; ++e) {
    CHECK(got[s.sums.index()][e] == Approx(want[s.sums.index()][e]).epsilon(1e-6));
    CHECK(got[s.sums.index()][e] != want[s.sums.index()][e]);
  }
}

TEST_CASE("what is kept of an item is formed in 64 bits, but for functions") {
  Items s;
  Builder& b = s.b;
  const auto of_item = [&](ExprId item) {
    s.each([&](ExprId e) { b.store(s.work, {e}, b.mul(s.datum(item, e), b.f(3))); });
    s.each([&](ExprId e) {
      const ExprId squared = b.let("squared", b.mul(s.datum(item, e), s.datum(item, e)));
      b.store(s.shape, {item, e}, b.add(squared, b.load(s.work, {e})));
      const ExprId log = b.let("log", b.log(b.load(s.shape, {item, e})));
      b.store(s.stored, {item, e}, b.sub(b.digamma(b.load(s.shape, {item, e})), log));
    });
  };
  const loops::Program after = loops::narrow(s.program(of_item));
  CHECK(problems(after).empty());
  CHECK(type_of(after, "squared") == Type::f64);
  CHECK(type_of(after, "log") == Type::f32);
  const std::string text = loops::print(after);
  CHECK(text.find("= squared + f64(work[") != std::string::npos);
  CHECK(text.find("= f64(digamma(f32(a[") != std::string::npos);
}

TEST_CASE("an elimination stays, with what it is made of") {
  Items s;
  Builder& b = s.b;
  const auto of_item = [&](ExprId item) {
    const ExprId scale = b.let("scale", b.add(b.load(s.table, {b.i(0)}), b.f(1)));
    s.each([&](ExprId e) { b.store(s.work, {e}, b.mul(scale, s.datum(item, e))); });
    b.for_range("j", b.i(1), b.i(kWidth), [&](ExprId e) {
      const ExprId above = b.let("above", b.load(s.work, {b.sub(e, b.i(1))}));
      b.store(s.work, {e}, b.sub(b.load(s.work, {e}), b.mul(above, b.f(0.5))));
    });
    s.each([&](ExprId e) { b.store(s.stored, {item, e}, b.log(b.abs(b.load(s.work, {e})))); });
  };
  const loops::Program before = s.program(of_item), after = loops::narrow(before);
  CHECK(type_of(after, "work") == Type::f64);
  CHECK(type_of(after, "T") == Type::f64);
  CHECK(type_of(after, "scale") == Type::f64);
  CHECK(values(after) == values(before));
}

TEST_CASE("constants that 32 bits cannot hold keep their meaning") {
  Items s;
  Builder& b = s.b;
  const auto of_item = [&](ExprId item) {
    const ScalarId top = b.local("top", b.f(-1.7e308));
    s.each([&](ExprId e) {
      b.store(s.work, {e}, b.add(b.f(loops::kLogZero), b.log(s.datum(item, e))));
      b.assign(top, b.max(b.get(top), b.load(s.work, {e})));
    });
    s.each([&](ExprId e) { b.store(s.more, {e}, b.exp(b.sub(b.load(s.work, {e}), b.get(top)))); });
    const ScalarId sum = b.local("sum", b.f(0));
    s.each([&](ExprId e) { b.accumulate(sum, b.load(s.more, {e})); });
    b.if_then(b.less(b.get(sum), b.f(1e-200)), [&] { b.assign(sum, b.f(7)); });
    const BufferId last = b.local_array("last", {s.k});
    s.each([&](ExprId e) { b.store(last, {e}, b.get(sum)); });
    s.each([&](ExprId e) { b.add_to(s.sums, {e}, b.load(last, {e})); });
  };
  const loops::Program before = s.program(of_item), after = loops::narrow(before);
  CHECK(type_of(after, "top") == Type::f32);
  CHECK(loops::print(after).find("inf") == std::string::npos);
  const test::Buffers got = values(after);
  for (std::size_t e = 0; e < kWidth; ++e)
    CHECK(got[s.sums.index()][e] == 9);  // as with 64 bits: all values are equally unlikely
  CHECK(values(before)[s.sums.index()] == got[s.sums.index()]);
}

TEST_CASE("nothing has 32 bits where they were not asked for") {
  Items s;
  const loops::Program before =
      s.program([&](ExprId item) { s.each([&](ExprId e) { s.b.store(s.work, {e}, s.datum(item, e)); }); }, false);
  CHECK(loops::print(loops::narrow(before)) == loops::print(before));
}
