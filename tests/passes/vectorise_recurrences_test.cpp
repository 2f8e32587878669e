// The passes `vectorise-recurrences` (outer-loop vectorisation of recurrences) and `bucket-by-length` (length
// bucketing): eight sequences are computed in the lanes of a vector, masked to their lengths. All numbers are small
// integers, so that sums are the same in every order.
#include "compiler/passes/passes.h"

#include <bit>
#include <random>
#include <regex>

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

constexpr std::int64_t kWidth = 3, kLongest = 6, kLetters = 4, kItems = 300;

/// A loop over items of different lengths (rows offsets[n] to offsets[n + 1]) with a category ("letter") in each row,
/// and a recurrence over the rows of an item.
class Chains {
 public:
  Chains()
      : rows_(b.runtime_size("rows")),
        k_(b.constant_size("K", kWidth)),
        steps_(b.runtime_size("longest")),
        offsets(b.buffer("offsets", Role::data, {b.runtime_size("items + 1")}, Type::i64)),
        letters(b.buffer("x", Role::data, {rows_}, Type::i64)),
        table(b.buffer("G", Role::table, {b.constant_size("letters", kLetters), k_})),
        stored(b.buffer("p", Role::parameter, {rows_, k_})),
        sums(b.buffer("S", Role::statistic, {k_})),
        counts(b.buffer("C", Role::statistic, {b.constant_size("letters again", kLetters), k_})),
        row(b.buffer("row", Role::scratch, {steps_, k_})) {}

  using Body = std::function<void(ExprId item, ExprId first, ExprId length)>;

  loops::Program make(const Body& body, bool independent = true) {
    b.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
      now = b.local_array("now", {k_});
      b.for_loop(
          "n", p[0], p[1],
          [&](ExprId n) {
            const ExprId first = b.load(offsets, {n});
            body(n, first, b.let("length", b.sub(b.load(offsets, {b.add(n, b.i(1))}), first)));
          },
          independent);
    });
    return b.take();
  }
  void each(const std::function<void(ExprId)>& f) { b.for_each(b.fresh("k"), k_, f); }

  /// Adds the recurrence row[t] = row[t - 1] + G[x[t]] over the rows of an item.
  void forwards(ExprId first, ExprId length) {
    b.for_range("t", b.i(0), length, [&](ExprId t) {
      each([&](ExprId k) { b.store(now, {k}, b.load(table, {b.load(letters, {b.add(first, t)}), k})); });
      b.if_then(b.less(b.i(0), t), [&] {
        each([&](ExprId k) { b.add_to(now, {k}, b.load(row, {b.sub(t, b.i(1)), k})); });
      });
      each([&](ExprId k) { b.store(row, {t, k}, b.load(now, {k})); });
    });
  }

  Builder b;

 private:
  loops::SizeId rows_, k_, steps_;

 public:
  BufferId offsets, letters, table, stored, sums, counts, row, now;
};

bool in_lanes(const loops::Program& p) { return loops::print(p).find(" by 8") != std::string::npos; }

/// Compares both programs on items of random lengths, some of them 0, over several ranges of items.
void check_same(const loops::Program& before, const loops::Program& after) {
  std::mt19937_64 random(1);
  const auto pick = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  std::vector<double> offsets{std::bit_cast<double>(std::int64_t{0})}, letters;
  std::int64_t rows = 0;
  for (std::int64_t n = 0; n < kItems; ++n)
    offsets.push_back(std::bit_cast<double>(rows += pick(kLongest + 1)));
  for (std::int64_t t = 0; t < rows; ++t)
    letters.push_back(std::bit_cast<double>(pick(kLetters)));
  std::vector<double> table;
  for (std::int64_t k = 0; k < kLetters * kWidth; ++k)
    table.push_back(static_cast<double>(pick(9) - 4));
  const auto wide = static_cast<std::size_t>(kWidth);
  test::Buffers buffers{offsets,
                        letters,
                        table,
                        std::vector<double>(letters.size() * wide, 7),
                        std::vector<double>(wide, 1),
                        std::vector<double>(table.size(), 2)};
  buffers.resize(after.buffers.size());
  const std::vector<std::int64_t> sizes{rows, kLongest, kItems + 1};
  for (std::size_t k = 6; k < after.buffers.size(); ++k) {
    std::int64_t elements = 1;
    for (const loops::SizeId s : after.buffers[k].axes)
      elements *= after[s].constant >= 0 ? after[s].constant : sizes[static_cast<std::size_t>(after[s].slot)];
    buffers[k].resize(static_cast<std::size_t>(elements));
  }
  for (const auto& range : {std::vector<std::int64_t>{0, kItems}, {0, 21}, {0, 8}, {3, 14}, {5, 7}, {4, 5}, {9, 9}})
    test::check_same(before, after, buffers, sizes, range);
}

}  // namespace

