// Fuzz test of the passes: random loops over items in the form that lowering makes, in which each iteration fills the
// scratch that it reads. No pass may change a bit of the results.
#include <random>
#include <set>

#include "compiler/loops/builder.h"
#include "compiler/passes/passes.h"
#include "tests/passes/run.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

constexpr std::int64_t kItems = 4, kWidth = 3;

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {
    const auto n = b_.runtime_size("N"), k = b_.constant_size("K", kWidth);
    data_ = {b_.buffer("x", Role::data, {n, k})};
    tables_ = {b_.buffer("G", Role::table, {k}), b_.buffer("H", Role::table, {k})};
    slices_ = {b_.buffer("p", Role::parameter, {n, k}), b_.buffer("q", Role::expectation, {n, k}),
               b_.buffer("r", Role::parameter, {n, k})};
    sums_ = b_.buffer("S", Role::statistic, {k});
  }

  void check() {
    b_.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const Builder::Indices& p) {
      for (const char* name : {"a", "c", "d", "e"})
        scratch_.push_back(b_.local_array(name, std::vector<std::int64_t>{kWidth}));
      outer_ = b_.local("outer", b_.f(0));
      if (pick(3) == 0) define(scratch_[0]);
      b_.for_loop("n", p[0], p[1], [&](ExprId n) {
        item_ = n;
        if (defined_.contains(scratch_[0])) shared_ = scratch_[0];
        for (int k = 0; k < 9; ++k)
          statement();
      });
      if (shared_.valid()) each([&](ExprId k) { b_.add_to(sums_, {k}, b_.load(shared_, {k})); });
      b_.add_to(sums_, {b_.i(0)}, b_.get(outer_));
    });
    const loops::Program p = b_.take();
    std::uniform_real_distribution<double> value(-2, 2);
    test::Buffers buffers(p.buffers.size());
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      if (p.buffers[k].role == Role::scratch) continue;
      buffers[k].resize(static_cast<std::size_t>(p.buffers[k].axes.size() == 2 ? kItems * kWidth : kWidth));
      for (double& x : buffers[k])
        x = value(random_);
    }
    test::check_round_trip(p);
    for (const loops::Pass& pass : loops::passes()) {
      const loops::Program after = pass.run(p);
      const bool differs = loops::print(after) != loops::print(p);
      if (differs) test::check_round_trip(after);
      changed += differs;
      for (const auto& range : {std::vector<std::int64_t>{0, kItems}, {1, 2}, {2, 2}})
        test::check_same(p, after, buffers, {kItems}, range);
    }
  }

  static inline int changed = 0;

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[static_cast<std::size_t>(pick(static_cast<int>(of.size())))];
  }
  void each(const std::function<void(ExprId)>& body) { b_.for_loop(b_.fresh("k"), b_.i(0), b_.i(kWidth), body); }

  /// Returns a random operand for element k: data, a table, scratch that is filled, a scalar or a constant.
  ExprId number(ExprId k) {
    switch (pick(8)) {
      case 0:
        return item_.valid() && pick(2) ? b_.load(data_[0], {item_, k}) : b_.load(any(tables_), {k});
      case 1:
        return item_.valid() && pick(2) ? b_.load(any(slices_), {pick(5) ? item_ : b_.i(1), k}) : b_.f(0.5);
      case 2:
      case 3: {
        std::vector<BufferId> defined(defined_.begin(), defined_.end());
        return defined.empty() ? b_.f(1) : b_.load(any(defined), {pick(4) ? k : b_.i(0)});
      }
      case 4:
        return scalars_.empty() ? b_.f(-1) : b_.get(any(scalars_));
      default:
        return b_.load(any(tables_), {k});
    }
  }
  ExprId value(ExprId k) {
    const ExprId a = number(k), b = number(k);
    switch (pick(4)) {
      case 0:
        return b_.mul(a, b);
      case 1:
        return b_.exp(b_.neg(b_.abs(a)));
      default:
        return b_.add(b_.mul(b_.f(0.5), a), b_.mul(b_.f(0.25), b));
    }
  }

  void define(BufferId a) {
    if (pick(3)) {
      each([&](ExprId k) { b_.store(a, {k}, value(k)); });
    } else {
      b_.fill(a, b_.f(0.25));
    }
    defined_.insert(a);
  }

  void statement() {
    switch (pick(10)) {
      case 0:
      case 1:
        return define(any(scratch_));
      case 2:
      case 3:
        return each([&](ExprId k) { b_.store(any(slices_), {item_, k}, value(k)); });
      case 4:
        return each([&](ExprId k) { b_.add_to(sums_, {k}, value(k)); });
      case 5: {
        scalars_.push_back(b_.local(b_.fresh("s"), number(b_.i(1))));
        const ScalarId s = scalars_.back();
        return each([&](ExprId k) { b_.accumulate(s, value(k)); });
      }
      case 6: {
        const BufferId a = any(scratch_);
        if (!defined_.contains(a)) return define(a);
        return each([&](ExprId k) { b_.add_to(a, {k}, value(k)); });
      }
      case 7: {
        const BufferId a = any(scratch_);
        if (!defined_.contains(a)) return define(a);
        const ExprId if_small = pick(2) ? b_.less(b_.load(any(tables_), {b_.i(0)}), b_.f(0)) : b_.less(item_, b_.i(2));
        return b_.if_then(if_small, [&] { each([&](ExprId k) { b_.store(a, {k}, value(k)); }); });
      }
      case 8:
        if (!scalars_.empty()) return b_.accumulate(any(scalars_), number(b_.i(2)));
        return b_.accumulate(outer_, number(b_.i(0)));
      default:
        return b_.accumulate(outer_, number(b_.i(0)));
    }
  }

  std::mt19937_64 random_;
  Builder b_;
  std::vector<BufferId> data_, tables_, slices_, scratch_;
  BufferId sums_, shared_;
  std::set<BufferId> defined_;
  std::vector<ScalarId> scalars_;
  ScalarId outer_;
  ExprId item_;
};

}  // namespace

TEST_CASE("passes change no bit of random programs") {
  Maker::changed = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    INFO("seed " << seed);
    Maker(seed).check();
  }
  CHECK(Maker::changed > 300);
}
