// The pass `sink-error-checks` (sinking of error checks): a loop that could fail in each iteration fails after its end
// instead, with the same code, so that it can be vectorised.
#include "compiler/passes/passes.h"

#include <variant>

#include "compiler/loops/builder.h"
#include "compiler/loops/facts.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// A program that computes y = log(x) row by row. It fails with 7 for an element below 0 and with 9 for one above 100.
struct Logs {
  Builder b;
  loops::SizeId n = b.runtime_size("N"), k = b.constant_size("K", 8);
  BufferId x = b.buffer("x", Role::data, {n, k}), y = b.buffer("y", Role::parameter, {n, k});

  /// Makes the program. `rows` is their constant number; 0 or less means the number in the data.
  loops::Program program(std::int64_t rows = 0) {
    b.function("f", [&] {
      b.for_range("row", b.i(0), rows > 0 ? b.i(rows) : b.extent(n), [&](ExprId row) {
        b.for_each("k", k, [&](ExprId e) {
          b.fail_if(b.less(b.load(x, {row, e}), b.f(0)), 7);
          b.store(y, {row, e}, b.log(b.load(x, {row, e})));
          b.fail_if(b.less(b.f(100), b.load(x, {row, e})), 9);
        });
      });
    });
    return b.take();
  }
};

bool fails_in_innermost(const loops::Block& block, bool inside = false) {
  bool found = false;
  for (const loops::Stmt& s : block) {
    if (const auto* loop = std::get_if<loops::For>(&s.node)) {
      found = found || fails_in_innermost(loop->body, !loops::has_loop(loop->body));
    }
    if (const auto* branch = std::get_if<loops::If>(&s.node))
      found = found || fails_in_innermost(branch->then_block, inside);
    found = found || (inside && std::holds_alternative<loops::Fail>(s.node));
  }
  return found;
}

}  // namespace

TEST_CASE("an innermost loop has no way out, and fails after it with the same code") {
  Logs logs;
  const loops::Program before = logs.program(), after = loops::sink_error_checks(before);
  CHECK(fails_in_innermost(before.functions[0].body));
  CHECK(!fails_in_innermost(after.functions[0].body));
  const auto status = [&](double odd) {
    test::Buffers values{std::vector<double>(24, 4.0), std::vector<double>(24)};
    values[0][6] = odd;
    const auto one = test::run(before, values, {3}), other = test::run(after, values, {3});
    CHECK(one.status == other.status);
    if (one.status == 0) CHECK(loops::same_bits(one.buffers[1], other.buffers[1]));
    return other.status;
  };
  CHECK(status(9) == 0);
  CHECK(status(-1) == 7);
  CHECK(status(101) == 9);
}

TEST_CASE("in a loop of few turns nothing is gained") {
  const loops::Program few = Logs().program(2), many = Logs().program(16);
  CHECK(fails_in_innermost(loops::sink_error_checks(few).functions[0].body));
  CHECK(!fails_in_innermost(loops::sink_error_checks(many).functions[0].body));
}

TEST_CASE("a loop under a condition in a loop is reached") {
  loops::Program p = Logs().program();
  auto& rows = std::get<loops::For>(p.functions[0].body[0].node);
  const ExprId some = std::get<loops::If>(std::get<loops::For>(rows.body[0].node).body[0].node).condition;
  rows.body = {loops::Stmt{loops::If{some, std::move(rows.body), {}}}};
  CHECK(fails_in_innermost(p.functions[0].body));
  CHECK(!fails_in_innermost(loops::sink_error_checks(p).functions[0].body));
}
