// The pass `pad-rows`: tables that the code fills get rows of whole cache lines; all others keep their rows.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

std::int64_t row_of(const loops::Program& p, BufferId b) { return p[p[b].axes.back()].constant; }

}  // namespace

TEST_CASE("rows of tables that the code fills are whole lines, all others stay") {
  Builder b;
  const loops::SizeId n = b.runtime_size("N"), k = b.constant_size("K", 20), few = b.constant_size("few", 7);
  const BufferId from = b.buffer("x", Role::data, {n, k}), table = b.buffer("T", Role::table, {n, k}),
                 narrow = b.buffer("F", Role::table, {n, k}, Type::f32),
                 short_rows = b.buffer("R", Role::table, {n, few}), stored = b.buffer("P", Role::parameter, {n, k}),
                 given = b.buffer("G", Role::table, {n, k}), sums = b.buffer("S", Role::statistic, {k});
  b.function("f", [&] {
    b.for_each("row", n, [&](ExprId row) {
      b.for_each("k", k, [&](ExprId e) {
        b.store(table, {row, e}, b.load(from, {row, e}));
        b.store(stored, {row, e}, b.load(from, {row, e}));
      });
      b.for_each("j", few, [&](ExprId e) { b.store(short_rows, {row, e}, b.load(from, {row, e})); });
    });
    b.for_each("row", n, [&](ExprId row) {
      b.for_each("k", k, [&](ExprId e) {
        b.add_to(sums, {e}, b.mul(b.load(table, {row, e}), b.load(given, {row, e})));
      });
    });
  });
  const loops::Program before = b.take(), after = loops::pad_rows(before);
  CHECK(row_of(after, table) == 24);
  CHECK(row_of(after, narrow) == 20);  // the code never fills this table
  CHECK(row_of(after, short_rows) == 7);
  CHECK(row_of(after, stored) == 20);
  CHECK(row_of(after, given) == 20);
  test::Buffers values(before.buffers.size(), std::vector<double>(std::size_t{3 * 24}));
  for (std::size_t e = 0; e < values[0].size(); ++e)
    values[0][e] = values[given.index()][e] = static_cast<double>((7 * e) % 11);
  const std::vector<std::int64_t> sizes{3};
  CHECK(loops::same_bits(test::run(before, values, sizes).buffers[sums.index()],
                         test::run(after, values, sizes).buffers[sums.index()]));
}