TEST_CASE("lanes: forwards, backwards and sums of rows of different lengths") {
  Chains c;
  const loops::Program p = c.make([&](ExprId, ExprId first, ExprId length) {
    Builder& b = c.b;
    c.forwards(first, length);
    const ScalarId total = b.local("total", b.f(0));
    c.each([&](ExprId k) { b.store(c.now, {k}, b.f(1)); });
    b.for_range("back", b.i(0), length, [&](ExprId back) {
      const ExprId t = b.let("down", b.sub(b.sub(length, b.i(1)), back));
      c.each([&](ExprId k) {
        b.store(c.stored, {b.add(first, t), k}, b.add(b.load(c.row, {t, k}), b.load(c.now, {k})));
        b.add_to(c.now, {k}, b.load(c.row, {t, k}));
      });
      b.accumulate(total, b.load(c.now, {b.i(0)}));
      b.if_else(
          b.less(b.get(total), b.f(0)), [&] { c.each([&](ExprId k) { b.store(c.now, {k}, b.f(-1)); }); },
          [&] { b.assign(total, b.sub(b.get(total), b.f(1))); });
    });
    b.for_range("t", b.i(0), length, [&](ExprId t) {
      c.each([&](ExprId k) { b.add_to(c.sums, {k}, b.load(c.row, {t, k})); });
      c.each([&](ExprId k) {
        b.add_to(c.counts, {b.load(c.letters, {b.add(first, t)}), k}, b.load(c.stored, {b.add(first, t), k}));
      });
    });
    b.add_to(c.sums, {b.i(1)}, b.get(total));
    b.add_to(c.sums, {b.i(2)}, b.f(1));
  });
  const loops::Program after = loops::vectorise_recurrences(p);
  CHECK(in_lanes(after));
  // Categories are looked up in a loop before the steps, and rows of counts are added one item at a time.
  const std::string text = loops::print(after);
  CHECK(std::regex_search(text, std::regex(R"(turns.row\S+\[t\S*, turn\S*\] = select)")));
  CHECK(std::regex_search(text, std::regex(R"(for k\S* in 0 .. 3\s+C\[)")));
  check_same(p, after);
}

TEST_CASE("lanes: a failure of one item is that of all") {
  Chains c;
  const loops::Program p = c.make([&](ExprId, ExprId first, ExprId length) {
    c.forwards(first, length);
    c.b.for_range("t", c.b.i(1), length, [&](ExprId t) {
      c.b.fail_if(c.b.less(c.b.f(9), c.b.load(c.row, {t, c.b.i(0)})), 3);
    });
    c.each([&](ExprId k) { c.b.add_to(c.sums, {k}, c.b.f(1)); });
  });
  const loops::Program after = loops::vectorise_recurrences(p);
  CHECK(in_lanes(after));
  check_same(p, after);
}

TEST_CASE("lanes: what stays as it is") {
  Chains c;
  SECTION("a loop whose turns may depend on each other") {
    const loops::Program p = c.make([&](ExprId, ExprId first, ExprId length) { c.forwards(first, length); }, false);
    CHECK_FALSE(in_lanes(loops::vectorise_recurrences(p)));
  }
  SECTION("no recurrence") {
    const loops::Program p = c.make([&](ExprId, ExprId first, ExprId length) {
      c.b.for_range("t", c.b.i(0), length, [&](ExprId t) {
        c.each([&](ExprId k) { c.b.store(c.row, {t, k}, c.b.load(c.table, {c.b.load(c.letters, {first}), k})); });
      });
    });
    CHECK_FALSE(in_lanes(loops::vectorise_recurrences(p)));
  }
  SECTION("a loop that is left early") {
    const loops::Program p = c.make([&](ExprId, ExprId first, ExprId length) {
      c.forwards(first, length);
      c.b.for_range("t", c.b.i(0), length, [&](ExprId t) {
        c.b.break_if(c.b.less(c.b.load(c.row, {t, c.b.i(0)}), c.b.f(0)));
      });
    });
    CHECK_FALSE(in_lanes(loops::vectorise_recurrences(p)));
  }
  SECTION("a sum that is read") {
    const loops::Program p = c.make([&](ExprId, ExprId first, ExprId length) {
      c.forwards(first, length);
      c.each([&](ExprId k) { c.b.add_to(c.sums, {k}, c.b.load(c.sums, {c.b.i(0)})); });
    });
    CHECK_FALSE(in_lanes(loops::vectorise_recurrences(p)));
  }
}

TEST_CASE("sorted: items by the length of their rows, in windows") {
  Chains c;
  const auto is_sorted = [](const loops::Program& p) { return loops::print(p).find(" by 256") != std::string::npos; };
  SECTION("alone, and for lanes") {
    const loops::Program p = c.make([&](ExprId, ExprId first, ExprId length) {
      c.forwards(first, length);
      c.b.for_range("t", c.b.i(0), length, [&](ExprId t) {
        c.each([&](ExprId k) { c.b.store(c.stored, {c.b.add(first, t), k}, c.b.load(c.row, {t, k})); });
        c.each([&](ExprId k) { c.b.add_to(c.sums, {k}, c.b.load(c.row, {t, k})); });
      });
    });
    const loops::Program after = loops::bucket_by_length(p), both = loops::vectorise_recurrences(after);
    CHECK(is_sorted(after));
    CHECK(in_lanes(both));
    check_same(p, after);
    check_same(p, both);
  }
  SECTION("not where the items say nothing of the length") {
    CHECK_FALSE(is_sorted(loops::bucket_by_length(
        c.make([&](ExprId, ExprId first, ExprId) { c.forwards(first, c.b.load(c.offsets, {c.b.i(1)})); }))));
  }
  SECTION("not where they find it out on the way") {
    CHECK_FALSE(is_sorted(loops::bucket_by_length(c.make([&](ExprId, ExprId first, ExprId length) {
      const ScalarId end = c.b.local("end", c.b.i(0));
      c.b.assign(end, length);
      c.forwards(first, c.b.get(end));
    }))));
  }
}
