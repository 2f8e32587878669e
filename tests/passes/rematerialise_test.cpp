// The pass `rematerialise` (rematerialisation): which arrays are computed again where they are read, and which must be
// stored. Each program must compute the same.
#include "compiler/passes/passes.h"

#include "compiler/loops/builder.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

/// The least length of an array that the pass computes again (the threshold rematerialise.in_memory).
constexpr std::int64_t kInMemory = 16;

/// A program that multiplies each row by a vector into an array, sums it, and adds the array times the sum to a
/// statistic. The array can be computed twice instead of being stored.
struct Products {
  explicit Products(std::int64_t width = kInMemory + 3) : k(b.constant_size("K", width)) {}

  Builder b;
  const loops::SizeId k, n = b.runtime_size("N");
  const BufferId x = b.buffer("x", Role::data, {n, k}), w = b.buffer("w", Role::table, {k}),
                 sums = b.buffer("S", Role::statistic, {k});
  BufferId product;
  std::function<ExprId(ExprId row, ExprId e)> value = [this](ExprId row, ExprId e) {
    return b.mul(b.load(x, {row, e}), b.load(w, {e}));
  };
  std::function<void()> between = [] {}, after = [] {};

  void each(const std::function<void(ExprId)>& body) { b.for_each(b.fresh("k"), k, body); }

  /// Returns true if the pass has removed the array of products.
  bool goes() {
    b.function("f", [&] {
      product = b.local_array("product", {k});
      b.for_each("row", n, [&](ExprId row) {
        const loops::ScalarId sum = b.local("sum", b.f(0));
        each([&](ExprId e) {
          const ExprId p = b.let("p", value(row, e));
          b.store(product, {e}, p);
          b.accumulate(sum, p);
        });
        between();
        each([&](ExprId e) { b.add_to(sums, {e}, b.mul(b.get(sum), b.load(product, {e}))); });
      });
      after();
    });
    const loops::Program before = b.take(), done = loops::rematerialise(before);
    test::Buffers values(before.buffers.size());
    for (std::vector<double>& all : values) {
      for (std::size_t e = 0; e < 3 * static_cast<std::size_t>(kInMemory + 3); ++e)
        all.push_back(0.25 * static_cast<double>((7 * e) % 11));
    }
    test::check_same(before, done, values, {3});
    return loops::print(done).find("product[k") == std::string::npos;
  }
};

}  // namespace

TEST_CASE("products of what stays are computed where they are read") {
  CHECK(Products().goes());
  Products sum;
  sum.value = [&](ExprId row, ExprId e) { return sum.b.sub(sum.b.load(sum.x, {row, e}), sum.b.f(2)); };
  CHECK(sum.goes());
}

TEST_CASE("what fits into registers, or costs more than two loads and a few products, is kept") {
  CHECK(!Products(kInMemory - 1).goes());
  Products quotient, call, three;
  quotient.value = [&](ExprId row, ExprId e) {
    return quotient.b.div(quotient.b.load(quotient.x, {row, e}), quotient.b.f(3));
  };
  CHECK(!quotient.goes());
  call.value = [&](ExprId row, ExprId e) { return call.b.exp(call.b.load(call.x, {row, e})); };
  CHECK(!call.goes());
  three.value = [&](ExprId row, ExprId e) {
    Builder& b = three.b;
    return b.mul(b.load(three.w, {e}), b.add(b.load(three.x, {row, e}), b.load(three.x, {row, b.i(1)})));
  };
  CHECK(!three.goes());
}

TEST_CASE("what is made of numbers that change is kept") {
  Products table, self;
  table.between = [&] { table.b.store(table.w, {table.b.i(1)}, table.b.f(5)); };
  CHECK(!table.goes());
  self.value = [&](ExprId row, ExprId e) {
    return self.b.mul(self.b.load(self.x, {row, e}), self.b.load(self.sums, {e}));
  };
  CHECK(!self.goes());
}

TEST_CASE("what is changed in some turns, or read elsewhere, is kept") {
  Products changed, read;
  changed.between = [&] {
    changed.b.if_then(changed.b.less(changed.b.load(changed.w, {changed.b.i(2)}), changed.b.f(1)),
                      [&] { changed.each([&](ExprId e) { changed.b.store(changed.product, {e}, changed.b.f(2)); }); });
  };
  CHECK(!changed.goes());
  read.after = [&] { read.b.add_to(read.sums, {read.b.i(0)}, read.b.load(read.product, {read.b.i(7)})); };
  CHECK(!read.goes());
}

TEST_CASE("what all parts of a sum are multiplied by is multiplied by once") {
  Products x;
  Builder& b = x.b;
  b.function("f", [&] {
    x.product = b.local_array("product", {x.k});
    const BufferId other = b.local_array("other", {x.k});
    x.each([&](ExprId e) {
      b.store(x.product, {e}, x.value(b.i(0), e));
      b.store(other, {e}, x.value(b.i(1), e));
    });
    x.each([&](ExprId e) {
      b.add_to(x.sums, {e}, b.add(b.mul(b.f(2), b.load(x.product, {e})), b.mul(b.f(3), b.load(other, {e}))));
    });
  });
  const loops::Program before = b.take(), done = loops::rematerialise(before);
  test::Buffers values(before.buffers.size());
  for (std::vector<double>& all : values) {
    for (std::size_t e = 0; e < 3 * static_cast<std::size_t>(kInMemory + 3); ++e)
      all.push_back(0.25 * static_cast<double>((7 * e) % 11));
  }
  test::check_same(before, done, values, {3});
  const std::string text = loops::print(done);
  CHECK(text.find("w[k", text.find("w[k") + 1) == std::string::npos);
}
