// The pass `skip-at-fixed-point` (skip at a fixed point). A step of a recurrence is skipped if its input has the bits
// of the step before, since it would give the same result. The tests check which loops are changed, and that all
// programs compute the same.
#include "compiler/passes/passes.h"

#include <cmath>

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

constexpr std::size_t kSteps = 60;

/// A loop over steps with state = sqrt(x[t] + state) for two numbers. With constant data the state converges, and later
/// steps can be skipped. Tests combine the parts of the loop.
class Steps {
 public:
  using Body = std::function<void(ExprId t)>;

  Steps()
      : steps_(b.runtime_size("T")),
        k_(b.constant_size("K", 2)),
        data(b.buffer("x", Role::data, {steps_, k_})),
        stored(b.buffer("p", Role::parameter, {steps_, k_})) {}

  loops::Program make(const Body& body, bool independent = false) {
    b.function("items", {}, [&](const Builder::Indices&) {
      own = b.local_array("own", {k_});
      state = b.local_array("state", {k_});
      b.fill(state, b.f(0));
      b.for_loop("t", b.i(0), b.extent(steps_), body, independent);
    });
    return b.take();
  }
  void each(const std::function<void(ExprId)>& body) { b.for_each(b.fresh("k"), k_, body); }
  void load_step(ExprId t) {
    each([&](ExprId k) { b.store(own, {k}, b.load(data, {t, k})); });
  }
  void advance() {
    each([&](ExprId k) { b.store(state, {k}, b.sqrt(b.add(b.load(own, {k}), b.load(state, {k})))); });
  }
  void keep(ExprId t) {
    each([&](ExprId k) { b.store(stored, {t, k}, b.load(state, {k})); });
  }

  Builder b;

 private:
  loops::SizeId steps_, k_;

 public:
  BufferId data, stored, own, state;
};

void check_same(const loops::Program& before, const loops::Program& after) {
  std::vector<double> same(2 * kSteps, 3), changing = same, missing = same;
  for (std::size_t t = kSteps / 2; t < kSteps; ++t)
    changing[2 * t] = t < kSteps / 2 + 2 ? 5 : 3;
  missing[kSteps] = NAN;
  for (const std::vector<double>& x : {same, changing, missing})
    test::check_same(before, after, {x, std::vector<double>(2 * kSteps)}, {static_cast<std::int64_t>(kSteps)});
}

bool skips(const loops::Program& p) { return loops::print(p).find("if 0 < changed") != std::string::npos; }

/// Returns true if the pass changes the loop with this body. Fails the test if the result differs.
bool skips(const std::function<void(Steps&, ExprId t)>& body, bool independent = false) {
  Steps steps;
  const loops::Program before = steps.make([&](ExprId t) { body(steps, t); }, independent);
  const loops::Program after = loops::skip_at_fixed_point(before);
  check_same(before, after);
  return skips(after);
}

}  // namespace

TEST_CASE("settled: a recurrence is skipped when it finds what the step before found") {
  CHECK(skips([](Steps& s, ExprId t) {
    s.load_step(t);
    s.advance();
    s.keep(t);
  }));
}

TEST_CASE("settled: the steps that are skipped are those after it has converged") {
  Steps s;
  const loops::Program before = s.make([&](ExprId t) {
    s.load_step(t);
    s.advance();
    s.keep(t);
  });
  loops::Program after = loops::skip_at_fixed_point(before);
  after.buffers.push_back({"runs", Type::f64, Role::output, {}});
  const BufferId count(after.buffers.size() - 1);
  after.exprs.push_back({Type::f64, loops::ConstF{1}});
  auto& loop = std::get<loops::For>(after.functions[0].body.back().node);
  for (loops::Stmt& stmt : loop.body) {
    if (auto* branch = std::get_if<loops::If>(&stmt.node))
      branch->then_block.push_back({loops::Store{count, {}, ExprId(after.exprs.size() - 1), true}});
  }
  test::Buffers buffers{std::vector<double>(2 * kSteps, 3), std::vector<double>(2 * kSteps)};
  buffers.resize(after.buffers.size());
  buffers.back() = {0};
  const double advanced = test::run(after, buffers, {static_cast<std::int64_t>(kSteps)}).buffers.back()[0];
  CHECK(advanced > 5);
  CHECK(advanced < 40);
}

TEST_CASE("settled: what has to do with the step, or is written elsewhere, is done at every step") {
  CHECK_FALSE(skips([](Steps& s, ExprId t) {  // the state reads the data of the step directly
    s.each([&](ExprId k) {
      const ExprId x = s.b.load(s.data, {t, k});
      s.b.store(s.state, {k}, s.b.sqrt(s.b.add(x, s.b.load(s.state, {k}))));
    });
    s.keep(t);
  }));
  CHECK_FALSE(skips([](Steps& s, ExprId t) {  // the state is changed after the recurrence
    s.load_step(t);
    s.advance();
    s.each([&](ExprId k) { s.b.add_to(s.state, {k}, s.b.to_f64(t)); });
    s.keep(t);
  }));
  CHECK_FALSE(skips([](Steps& s, ExprId t) {  // the step costs no more than the comparison
    s.load_step(t);
    s.each([&](ExprId k) { s.b.store(s.state, {k}, s.b.load(s.own, {k})); });
    s.keep(t);
  }));
  CHECK_FALSE(skips(
      [](Steps& s, ExprId t) {
        s.load_step(t);
        s.each([&](ExprId k) { s.b.store(s.state, {k}, s.b.f(0)); });
        s.advance();
        s.keep(t);
      },
      true));
}
