// The pass `block-registers` (register blocking): several items read one table and add to one sum together. All numbers
// are small integers, so that sums are the same in every order.
#include "compiler/passes/block_registers.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

constexpr std::int64_t kItems = 11, kWidth = 20, kValues = 40;

/// Returns a loop over items that computes odds from a table and adds to sums. `chosen`: only for items whose first
/// number is not 0, so that items differ in what they do.
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
  const loops::Program before = make(false), after = loops::block_registers(before);
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
  CHECK_FALSE(in_blocks(loops::block_registers(make(true))));
}

namespace {

/// What the numbers of one_after_another add besides: nothing, a number of the item, one from a row of unknown length,
/// or a total over a table.
enum class Beside { nothing, number, far, total };
/// Returns a loop over items whose numbers are updated one after another. Each is a logistic function of a row of data
/// of unknown length and of all numbers of the item, so that it waits for the one before.
loops::Program one_after_another(std::int64_t width, Beside beside) {
  Builder b;
  const auto n = b.runtime_size("N"), d = b.runtime_size("D"), k = b.constant_size("K", width);
  const BufferId x = b.buffer("x", Role::data, {n, d}), table = b.buffer("G", Role::table, {d, k}),
                 z = b.buffer("z", Role::parameter, {n, k}), sums = b.buffer("S", Role::statistic, {k}),
                 entropy = b.buffer("H", Role::statistic, {b.constant_size("one", 1)}),
                 weight = b.buffer("w", Role::data, {n}), probability = b.buffer("p", Role::parameter, {n, k}),
                 odds = b.buffer("odds", Role::parameter, {n, k});
  b.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
    const BufferId all = b.local_array("all", {k}), natural = b.local_array("natural", std::vector<loops::SizeId>{});
    b.for_loop(
        "n", p[0], p[1],
        [&](ExprId item) {
          b.fill(all, b.f(0));
          b.for_each("d", d, [&](ExprId j) {
            b.for_each("k", k, [&](ExprId f) {
              b.add_to(all, {f}, b.mul(b.load(x, {item, j}), b.load(table, {j, f})));
            });
          });
          ScalarId total;
          if (beside == Beside::total) {
            total = b.local("total", b.f(0));
            b.for_each("t", k, [&](ExprId f) { b.accumulate(total, b.load(table, {b.i(0), f})); });
          }
          b.for_each("f", k, [&](ExprId f) {
            b.store(natural, {}, b.load(all, {f}));
            if (beside == Beside::number) b.add_to(natural, {}, b.load(weight, {item}));
            if (beside == Beside::far) b.add_to(natural, {}, b.load(x, {item, b.i(0)}));
            if (beside == Beside::total) b.add_to(natural, {}, b.get(total));
            b.for_each("g", k, [&](ExprId g) { b.add_to(natural, {}, b.load(z, {item, g})); });
            const ExprId e = b.let("e", b.exp(b.neg(b.load(natural, {}))));
            b.store(probability, {item, f}, b.div(b.f(1), b.add(b.f(1), e)));
            b.store(odds, {item, f}, e);
            const ExprId last =
                b.load(odds, {item, b.i(width - 1)});  // the value of the last sweep, except in the last iteration
            b.store(z, {item, f}, b.add(b.load(probability, {item, f}), b.mul(b.f(0.125), last)));
          });
          const ScalarId logs = b.local("logs", b.f(0));
          b.for_each("h", k, [&](ExprId f) { b.accumulate(logs, b.log(b.load(z, {item, f}))); });
          b.add_to(entropy, {b.i(0)}, b.get(logs));
          b.for_each("s", k, [&](ExprId f) { b.add_to(sums, {f}, b.load(z, {item, f})); });
        },
        true);
  });
  return b.take();
}

}  // namespace

TEST_CASE("blocks: rows of unknown length, functions of all turns in one loop") {
  constexpr std::int64_t kLong = 5;  // numbers in a row of the data
  constexpr std::int64_t kItems = 37;
  const auto beside = GENERATE(Beside::nothing, Beside::number, Beside::far, Beside::total);
  const bool alone = beside == Beside::far || beside == Beside::total;
  const auto width = GENERATE(16, 13, 40);  // two groups of eight in lanes, eight groups of two
  const loops::Program before = one_after_another(width, beside), after = loops::block_registers(before);
  const std::string text = loops::print(after);
  // Sixteen items hide the latency of numbers that wait for the one before, if nothing else needs the registers.
  CHECK(text.find(!alone ? " by 16" : width == 40 ? " by 3" : " by 8") != std::string::npos);
  const bool in_lanes = !alone || (beside == Beside::total && width != 40);
  CHECK((text.find("turns.called") != std::string::npos) != in_lanes);
  CHECK((text.find("turns.z.lanes") != std::string::npos) == in_lanes);
  std::vector<double> x, table;
  for (std::int64_t e = 0; e < kItems * kLong; ++e)
    x.push_back(static_cast<double>(e * 7 % 5 - 2) / 4);
  for (std::int64_t e = 0; e < kLong * width; ++e)
    table.push_back(static_cast<double>(e * 11 % 7 - 3) / 8);
  const test::Buffers buffers{x,
                              table,
                              std::vector<double>(static_cast<std::size_t>(kItems * width), 0.25),
                              std::vector<double>(static_cast<std::size_t>(width), 1),
                              {0},
                              std::vector<double>(kItems, 0.5),
                              std::vector<double>(static_cast<std::size_t>(kItems * width), 9),
                              std::vector<double>(static_cast<std::size_t>(kItems * width), 0.5)};
  for (const auto& range : {std::vector<std::int64_t>{0, kItems}, {0, 16}, {3, 10}, {5, 37}, {7, 7}})
    test::check_same(before, after, buffers, {kItems, kLong}, range);
}

TEST_CASE("blocks: what is accumulated beside leaves fewer turns together") {
  CHECK(loops::print(loops::block_registers(one_after_another(40, Beside::far))).find(" by 3") != std::string::npos);
  for (const Beside beside : {Beside::nothing, Beside::number})
    CHECK(loops::print(loops::block_registers(one_after_another(100, beside))).find(" by ") == std::string::npos);
}
