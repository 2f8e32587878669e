// The pass `eliminate-dead-code` (dead code elimination): scratch and scalars that nothing reads are not computed,
// unless a computation can fail or its result is visible outside.
#include "compiler/analysis/liveness.h"

#include "compiler/loops/builder.h"
#include "compiler/passes/passes.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

bool has(const loops::Program& p, const std::string& text) { return loops::print(p).find(text) != std::string::npos; }

/// A program that adds squares of data to a statistic. It also has scratch that is read (`work`) and that is not
/// (`spare`), scalars that only feed each other, and a check that can fail.
struct Squares {
  Builder b;
  const loops::SizeId n = b.runtime_size("N");
  const BufferId x = b.buffer("x", Role::data, {n}), work = b.buffer("work", Role::scratch, {n}),
                 spare = b.buffer("spare", Role::scratch, {n}), out = b.buffer("out", Role::statistic, {n});

  void squares() {
    b.function("squares", [&] {
      const ScalarId never_read = b.local("unread", b.f(0)), least = b.local("least", b.f(1));
      b.comment("squares");
      b.for_each("i", n, [&](ExprId i) { b.store(work, {i}, b.mul(b.load(x, {i}), b.load(x, {i}))); });
      b.comment("roots");
      b.for_each("j", n, [&](ExprId j) {
        b.store(spare, {j}, b.sqrt(b.load(work, {j})));
        b.accumulate(never_read, b.load(spare, {j}));
      });
      b.for_each("k", n, [&](ExprId k) {
        b.accumulate(never_read, b.load(work, {k}));
        b.assign(least, b.load(x, {k}));
        b.fail_if(b.less(b.get(least), b.f(0)), 7);
        b.add_to(out, {k}, b.load(work, {k}));
      });
    });
  }
};

const test::Buffers kValues = {{1, 2, 3}, {0, 0, 0}, {0, 0, 0}, {5, 5, 5}};

}  // namespace

TEST_CASE("scratch and scalars that nothing but each other reads are not formed") {
  Squares s;
  s.squares();
  const loops::Program before = s.b.take(), after = loops::eliminate_dead_code(before);
  CHECK(has(before, "spare[j] ="));
  for (const char* gone : {"spare[j]", "unread", "roots", "sqrt"})
    CHECK_FALSE(has(after, std::string(gone) + (gone == std::string("spare[j]") ? " =" : "")));
  for (const char* left : {"// squares", "work[i] =", "fail 7", "least"})
    CHECK(has(after, left));
  CHECK(test::run(after, kValues, {3}).buffers[3] == std::vector<double>{6, 9, 14});
  test::Buffers bad = kValues;
  bad[0][1] = -1;
  CHECK(test::run(after, bad, {3}).status == 7);
}

TEST_CASE("scratch that another function reads is formed") {
  Squares s;
  s.squares();
  s.b.function("sum",
               [&] { s.b.for_each("m", s.n, [&](ExprId m) { s.b.add_to(s.out, {m}, s.b.load(s.spare, {m})); }); });
  const loops::Program after = loops::eliminate_dead_code(s.b.take());
  CHECK(has(after, "spare[j] = sqrt(work[j])"));
  CHECK_FALSE(has(after, "unread"));
}

TEST_CASE("what callers read is formed") {
  Squares s;
  s.squares();
  loops::Program p = s.b.take();
  p.functions[0].regions.push_back({0, ExprId(0), s.spare});
  CHECK(has(loops::eliminate_dead_code(p), "spare[j] = sqrt(work[j])"));
  p.functions[0].regions.clear();
  p.functions[0].cached.push_back({0, s.spare});
  CHECK(has(loops::eliminate_dead_code(p), "spare[j] = sqrt(work[j])"));
}
