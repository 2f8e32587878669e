// The pass `skip-at-fixed-point`: how many steps of a recurrence still run. Which loops it changes, and that they
// compute the same, is tested by texts (text/skip_at_fixed_point).
#include "compiler/passes/passes.h"

#include "tests/passes/run.h"

using namespace lehr;

namespace {

/// With constant data the state converges.
constexpr const char* kConverging = R"(sizes
  T = slot 0
  K = 2
buffers
  x[T, K] : f64 data
  own[K] : f64 scratch
  state[K] : f64 scratch
  runs[] : f64 output
function f()
  array own
  array state
  fill state[] = 0.0
  for t in 0 .. T
    for k in 0 .. 2
      own[k] = x[t, k]
    for k in 0 .. 2
      state[k] = sqrt(own[k] + state[k])
)";

}  // namespace

TEST_CASE("settled: the steps that are skipped are those after it has converged") {
  const Result<loops::Program> before = loops::parse({"program.loops", kConverging});
  REQUIRE(before);
  loops::Program after = loops::skip_at_fixed_point(*before);
  // The steps that run are counted in `runs`.
  after.exprs.push_back({loops::Type::f64, loops::ConstF{1}});
  auto& loop = std::get<loops::For>(after.functions[0].body.back().node);
  for (loops::Stmt& stmt : loop.body) {
    if (auto* branch = std::get_if<loops::If>(&stmt.node))
      branch->then_block.push_back({loops::Store{loops::BufferId(3), {}, loops::ExprId(after.exprs.size() - 1), true}});
  }
  test::Buffers buffers(after.buffers.size());
  buffers[0].assign(120, 3);
  buffers[3] = {0};
  const double runs = test::run(after, buffers, {60}).buffers[3][0];
  CHECK(runs > 5);
  CHECK(runs < 40);
}
