// The verifier of parallel regions: programs in which iterations could interfere with each other must be reported, and
// similar correct programs must not.
#include "compiler/loops/verify_regions.h"

#include <catch2/catch.hpp>

#include "compiler/loops/builder.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// A function with two parallel regions ("phases") over rows.
struct Region {
  Builder b;
  const loops::SizeId n = b.runtime_size("N"), k = b.constant_size("K", 4);
  const BufferId from = b.buffer("x", Role::data, {n, k}), to = b.buffer("p", Role::parameter, {n, k}),
                 table = b.buffer("t", Role::table, {k}), statistic = b.buffer("S", Role::statistic, {k}),
                 natural = b.buffer("l", Role::natural, {n}), scratch = b.buffer("s", Role::scratch, {k}),
                 sums = b.buffer("sums", Role::scratch, {b.constant_size("one", 1)});

  using Row = std::function<void(ExprId row)>;
  /// Returns the problems of a program whose regions have the bodies `first` and `second`; `after` is the rest of the
  /// function that they belong to.
  std::vector<std::string> problems(const Row& first, const Row& second, const std::function<void()>& after) {
    for (const Row* row : {&first, &second}) {
      b.function(b.fresh("f."), {{"begin", Type::i64}, {"end", Type::i64}},
                 [&](const Builder::Indices& p) { b.for_loop(b.fresh("n"), p[0], p[1], *row); });
    }
    const ExprId rows = b.extent(n);
    b.function("f", after);
    loops::Program out = b.take();
    out.functions[2].regions = {{0, rows, sums}, {1, rows, {}}};
    return loops::verify_regions(out);
  }
  std::vector<std::string> problems(const Row& first) {
    return problems(
        first, [](ExprId) {}, [] {});
  }
  /// Returns the problems of a function over a range of items with this body, which is not a region of another
  /// function.
  std::vector<std::string> of_items(const Row& row) {
    b.function("items", {{"begin", Type::i64}, {"end", Type::i64}},
               [&](const Builder::Indices& p) { b.for_loop("n", p[0], p[1], row); });
    return loops::verify_regions(b.take());
  }
  void check(const std::vector<std::string>& problems, const std::string& message) {
    for (const std::string& p : problems)
      UNSCOPED_INFO(p);
    if (message.empty()) CHECK(problems.empty());
    else CHECK((problems.size() == 1 && problems[0].find(message) != std::string::npos));
  }
};

}  // namespace

TEST_CASE("a region that keeps to its own rows, its scratch and its sums is right") {
  Region x;
  Builder& b = x.b;
  x.check(x.problems([&](ExprId n) {
    b.store(x.scratch, {b.i(0)}, b.load(x.from, {n, b.i(1)}));
    b.store(x.to, {n, b.i(2)}, b.load(x.scratch, {b.i(0)}));
    b.add_to(x.sums, {b.i(0)}, b.load(x.to, {n, b.i(2)}));
  }),
          "");
}

TEST_CASE("scratch of a region is private") {
  SECTION("and not read by its function") {
    Region x;
    x.check(x.problems([&](ExprId n) { x.b.store(x.natural, {n}, x.b.f(1)); }, [](ExprId) {},
                       [&] { x.b.store(x.table, {x.b.i(0)}, x.b.load(x.natural, {x.b.i(0)})); }),
            "`l` is private to a parallel region");
  }
  SECTION("nor by another phase") {
    Region x;
    x.check(x.problems([&](ExprId n) { x.b.store(x.natural, {n}, x.b.f(1)); },
                       [&](ExprId n) {
                         x.b.store(x.to, {n, x.b.i(0)}, x.b.load(x.natural, {n}));
                       },
                       [] {}),
            "`l` is private to a parallel region");
  }
  SECTION("nor filled by its function before") {
    Region x;
    x.check(x.problems([&](ExprId n) { x.b.add_to(x.natural, {n}, x.b.f(1)); }, [](ExprId) {},
                       [&] { x.b.fill(x.natural, x.b.f(0)); }),
            "`l` is private to a parallel region");
  }
  SECTION("and stored by the call that reads it") {
    Region x;
    x.check(x.of_items([&](ExprId n) {
      x.b.store(x.to, {n, x.b.i(0)}, x.b.load(x.scratch, {x.b.i(0)}));
    }),
            "`s` is scratch that is read and never stored");
  }
}

TEST_CASE("sums of a region are added to, and not read") {
  SECTION("a sum that is read early") {
    Region x;
    x.check(x.of_items([&](ExprId n) {
      x.b.add_to(x.statistic, {x.b.i(0)}, x.b.load(x.from, {n, x.b.i(0)}));
      x.b.store(x.to, {n, x.b.i(0)}, x.b.load(x.statistic, {x.b.i(0)}));
    }),
            "`S` is a sum of a parallel region that it reads");
  }
  SECTION("a sum that is stored") {
    Region x;
    x.check(x.of_items([&](ExprId n) {
      x.b.store(x.statistic, {x.b.i(0)}, x.b.load(x.from, {n, x.b.i(0)}));
    }),
            "`S` is stored in a parallel region");
  }
  SECTION("a table that is added to as if it were one") {
    Region x;
    x.check(x.problems([&](ExprId n) {
      x.b.add_to(x.table, {x.b.i(1)}, x.b.load(x.from, {n, x.b.i(0)}));
    }),
            "`t` is stored in a parallel region");
  }
}

TEST_CASE("what regions share is touched row by row") {
  SECTION("a place that all iterations store to") {
    Region x;
    x.check(x.problems([&](ExprId n) {
      x.b.store(x.table, {x.b.i(0)}, x.b.load(x.from, {n, x.b.i(0)}));
    }),
            "`t` is stored in a parallel region at a place");
  }
  SECTION("rows of others") {
    Region x;
    x.check(x.problems([&](ExprId n) {
      x.b.store(x.to, {n, x.b.i(0)}, x.b.load(x.to, {x.b.i(0), x.b.i(0)}));
    }),
            "`p` is stored in a parallel region that reads places of others");
  }
  SECTION("an array that is filled") {
    Region x;
    x.check(x.problems([&](ExprId) { x.b.fill(x.to, x.b.f(0)); }), "`p` is filled as a whole");
  }
}
