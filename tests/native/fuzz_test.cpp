// Fuzz test of the code generation: random well-formed programs must give the same results in the interpreter and as
// native code. Branches depend only on data and indices, stored values are mapped into (-1, 1), and most functions are
// contractions, so that rounding errors cannot grow.
#include <random>

#include "compiler/passes/passes.h"
#include "tests/native/harness.h"

using namespace lehr;
using namespace lehr::loops;

namespace {

class ProgramMaker {
 public:
  explicit ProgramMaker(std::uint64_t seed) : random_(seed) {
    static constexpr std::int64_t kConstants[] = {2, 3, 4, 5, 8, 10, 13, 16, 24, 37};
    k_ = b_.constant_size("K", kConstants[pick(10)]);
    n_ = b_.runtime_size("N");
    rows_ = b_.runtime_size("N1");
    m_ = b_.runtime_size("M");
    extents_ = {{k_, b_.program()[k_].constant}, {n_, 1 + pick(40)}};
    x_ = b_.buffer("x", Role::data, {n_, k_});
    z_ = b_.buffer("z", Role::data, {n_}, Type::i64);
    offsets_ = b_.buffer("offsets", Role::data, {rows_}, Type::i64);
    w_ = b_.buffer("w", Role::data, {m_});
    t_ = b_.buffer("T", Role::table, {n_, k_});
    s_ = b_.buffer("S", Role::statistic, {k_});
    q_ = b_.buffer("Q", Role::parameter, {k_, k_});
    c_ = b_.buffer("C", Role::statistic, {k_}, Type::i64);
    r_ = b_.buffer("R", Role::table, {m_});
  }

  void run() {
    b_.function("f", {{"a", Type::f64}, {"i", Type::i64}}, [&](const auto& p) {
      parameters_ = p;
      local_ = b_.local_array("local", {k_});
      b_.fill(local_, b_.f(0.5 * pick(2)));
      accumulator_ = b_.local("acc", b_.f(0));
      for (int s = 0; s < 5; ++s)
        statement(0);
      b_.add_to(s_, {b_.i(0)}, squash(b_.get(accumulator_)));
    });
    const auto n = static_cast<std::size_t>(extents_[n_]), k = static_cast<std::size_t>(extents_[k_]);
    std::vector<std::int64_t> rows = {0};
    for (std::size_t i = 0; i < n; ++i)
      rows.push_back(rows.back() + pick(12));
    const auto total = static_cast<std::size_t>(rows.back());
    test::Memory memory({n * k, n, n + 1, total, n * k, k, k * k, k, total, 0});
    std::uniform_real_distribution<double> value(-2, 2);
    for (BufferId b : {x_, w_, t_, s_, q_, r_}) {
      for (std::size_t at = 0; at < memory.length(b); ++at)
        memory.reals(b)[at] = value(random_);
    }
    for (std::size_t i = 0; i < n; ++i)
      memory.integers(z_)[i] = pick(static_cast<int>(k));
    std::copy(rows.begin(), rows.end(), memory.integers(offsets_));
    if (pick(4) == 0) memory.reals(x_)[0] = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::int64_t> sizes{static_cast<std::int64_t>(n), static_cast<std::int64_t>(n) + 1, rows.back()},
        integers{pick(5)};
    const std::vector<double> reals{value(random_)};
    test::run_both(b_.program(), memory, sizes, integers, reals, 1e-9);
    run_padded(memory, sizes, integers, reals);
    if (pick(4) != 0) return;
    b_.allow_f32(0);
    test::run_both(loops::narrow(b_.program()), memory, sizes, integers, reals, 1e-4);
  }

 private:
  struct Index {
    ExprId value;
    SizeId extent;
    ExprId row;  // row that the position is in, if the axis is the packed one; else invalid
  };

  /// Runs the program again with the table's rows padded to whole cache lines.
  void run_padded(const test::Memory& memory, const std::vector<std::int64_t>& sizes,
                  const std::vector<std::int64_t>& integers, const std::vector<double>& reals) {
    const loops::Program padded = loops::pad_rows(b_.program());
    const auto row = static_cast<std::size_t>(padded[padded[t_].axes[1]].constant), k = memory.length(s_);
    if (row == k) return;
    std::vector<std::size_t> lengths;
    for (std::size_t b = 0; b < padded.buffers.size(); ++b)
      lengths.push_back(memory.length(BufferId(b)));
    lengths[t_.index()] = memory.length(t_) / k * row;
    test::Memory wider(lengths);
    for (std::size_t b = 0; b < padded.buffers.size(); ++b) {
      const std::size_t width = BufferId(b) == t_ ? k : std::max<std::size_t>(1, lengths[b]);
      const std::size_t stride = BufferId(b) == t_ ? row : width;
      for (std::size_t at = 0; at < memory.length(BufferId(b)); ++at)
        wider.integers(BufferId(b))[at / width * stride + at % width] = memory.integers(BufferId(b))[at];
    }
    test::run_both(padded, wider, sizes, integers, reals, 1e-9);
  }

  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }

