// Items that read one table and add to one sum, several at a time: all numbers are small integers.
#include "compiler/passes/blocks.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using loops::BufferId;
using loops::Builder;
using loops::ExprId;
using loops::Role;
using loops::ScalarId;
using loops::Type;

namespace {

constexpr std::int64_t kItems = 11, kWidth = 20, kValues = 40;

/// Odds of an item from a table of width x values, and its sums; `chosen`: only of items whose first number is not 0.
loops::Program make(bool chosen) {
  Builder b;
  const auto n = b.runtime_size("N"), d = b.constant_size("D", kWidth), k = b.constant_size("K", kValues);
  const BufferId x = b.buffer("x", Role::data, {n, d}), table = b.buffer("G", Role::table, {d, k}),
                 sums = b.buffer("S", Role::statistic, {d, k}), largest = b.buffer("top", Role::parameter, {n});
  b.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
    const BufferId odds = b.local_array("odds", {k});
    const auto body = [&](ExprId item) {
      b.fill(odds, b.f(0));
      b.for_each("d", d, [&](ExprId j) {
        const ExprId c = b.let("c", b.load(x, {item, j}));
        b.for_each("k", k, [&](ExprId v) { b.add_to(odds, {v}, b.mul(c, b.load(table, {j, v}))); });
      });
      const ScalarId top = b.local("top", b.f(-1e9));
      b.for_each("k2", k, [&](ExprId v) { b.assign(top, b.max(b.get(top), b.load(odds, {v}))); });
      b.store(largest, {item}, b.get(top));
      b.for_each("d3", d, [&](ExprId j) {
        b.for_each("k3", k, [&](ExprId v) { b.add_to(sums, {j, v}, b.mul(b.load(x, {item, j}), b.load(odds, {v}))); });
      });
    };
    b.for_loop(
        "n", p[0], p[1],
        [&](ExprId item) {
          if (chosen) b.if_then(b.not_equal(b.load(x, {item, b.i(0)}), b.f(0)), [&] { body(item); });
          else body(item);
        },
        true);
  });
  return b.take();
}

bool in_blocks(const loops::Program& p) { return loops::print(p).find(" by 3") != std::string::npos; }

}  // namespace

TEST_CASE("blocks: a table and sums, any range of items") {
  const loops::Program before = make(false), after = loops::run_in_blocks(before);
  CHECK(in_blocks(after));
  std::vector<double> x, table;
  for (std::int64_t e = 0; e < kItems * kWidth; ++e)
    x.push_back(static_cast<double>(e * 7 % 5 - 2));
  for (std::int64_t e = 0; e < kWidth * kValues; ++e)
    table.push_back(static_cast<double>(e * 11 % 7 - 3));
  const test::Buffers buffers{x, table, std::vector<double>(table.size(), 1), std::vector<double>(kItems, 8)};
  for (const auto& range : {std::vector<std::int64_t>{0, kItems}, {0, 3}, {2, 8}, {4, 6}, {7, 7}})
    test::check_same(before, after, buffers, {kItems}, range);
}

TEST_CASE("blocks: items that differ in what they do stay one by one") {
  CHECK_FALSE(in_blocks(loops::run_in_blocks(make(true))));
}
