// The pass `vectorise-short-items` on parallel regions: iterations over clusters become lanes. Also the interchange of
// loops that makes rows the outermost axis. All numbers are small integers, so that sums are the same in every order.
#include <sstream>

#include "compiler/loops/builder.h"
#include "compiler/passes/outermost.h"
#include "compiler/passes/passes.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

constexpr std::int64_t kIterations = 19, kWidth = 3;

/// A function over a range of clusters, which is a parallel region ("phase") of a second function.
struct Clusters {
  Builder b;
  const SizeId k = b.constant_size("K", kIterations), d = b.constant_size("D", kWidth);
  const BufferId mean = b.buffer("mean", Role::parameter, {k, d}),
                 scale = b.buffer("scale", Role::parameter, {k, d, d}),
                 square = b.buffer("square", Role::expectation, {k, d, d}), count = b.buffer("count", Role::table, {k}),
                 sums = b.buffer("sums", Role::table, {d, k}), weights = b.buffer("weights", Role::data, {d}),
                 total = b.buffer("total", Role::output, {b.constant_size("two", 2)});
  ScalarId sum, other;

  using Body = std::function<void(ExprId index)>;
  Program phase(const std::vector<Body>& loops, std::int64_t trip_count = kIterations) {
    b.function("f.0", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
      sum = b.local("sum", b.f(0)), other = b.local("other", b.f(1));
      for (const Body& body : loops)
        b.for_loop(b.fresh("k"), p[0], p[1], body, true);
      b.store(total, {b.i(0)}, b.get(sum));
      b.store(total, {b.i(1)}, b.get(other));
    });
    const ExprId all = b.i(trip_count);
    b.function("f", [&] { b.store(total, {b.i(1)}, b.f(2)); });
    Program out = b.take();
    out.functions[1].regions.push_back({0, all, {}});
    return out;
  }
  void each(const Body& body) { b.for_each(b.fresh("d"), d, body); }
  ExprId function_of(ExprId x) { return b.mul(b.f(0), b.exp(x)); }

  /// Returns true if the pass puts iterations into lanes; all ranges must give the same results.
  bool in_lanes(const Program& before) {
    const Program after = loops::vectorise_short_items(before);
    for (const auto& range : {std::vector<std::int64_t>{0, kIterations}, {0, 8}, {3, 18}, {2, 5}, {7, 7}}) {
      test::Buffers values;
      for (const auto& [buffer, n] : {std::pair(mean, kWidth), {scale, kWidth * kWidth}, {square, kWidth * kWidth}}) {
        values.emplace_back();
        for (std::int64_t e = 0; e < kIterations * n; ++e)
          values.back().push_back(static_cast<double>((e * 7 + static_cast<std::int64_t>(buffer.index())) % 5 - 2));
      }
      values.emplace_back(kIterations, 3);
      values.emplace_back(kIterations * kWidth, -1);
      values.push_back({1, 0, 2});
      values.emplace_back(2, 0);
      test::check_same(before, after, values, {}, range);
    }
    return loops::print(after).find(" by 8") != std::string::npos;
  }
};

std::size_t occurrences(const std::string& text, const std::string& of) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(of, at)) != std::string::npos; ++at)
    ++out;
  return out;
}

}  // namespace

TEST_CASE("phases: rows are read, stored as a whole, changed piece by piece, and added to numbers outside") {
  Clusters x;
  Builder& b = x.b;
  const Program p = x.phase({[&](ExprId k) {
    x.each([&](ExprId i) {
      x.each([&](ExprId j) {  // the pass starts lanes here
        b.store(x.square, {k, i, j}, b.mul(b.load(x.mean, {k, i}), b.load(x.scale, {k, j, i})));
      });
    });
    b.add_to(x.count, {k}, x.function_of(b.load(x.count, {k})));
    b.if_then(b.less(b.f(0), b.load(x.count, {k})), [&] {
      b.store(x.scale, {k, b.i(1), b.i(2)}, b.load(x.square, {k, b.i(2), b.i(0)}));
    });
    x.each([&](ExprId i) {
      b.add_to(x.sums, {i, k}, b.load(x.scale, {k, b.i(1), b.i(2)}));
      b.accumulate(x.sum, b.load(x.square, {k, i, b.i(1)}));
      b.accumulate(x.other, b.f(1));
    });
  }});
  CHECK(x.in_lanes(p));
}

TEST_CASE("phases: what is read before a row is stored is read where it was") {
  Clusters x;
  Builder& b = x.b;
  const Program p = x.phase({[&](ExprId k) {
    const ExprId before = b.let("before", b.load(x.mean, {k, b.i(2)}));
    b.if_then(b.less(b.f(0), b.load(x.weights, {b.i(0)})), [&] {
      x.each([&](ExprId i) { b.accumulate(x.sum, b.load(x.mean, {k, i})); });
    });
    x.each([&](ExprId i) {
      b.store(x.mean, {k, i}, b.add(before, b.add(b.load(x.sums, {i, k}), x.function_of(b.load(x.count, {k})))));
    });
    x.each([&](ExprId i) {
      x.each([&](ExprId j) { b.accumulate(x.other, b.mul(b.load(x.mean, {k, i}), b.to_f64(j))); });
    });
  }});
  CHECK(x.in_lanes(p));
  const std::string text = loops::print(loops::vectorise_short_items(p));
  const std::string lanes = text.substr(text.find("else"));
  std::istringstream lines(lanes);
  bool has_row = false;
  for (std::string line; std::getline(lines, line);) {
    const bool in_row = line.find("turns.mean.row") != std::string::npos;
    has_row = has_row || in_row;
    CHECK_FALSE(
        (in_row && line.find("= mean[") != std::string::npos));  // an array that is transposed already is not copied
  }
  CHECK(has_row);
}