  ExprId squash(ExprId e) { return b_.div(e, b_.add(b_.f(1), b_.abs(e))); }

  /// Returns the position on the packed axis of position `i` within its row.
  ExprId packed(const Index& i) { return b_.add(b_.load(offsets_, {i.row}), i.value); }

  /// Returns a random index below `extent`: one in scope, one from data, zero, or the last.
  ExprId index(SizeId extent) {
    std::vector<ExprId> candidates = {b_.i(0)};
    for (const Index& i : scope_) {
      if (i.extent == extent && !i.row.valid()) candidates.insert(candidates.end(), 3, i.value);
      if (i.extent == n_ && extent == k_) candidates.push_back(b_.load(z_, {i.value}));
    }
    if (extent == k_) candidates.push_back(b_.sub(b_.extent(k_), b_.i(1)));
    return candidates[static_cast<std::size_t>(pick(static_cast<int>(candidates.size())))];
  }

  ExprId element() {
    for (const Index& i : scope_) {
      if (i.row.valid() && pick(3) == 0) return b_.load(pick(2) ? w_ : r_, {packed(i)});
    }
    switch (pick(6)) {
      case 0:
        return b_.load(x_, {index(n_), index(k_)});
      case 1:
        return b_.load(t_, {index(n_), index(k_)});
      case 2:
        return b_.load(s_, {index(k_)});
      case 3:
        return b_.load(q_, {index(k_), index(k_)});
      case 4:
        return b_.load(local_, {index(k_)});
      default:
        return b_.to_f64(b_.load(c_, {index(k_)}));
    }
  }

  ExprId condition() {
    const auto integer = [&] {
      if (scope_.empty() || pick(3) == 0) return parameters_[1];
      return scope_[static_cast<std::size_t>(pick(static_cast<int>(scope_.size())))].value;
    };
    const ExprId datum = b_.load(x_, {index(n_), index(k_)});
    switch (pick(5)) {
      case 0:
        return b_.less(integer(), b_.i(pick(9)));
      case 1:
        return b_.equal(integer(), integer());
      case 2:
        return b_.less(b_.f(0), datum);
      case 3:
        return b_.logical_and(b_.not_equal(integer(), b_.i(2)), b_.logical_not(b_.is_nan(datum)));
      default:
        return b_.logical_or(b_.less_equal(integer(), b_.i(1)), b_.is_nan(datum));
    }
  }

  ExprId expr(int depth) {
    if (depth >= 4 || pick(5) == 0) {
      const int choice = pick(5);
      if (choice == 0) return b_.f(pick(9) * 0.5 - 2);
      if (choice == 1) return parameters_[0];
      return element();
    }
    const ExprId a = expr(depth + 1);
    const auto positive = [&](double least) { return b_.add(b_.abs(a), b_.f(least)); };
    switch (pick(18)) {
      case 0:
        return b_.add(a, expr(depth + 1));
      case 1:
        return b_.sub(a, expr(depth + 1));
      case 2:
      case 3:
        return b_.mul(a, squash(expr(depth + 1)));
      case 4:
        return b_.div(expr(depth + 1), positive(1));
      case 5:
        return b_.min(a, expr(depth + 1));
      case 6:
        return b_.max(a, expr(depth + 1));
      case 7:
        return b_.select(condition(), a, expr(depth + 1));
      case 8:
        return b_.exp(squash(a));
      case 9:
        return b_.log(positive(1));
      case 10:
        return b_.log1p(positive(0));
      case 11:
        return b_.sqrt(positive(0.25));
      case 12:
        return squash(b_.digamma(positive(1.5)));
      case 13:
        return squash(b_.trigamma(positive(1.5)));
      case 14:
        return squash(b_.lgamma(positive(1.5)));
      case 15:
        return b_.exp(b_.sub(b_.digamma(positive(1.5)), b_.add(b_.f(2), b_.abs(squash(expr(depth + 1))))));
      case 16:
        return b_.logit_curvature(squash(a));
      default:
        return b_.neg(a);
    }
  }

