// The pass `vectorise-short-items` (outer-loop vectorisation): items with short inner loops are put into the lanes of a
// vector. All numbers are small integers, so that sums are the same in every order.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

constexpr std::int64_t kItems = 37, kLetters = 3;

enum class Items { squares, first, letters, alone, wide, runtime };

/// Returns a loop over items that computes x' G x from `width` numbers x, writes a row of parameters and adds to sums.
/// It fails if the value is above `limit`. Kinds: `first` also reads the row of the first item; `letters` a table row
/// that the data name; `alone` has no sums; `wide` has a work array too large for lanes; `runtime` has loops whose
/// length only the data tell.
loops::Program make(Items kind, std::int64_t width, double limit) {
  Builder b;
  const SizeId n = b.runtime_size("N"), d = kind == Items::runtime ? b.runtime_size("D") : b.constant_size("D", width),
               letters = b.constant_size("letters", kLetters);
  const BufferId x = b.buffer("x", Role::data, {n, d}), table = b.buffer("G", Role::table, {d, d}),
                 word = b.buffer("w", Role::data, {n}, Type::i64), row = b.buffer("row", Role::table, {letters, d}),
                 stored = b.buffer("p", Role::parameter, {n, d}), sums = b.buffer("S", Role::statistic, {d, d}),
                 count = b.buffer("C", Role::statistic, {b.constant_size("one", 1)});
  b.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
    const BufferId wide = b.local_array("wide", {b.constant_size("many", 2000)});
    b.for_loop(
        "n", p[0], p[1],
        [&](ExprId item) {
          if (kind == Items::wide) b.store(wide, {b.i(0)}, b.load(x, {item, b.i(0)}));
          const ScalarId square = b.local("square", b.f(0));
          b.for_each("i", d, [&](ExprId i) {
            b.for_range("j", b.i(0), b.add(i, b.i(1)), [&](ExprId j) {
              const ExprId both = b.mul(b.load(x, {item, i}), b.load(x, {kind == Items::first ? b.i(0) : item, j}));
              b.accumulate(square, b.mul(both, b.load(table, {i, j})));
            });
          });
          b.fail_if(b.less(b.f(limit), b.get(square)), 7);
          b.for_each("k", d, [&](ExprId k) { b.store(stored, {item, k}, b.mul(b.get(square), b.load(x, {item, k}))); });
          if (kind == Items::letters) {
            b.for_each("l", d, [&](ExprId l) { b.accumulate(square, b.load(row, {b.load(word, {item}), l})); });
          }
          if (kind == Items::alone) return;
          b.for_each("s", d, [&](ExprId s) {
            const ExprId c = b.let("c", b.mul(b.get(square), b.load(stored, {item, s})));
            b.for_each("t", d, [&](ExprId t) { b.add_to(sums, {s, t}, b.mul(c, b.load(x, {item, t}))); });
          });
          b.add_to(count, {b.i(0)}, b.get(square));
          if (kind == Items::wide) b.add_to(count, {b.i(0)}, b.load(wide, {b.i(0)}));
        },
        true);
  });
  return b.take();
}

bool in_lanes(const loops::Program& p) { return loops::print(p).find(" by 8") != std::string::npos; }

test::Buffers values(std::int64_t width) {
  std::vector<double> x, table;
  for (std::int64_t e = 0; e < kItems * width; ++e)
    x.push_back(static_cast<double>(e * 7 % 5 - 2));
  for (std::int64_t e = 0; e < width * width; ++e)
    table.push_back(static_cast<double>(e * 11 % 7 - 3));
  const auto wide = static_cast<std::size_t>(width);
  return {x,
          table,
          std::vector<double>(kItems, 0),
          std::vector<double>(kLetters * wide, 2),
          std::vector<double>(x.size(), 9),
          std::vector<double>(table.size(), 1),
          {3}};
}

void check_ranges(std::int64_t width, double limit, Items kind = Items::squares) {
  const loops::Program before = make(kind, width, limit), after = loops::vectorise_short_items(before);
  CHECK(in_lanes(after));
  for (const auto& range : {std::vector<std::int64_t>{0, kItems}, {0, 8}, {3, 19}, {0, 7}, {30, 31}, {5, 5}})
    test::check_same(before, after, values(width), {kItems}, range);
}

}  // namespace

TEST_CASE("short: rows, triangles and sums of items, any range of them") { check_ranges(GENERATE(2, 3, 8, 11), 1e9); }

TEST_CASE("short: the row of an item that is no row of each") { check_ranges(5, 1e9, Items::first); }

TEST_CASE("short: a failure of one item is that of all") { check_ranges(4, 12); }

TEST_CASE("short: rows of the data are turned over once") {
  const std::string text = loops::print(loops::vectorise_short_items(make(Items::squares, 4, 1e9)));
  const std::string lanes = text.substr(text.find("else"));
  std::size_t loads = 0;
  for (std::size_t at = 0; (at = lanes.find(" x[", at)) != std::string::npos; ++at)
    ++loads;
  CHECK(loads == 1);
}

TEST_CASE("short: items that stay as they are") {
  CHECK_FALSE(in_lanes(loops::vectorise_short_items(make(Items::letters, 4, 1e9))));
  CHECK_FALSE(in_lanes(loops::vectorise_short_items(make(Items::alone, 4, 1e9))));
  CHECK_FALSE(in_lanes(loops::vectorise_short_items(make(Items::wide, 4, 1e9))));
  CHECK_FALSE(in_lanes(loops::vectorise_short_items(make(Items::runtime, 4, 1e9))));
}

TEST_CASE("short: vectors along loops that fill them") {
  const auto width = GENERATE(2, 16, 40);  // length of the inner loop
  Builder b;
  const SizeId n = b.runtime_size("N"), d = b.constant_size("D", 64), k = b.constant_size("K", width);
  const BufferId x = b.buffer("x", Role::data, {n, d}), table = b.buffer("G", Role::table, {d, k}),
                 sums = b.buffer("S", Role::statistic, {k});
  b.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
    const BufferId odds = b.local_array("odds", {k});
    b.for_loop(
        "n", p[0], p[1],
        [&](ExprId item) {
          b.fill(odds, b.f(0));
          b.for_each("d", d, [&](ExprId j) {
            const ExprId c = b.let("c", b.load(x, {item, j}));
            b.for_each("k", k, [&](ExprId v) { b.add_to(odds, {v}, b.mul(c, b.load(table, {j, v}))); });
          });
          b.for_each("e", k, [&](ExprId v) { b.add_to(sums, {v}, b.exp(b.load(odds, {v}))); });
        },
        true);
  });
  CHECK_FALSE(in_lanes(loops::vectorise_short_items(b.take())));
}