TEST_CASE("phases: a row of which loops store a part keeps the rest") {
  Clusters x;
  Builder& b = x.b;
  const Program p = x.phase({[&](ExprId k) {
    b.for_range("i", b.i(0), b.i(2), [&](ExprId i) {
      b.store(x.mean, {k, i}, b.add(b.load(x.sums, {i, k}), x.function_of(b.load(x.count, {k}))));
    });
    x.each([&](ExprId i) { x.each([&](ExprId) { b.accumulate(x.sum, b.load(x.mean, {k, i})); }); });
  }});
  CHECK(x.in_lanes(p));
}

TEST_CASE("phases: loops over the same turns are one") {
  Clusters x;
  Builder& b = x.b;
  const std::vector<Clusters::Body> loops{
      [&](ExprId k) { x.each([&](ExprId i) {
                        b.store(x.mean, {k, i}, b.load(x.sums, {i, k}));
                      }); },
      [&](ExprId k) {
        b.accumulate(x.sum, b.add(b.load(x.count, {k}), x.function_of(b.load(x.mean, {k, b.i(0)}))));
      },
      [&](ExprId k) { x.each([&](ExprId i) {
                        b.accumulate(x.other, b.load(x.mean, {k, i}));
                      }); }};
  const Program p = x.phase(loops);
  CHECK(x.in_lanes(p));
  CHECK(occurrences(loops::print(loops::vectorise_short_items(p)), " by 8") == 1);
}

TEST_CASE("phases: a number that turns read, too few turns, and the rows of others stay as they are") {
  Clusters reads, few, others;
  const auto body = [](Clusters& x, const Clusters::Body& more) {
    return [&x, more](ExprId k) {
      x.each([&](ExprId i) {
        x.each([&](ExprId j) {
          x.b.accumulate(x.sum, x.b.mul(x.b.load(x.scale, {k, i, j}), x.b.load(x.mean, {k, j})));
        });
      });
      x.b.accumulate(x.sum, x.function_of(x.b.load(x.count, {k})));
      more(k);
    };
  };
  CHECK_FALSE(reads.in_lanes(
      reads.phase({body(reads, [&](ExprId k) { reads.b.store(reads.count, {k}, reads.b.get(reads.sum)); })})));
  // Without a parallel region of known length, the loop is one over items and must stay as it is.
  Clusters& x = few;
  Program p = x.phase({body(x, [](ExprId) {})});
  p.functions[1].regions.clear();
  CHECK_FALSE(x.in_lanes(p));
  Clusters& y = others;
  CHECK(y.in_lanes(y.phase({body(y, [&](ExprId) {
    y.b.accumulate(y.other, y.b.load(y.mean, {y.b.i(0), y.b.i(1)}));
  })})));
}

TEST_CASE("outermost: rows that the innermost index tells apart") {
  struct Nest {
    Builder b;
    SizeId i, k;
    BufferId rows = {}, columns = {}, out = {};
    explicit Nest(std::int64_t width = 9) : i(b.constant_size("I", 4)), k(b.constant_size("K", width)) {
      rows = b.buffer("rows", Role::expectation, {k, i}), columns = b.buffer("columns", Role::statistic, {i, k});
      out = b.buffer("out", Role::table, {i, k});
    }
    std::optional<loops::Stmt> interchanged(const std::function<void(ExprId i, ExprId k)>& body) {
      b.function("f",
                 [&] { b.for_each("i", i, [&](ExprId x) { b.for_each("k", k, [&](ExprId y) { body(x, y); }); }); });
      const Program p = b.take();
      std::optional<loops::Stmt> to = loops::interchanged(p, p.functions[0].body[0]);
      if (!to) return to;
      Program after = p;
      after.functions[0].body[0] = *to;
      test::Buffers values(3, std::vector<double>(static_cast<std::size_t>(4 * p[k].constant), 1));
      for (std::size_t e = 0; e < values[0].size(); ++e)
        values[0][e] = static_cast<double>(e % 7);
      test::check_same(p, after, values, {});
      return to;
    }
  };
  Nest table, both, shifted, stored;
  const auto to = table.interchanged([&](ExprId i, ExprId k) {
    table.b.add_to(table.out, {i, k}, table.b.load(table.rows, {k, i}));
  });
  REQUIRE(to);
  CHECK(std::get<loops::Store>(std::get<loops::For>(std::get<loops::For>(to->node).body[0].node).body[0].node).buffer ==
        table.out);
  Nest seven(7);
  CHECK_FALSE(seven.interchanged([&](ExprId i, ExprId k) {
    seven.b.add_to(seven.out, {i, k}, seven.b.load(seven.rows, {k, i}));
  }));
  CHECK_FALSE(both.interchanged([&](ExprId i, ExprId k) {
    both.b.add_to(both.out, {i, k}, both.b.mul(both.b.load(both.columns, {i, k}), both.b.load(both.rows, {k, i})));
  }));
  CHECK_FALSE(shifted.interchanged([&](ExprId i, ExprId k) {
    shifted.b.add_to(shifted.out, {i, k}, shifted.b.load(shifted.rows, {shifted.b.sub(shifted.b.i(8), k), i}));
  }));
  CHECK_FALSE(stored.interchanged([&](ExprId i, ExprId k) {
    stored.b.store(stored.out, {i, k}, stored.b.load(stored.rows, {k, i}));
  }));
}