  void store() {
    const ExprId value = b_.mul(b_.f(0.25), squash(expr(0)));
    for (const Index& i : scope_) {
      if (!i.row.valid() || pick(3) != 0) continue;
      return pick(2) ? b_.store(r_, {packed(i)}, value) : b_.add_to(r_, {packed(i)}, value);
    }
    const bool add = pick(2) == 0;
    const auto put = [&](BufferId buffer, std::vector<ExprId> at) {
      add ? b_.add_to(buffer, std::move(at), value) : b_.store(buffer, std::move(at), value);
    };
    switch (pick(5)) {
      case 0:
        return put(t_, {index(n_), index(k_)});
      case 1:
        return put(s_, {index(k_)});
      case 2:
        return put(q_, {index(k_), index(k_)});
      case 3:
        return put(local_, {index(k_)});
      default:
        return b_.add_to(c_, {index(k_)}, b_.i(1));
    }
  }

  void body(int depth) {
    for (int s = 1 + pick(3); s > 0; --s)
      statement(depth);
  }

  void loop(int depth) {
    const ExprId row = index(n_);
    if (pick(4) == 0) {
      const ExprId length = b_.sub(b_.load(offsets_, {b_.add(row, b_.i(1))}), b_.load(offsets_, {row}));
      b_.for_loop("m", b_.i(0), length, [&](ExprId m) {
        scope_.push_back({m, m_, row});
        body(depth + 1);
        scope_.pop_back();
      });
      return;
    }
    const SizeId extent = pick(3) == 0 ? n_ : k_;
    b_.for_each(extent == n_ ? "n" : "k", extent, [&](ExprId i) {
      scope_.push_back({i, extent, {}});
      body(depth + 1);
      scope_.pop_back();
    });
  }

  void statement(int depth) {
    const int choice = pick(12);
    if (depth < 3 && (choice < 4 || depth == 0)) return loop(depth);
    if (choice == 4 && depth > 0) return b_.break_if(condition());
    if (choice == 5 && depth < 4) {
      if (pick(2)) {
        const auto then = ++branches_ % 2 ? &Builder::if_then : &Builder::if_rarely;
        return (b_.*then)(condition(), [&] { body(depth + 1); });
      }
      return b_.if_else(
          condition(), [&] { body(depth + 1); }, [&] { body(depth + 1); });
    }
    if (choice == 6) return b_.accumulate(accumulator_, squash(expr(0)));
    if (choice == 7 && pick(6) == 0) return b_.fail_if(b_.logical_and(condition(), condition()), 1 + pick(5));
    if (choice == 8 && pick(3) == 0) return b_.fill(pick(2) ? s_ : local_, b_.f(pick(2) * pick(3)));
    if (choice == 10) {
      const ExprId product = b_.mul(b_.load(t_, {index(n_), index(k_)}), b_.load(local_, {index(k_)}));
      if (pick(2)) return b_.accumulate(accumulator_, product);
      return b_.store(pick(2) ? s_ : local_, {index(k_)}, b_.mul(b_.f(0.05), product));
    }
    if (choice == 9) {
      const ExprId value = b_.let("v", expr(0));
      return b_.store(s_, {index(k_)}, b_.mul(b_.f(0.25), squash(b_.add(value, expr(2)))));
    }
    store();
  }

  std::mt19937_64 random_;
  Builder b_;
  SizeId k_, n_, rows_, m_;
  BufferId x_, z_, offsets_, w_, t_, s_, q_, c_, r_, local_;
  ScalarId accumulator_;
  std::map<SizeId, int> extents_;
  std::vector<ExprId> parameters_;
  std::vector<Index> scope_;
  int branches_ = 0;
};

}  // namespace

TEST_CASE("Random programs mean the same interpreted and compiled") {
  const auto setting = [](const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text ? std::atoi(text) : otherwise;
  };
  ProgramMaker(5023).run();  // this seed makes a loop shorter than one vector iteration
  const int first = setting("LEHR_FUZZ_FIRST", 1);
  for (int seed = first; seed < first + setting("LEHR_FUZZ", 60); ++seed) {
    INFO("seed " << seed);
    ProgramMaker(static_cast<std::uint64_t>(seed)).run();
  }
}
