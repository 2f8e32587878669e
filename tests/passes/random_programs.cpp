// The generator of random programs. Every value stays bounded: operands are combined by means, bounded functions and
// products of bounded numbers, so that sums in another order differ by rounding alone. Conditions read data alone.
#include "tests/passes/random_programs.h"

#include <bit>
#include <functional>
#include <random>
#include <set>
#include <string>

#include "compiler/loops/builder.h"

namespace lehr::test {
namespace {

using namespace loops;

/// The kinds of statements that a program may switch off.
enum Kind {
  kFill,        // an array of the item, element by element
  kRow,         // a row of a parameter or an expectation
  kSum,         // a sum over items
  kScatter,     // a sum over items, in the row that a category names
  kScalar,      // a sum over the elements of the item
  kProduct,     // a matrix of numbers times an array
  kGuard,       // statements behind a condition on data
  kRagged,      // a loop over the row of the item
  kRecurrence,  // a recurrence along that row
  kFixedPoint,  // a recurrence that no data change
  kCheck,       // a failure if data are out of range, which none are
  kNormalise,   // exp of differences from the largest, over their sum
  kDemand,      // arrays that only some calls ask for
  kFloat,       // functions that may use 32 bits
  kKinds
};

/// The most elements of the row of an item.
constexpr int kLongest = 6;

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {
    for (int k = 0; k < kKinds; ++k)
      on_[k] = pick(2) == 1;
    declare();
  }

  RandomProgram make() {
    const std::size_t items = b_.function("items", {{"begin", Type::i64}, {"end", Type::i64}}, [&](const auto& p) {
      begin_function();
      const bool before = pick(3) == 0;
      if (before) fill(scratch_[0]);
      b_.for_loop(
          "n", p[0], p[1],
          [&](ExprId n) {
            item_ = n;
            // What stood before the loop is read by all items, and filled again by none.
            if (before) scratch_.erase(scratch_.begin());
            statements(2 + pick(7));
          },
          pick(4) > 0);
      item_ = {};
      b_.add_to(sums_, {b_.i(0)}, b_.get(outer_));
    });
    if (on_[kFloat]) b_.allow_f32(items);
    b_.function("globals", [&] {
      begin_function();
      for (int k = 1 + pick(4); k > 0; --k)
        global_loop();
      b_.store(out_, {b_.i(0)}, b_.get(outer_));
    });
    RandomProgram out;
    out.program = b_.take();
    out.sizes = sizes_;
    out.items = items_;
    out.f32 = on_[kFloat];
    fill_arrays(out);
    return out;
  }

 private:
  void declare() {
    static constexpr std::int64_t kWidths[] = {1, 3, 4, 8, 11, 17, 33, 70};
    items_ = pick(4) ? 1 + pick(30) : pick(2) ? 0 : 70;
    width_ = kWidths[pick(8)];
    const std::int64_t rows = 1 + pick(pick(2) ? 5 : 24);
    n_ = b_.runtime_size("N");
    k_ = pick(5) ? b_.constant_size("K", width_) : b_.runtime_size("K");
    const bool constant = b_.program()[k_].constant >= 0;
    c_ = b_.constant_size("C", rows);
    offsets_.assign(1, 0);
    for (std::int64_t n = 0; n < items_; ++n)
      offsets_.push_back(offsets_.back() + pick(kLongest + 1));
    const SizeId bounds = b_.runtime_size("N1"), packed = b_.runtime_size("P"), one = b_.constant_size("one", 1);
    const SizeId longest = b_.runtime_size("L1");
    sizes_ = {items_};
    if (!constant) sizes_.push_back(width_);
    sizes_.push_back(items_ + 1);
    sizes_.push_back(offsets_.back());
    sizes_.push_back(kLongest);
    rows_ = b_.buffer("offsets", Role::data, {bounds}, Type::i64);
    data_ = b_.buffer("x", Role::data, {n_, k_});
    points_ = b_.buffer("y", Role::data, {packed});
    category_ = b_.buffer("c", Role::data, {n_}, Type::i64);
    flags_ = b_.buffer("flags", Role::data, {b_.constant_size("flag count", 2)});
    tables_ = {b_.buffer("G", Role::table, {k_}), b_.buffer("H", Role::table, {k_})};
    matrix_ = b_.buffer("M", Role::table, {c_, k_});
    slices_ = {b_.buffer("p", Role::parameter, {n_, k_}), b_.buffer("q", Role::expectation, {n_, k_}),
               b_.buffer("r", Role::parameter, {n_, k_})};
    chain_ = b_.buffer("chain", Role::scratch, {longest, k_});
    steps_ = b_.buffer("u", Role::expectation, {packed, k_});
    sums_ = b_.buffer("S", Role::statistic, {k_});
    by_row_ = b_.buffer("R", Role::statistic, {c_, k_});
    asked_ = b_.buffer("L", Role::statistic, {k_});
    out_ = b_.buffer("out", Role::output, {one});
    if (on_[kDemand]) {
      b_.set_demand(slices_[2], Demand::item_parameters);
      b_.set_demand_flag(Demand::item_parameters, flags_, 0);
      b_.set_demand(asked_, Demand::elbo);
      b_.set_demand_flag(Demand::elbo, flags_, 1);
    }
  }

  void fill_arrays(RandomProgram& out) {
    std::uniform_real_distribution<double> value(-1, 1);
    const auto all = [&](BufferId b) { return elements_of(out.program, b, sizes_); };
    out.arrays.resize(out.program.buffers.size());
    for (std::size_t k = 0; k < out.arrays.size(); ++k) {
      const Buffer& buffer = out.program.buffers[k];
      if (buffer.role == Role::scratch) continue;
      out.arrays[k].resize(all(BufferId(k)));
      for (double& x : out.arrays[k])
        x = value(random_);
    }
    for (std::size_t k = 0; k < offsets_.size(); ++k)
      out.arrays[rows_.index()][k] = std::bit_cast<double>(offsets_[k]);
    const std::int64_t rows = out.program[c_].constant;
    for (double& x : out.arrays[category_.index()])
      x = std::bit_cast<double>(static_cast<std::int64_t>(pick(static_cast<int>(rows))));
    out.arrays[flags_.index()] = {pick(4) ? 1.0 : 0.0, pick(4) ? 1.0 : 0.0};
  }

  void begin_function() {
    scratch_.clear();
    defined_.clear();
    scalars_.clear();
    if (b_.program()[k_].constant >= 0) {
      for (const char* name : {"a", "b", "d", "e"})
        scratch_.push_back(b_.local_array(b_.fresh(name), std::vector{k_}));
    } else {
      for (const char* name : {"a", "b", "d", "e"})
        scratch_.push_back(b_.buffer(b_.fresh(name), Role::scratch, {k_}));
    }
    outer_ = b_.local("outer", b_.f(0));
  }

  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[static_cast<std::size_t>(pick(static_cast<int>(of.size())))];
  }
  void each(const std::function<void(ExprId)>& body, bool independent = false) {
    b_.for_loop(b_.fresh("k"), b_.i(0), b_.extent(k_), body, independent);
  }
  ExprId row() { return b_.load(category_, {item_}); }

  /// Returns a random operand for element k: data, a table, a filled array of the item, a scalar or a constant.
  ExprId operand(ExprId k) {
    switch (pick(10)) {
      case 0:
      case 1:
        return item_.valid() ? b_.load(data_, {item_, k}) : b_.load(any(tables_), {k});
      case 2:
        return item_.valid() && pick(2) ? b_.load(matrix_, {row(), k}) : b_.f(0.5);
      case 3:
      case 4:
      case 5: {
        const std::vector<BufferId> defined(defined_.begin(), defined_.end());
        return defined.empty() ? b_.f(1) : b_.load(any(defined), {pick(4) ? k : b_.i(0)});
      }
      case 6:
        return scalars_.empty() ? b_.f(-1) : b_.unary(UnaryOp::exp, b_.neg(b_.abs(b_.get(any(scalars_)))));
      default:
        return b_.load(any(tables_), {k});
    }
  }
  /// Returns a random value for element k, of at most the size of its operands.
  ExprId value(ExprId k) {
    const ExprId a = operand(k), b = operand(k);
    switch (pick(5)) {
      case 0:
        return b_.mul(b_.exp(b_.neg(b_.abs(a))), b);
      case 1:
        return b_.exp(b_.neg(b_.abs(a)));
      case 2:
        return b_.sqrt(b_.abs(b_.mul(a, a)));
      default:
        return b_.add(b_.mul(b_.f(0.5), a), b_.mul(b_.f(0.25), b));
    }
  }
  /// Returns a condition on data of the item.
  ExprId condition() {
    if (pick(2)) return b_.less(b_.load(data_, {item_, b_.i(0)}), b_.f(0.2));
    return b_.less(row(), b_.i(1));
  }

  void fill(BufferId a) {
    if (pick(4)) each([&](ExprId k) { b_.store(a, {k}, value(k)); });
    else b_.fill(a, b_.f(0.25));
    defined_.insert(a);
  }
  BufferId filled() {
    const BufferId a = any(scratch_);
    if (!defined_.contains(a)) fill(a);
    return a;
  }

  void statements(int count) {
    for (; count > 0; --count) {
      auto kind = static_cast<Kind>(pick(kKinds));
      statement(on_[kind] ? kind : kFill);
    }
  }

  void statement(Kind kind) {
    switch (kind) {
      case kRow: {
        const BufferId rows = any(slices_);
        return each([&](ExprId k) { b_.store(rows, {item_, k}, value(k)); });
      }
      case kSum:
        return each([&](ExprId k) { b_.add_to(sums_, {k}, value(k)); });
      case kDemand:
        return each([&](ExprId k) { b_.add_to(asked_, {k}, value(k)); });
      case kScatter:
        return each([&](ExprId k) { b_.add_to(by_row_, {row(), k}, value(k)); });
      case kScalar: {
        const ScalarId s = b_.local(b_.fresh("s"), operand(b_.i(0)));
        each([&](ExprId k) { b_.accumulate(s, value(k)); });
        scalars_.push_back(s);
        return b_.accumulate(outer_, b_.exp(b_.neg(b_.abs(b_.get(s)))));
      }
      case kProduct:
        return product();
      case kGuard:
        return guarded();
      case kRagged:
      case kRecurrence:
        return kind == kRecurrence && pick(2) ? chain() : ragged(kind == kRecurrence);
      case kFixedPoint:
        return fixed_point();
      case kCheck:
        return each([&](ExprId k) {
          const ExprId x = b_.load(data_, {item_, k});
          b_.fail_if(b_.less(b_.f(3), x), 7);
          b_.add_to(sums_, {k}, b_.log(b_.add(b_.f(2), x)));
        });
      case kNormalise:
        return normalise();
      default:
        return fill(any(scratch_));
    }
  }

  void product() {
    const BufferId a = filled();
    if (pick(2)) {  // what each row of a table adds to an array of the item
      return b_.for_loop(b_.fresh("j"), b_.i(0), b_.extent(c_), [&](ExprId j) {
        const ExprId c = b_.let(b_.fresh("c"), b_.mul(b_.f(0.25), b_.load(data_, {item_, b_.i(0)})));
        each([&](ExprId k) { b_.add_to(a, {k}, b_.mul(c, b_.load(matrix_, {j, k}))); });
      });
    }
    const ScalarId s = b_.local(b_.fresh("s"), b_.f(0));
    b_.for_loop(b_.fresh("j"), b_.i(0), b_.extent(c_), [&](ExprId j) {
      each([&](ExprId k) { b_.accumulate(s, b_.mul(b_.load(matrix_, {j, k}), b_.load(a, {k}))); });
    });
    scalars_.push_back(s);
    b_.for_loop(b_.fresh("j"), b_.i(0), b_.extent(c_), [&](ExprId j) {
      each([&](ExprId k) { b_.add_to(by_row_, {j, k}, b_.mul(b_.load(matrix_, {j, k}), b_.load(a, {k}))); });
    });
  }

  void guarded() {
    const BufferId a = filled();
    const std::set<BufferId> defined = defined_;
    const std::vector<ScalarId> scalars = scalars_;
    b_.if_then(condition(), [&] {
      if (pick(2)) each([&](ExprId k) { b_.store(a, {k}, value(k)); });
      if (pick(2)) each([&](ExprId k) { b_.add_to(sums_, {k}, value(k)); });
      if (pick(2)) b_.accumulate(outer_, operand(b_.i(0)));
    });
    defined_ = defined;  // of what was filled in one branch alone nothing is known after it
    scalars_ = scalars;
  }

  /// Emits a loop over the row of the item, from its element `first`. The body is given the number of the step and its
  /// position in packed arrays.
  void each_step(std::int64_t first, const std::function<void(ExprId step, ExprId at)>& body, bool backwards = false) {
    const ExprId begin = b_.let(b_.fresh("begin"), b_.load(rows_, {item_}));
    const ExprId next = b_.load(rows_, {b_.add(item_, b_.i(1))});
    const ExprId length = b_.let(b_.fresh("length"), b_.sub(next, begin));
    b_.for_loop(b_.fresh("t"), b_.i(first), length, [&](ExprId index) {
      const ExprId t = backwards ? b_.let(b_.fresh("s"), b_.sub(b_.sub(length, b_.i(1)), index)) : index;
      body(t, b_.add(begin, t));
    });
  }

  /// Emits a recurrence over the steps of the item, forwards and perhaps backwards.
  void chain() {
    const BufferId now = filled();
    const int parts = pick(8);
    each_step(0, [&](ExprId t, ExprId at) {
      const ExprId y = b_.load(points_, {at});
      each([&](ExprId k) { b_.store(now, {k}, b_.mul(b_.f(0.25), b_.mul(y, operand(k)))); });
      b_.if_then(b_.less(b_.i(0), t), [&] {
        each([&](ExprId k) { b_.add_to(now, {k}, b_.mul(b_.f(0.5), b_.load(chain_, {b_.sub(t, b_.i(1)), k}))); });
      });
      each([&](ExprId k) { b_.store(chain_, {t, k}, b_.load(now, {k})); });
      if (parts & 1) each([&](ExprId k) { b_.add_to(sums_, {k}, b_.load(now, {k})); });
    });
    if (!(parts & 2)) return;
    b_.fill(now, b_.f(1));
    each_step(
        0,
        [&](ExprId t, ExprId at) {
          each([&](ExprId k) {
            b_.store(steps_, {at, k}, b_.add(b_.load(chain_, {t, k}), b_.load(now, {k})));
            b_.store(now, {k}, b_.mul(b_.f(0.5), b_.add(b_.load(now, {k}), b_.load(chain_, {t, k}))));
          });
          if (parts & 4) each([&](ExprId k) { b_.add_to(sums_, {k}, b_.load(steps_, {at, k})); });
        },
        true);
  }

  void ragged(bool recurrence) {
    const BufferId state = filled();
    const ScalarId total = b_.local(b_.fresh("s"), b_.f(0));
    const int parts = pick(16);
    each_step(0, [&](ExprId, ExprId t) {
      const ExprId y = b_.load(points_, {t});
      if (recurrence) {
        each([&](ExprId k) {
          const ExprId half = b_.mul(b_.f(0.5), b_.load(state, {k}));
          b_.store(state, {k}, b_.add(half, b_.mul(b_.f(0.25), b_.mul(y, operand(k)))));
        });
      }
      if (parts & 1) each([&](ExprId k) { b_.store(steps_, {t, k}, b_.mul(y, b_.load(state, {k}))); });
      if (parts & 2) each([&](ExprId k) { b_.add_to(sums_, {k}, b_.mul(y, b_.load(state, {k}))); });
      if (parts & 4) each([&](ExprId k) { b_.accumulate(total, b_.mul(y, b_.load(state, {k}))); });
      if (parts & 8) b_.if_then(b_.less(y, b_.f(0)), [&] { b_.accumulate(total, b_.f(1)); });
      b_.accumulate(total, b_.abs(y));
    });
    scalars_.push_back(total);
  }

  void fixed_point() {
    const BufferId state = filled();
    each_step(0, [&](ExprId, ExprId t) {
      each([&](ExprId k) {
        const ExprId s = b_.abs(b_.load(state, {k}));
        b_.store(state, {k}, b_.div(b_.add(s, b_.f(1)), b_.add(b_.sqrt(b_.add(s, b_.f(1))), b_.f(1))));
      });
      each([&](ExprId k) { b_.add_to(sums_, {k}, b_.mul(b_.load(points_, {t}), b_.load(state, {k}))); });
    });
  }

  void normalise() {
    const BufferId a = filled();
    const ScalarId most = b_.local(b_.fresh("m"), b_.f(-100)), sum = b_.local(b_.fresh("z"), b_.f(0));
    each([&](ExprId k) { b_.assign(most, b_.max(b_.get(most), b_.load(a, {k}))); });
    each([&](ExprId k) {
      b_.store(a, {k}, b_.exp(b_.sub(b_.load(a, {k}), b_.get(most))));
      b_.accumulate(sum, b_.load(a, {k}));
    });
    each([&](ExprId k) { b_.store(a, {k}, b_.div(b_.load(a, {k}), b_.get(sum))); });
    b_.accumulate(outer_, b_.add(b_.get(most), b_.log(b_.get(sum))));
  }

  /// A loop over the rows or the elements of tables, whose iterations may run in any order.
  void global_loop() {
    defined_.clear();
    scalars_.clear();
    if (pick(3) == 0) return data_loop();
    if (pick(2)) {
      const BufferId from = pick(2) ? sums_ : any(tables_), to = any(tables_);
      return each(
          [&](ExprId k) {
            const ExprId old = b_.load(to, {k}), x = b_.exp(b_.neg(b_.abs(b_.load(from, {k}))));
            b_.store(to, {k}, b_.add(b_.mul(b_.f(0.5), old), b_.mul(b_.f(0.5), x)));
            if (pick(2)) b_.accumulate(outer_, x);
          },
          true);
    }
    const BufferId row = scratch_[0], other = scratch_[1];
    const int parts = pick(8);
    b_.for_loop(
        b_.fresh("c"), b_.i(0), b_.extent(c_),
        [&](ExprId c) {
          each([&](ExprId k) { b_.store(row, {k}, b_.exp(b_.neg(b_.abs(b_.load(by_row_, {c, k}))))); });
          if (parts & 1) {
            each([&](ExprId k) { b_.store(other, {k}, b_.mul(b_.load(row, {k}), b_.load(tables_[0], {k}))); });
            each([&](ExprId k) { b_.store(matrix_, {c, k}, b_.add(b_.load(row, {k}), b_.load(other, {k}))); });
          }
          if (parts & 2) each([&](ExprId k) { b_.accumulate(outer_, b_.load(row, {k})); });
          if (parts & 4) {
            const ScalarId s = b_.local(b_.fresh("s"), b_.f(0));
            each([&](ExprId k) { b_.accumulate(s, b_.load(row, {k})); });
            each([&](ExprId k) { b_.store(by_row_, {c, k}, b_.div(b_.load(row, {k}), b_.add(b_.get(s), b_.f(1)))); });
          }
        },
        true);
  }

  /// A loop over data in which each row adds to sums with a weight that it forms itself.
  void data_loop() {
    const int parts = pick(4);
    b_.for_loop(b_.fresh("row"), b_.i(0), b_.extent(n_), [&](ExprId n) {
      const ScalarId w = b_.local(b_.fresh("w"), b_.f(0));
      each([&](ExprId k) { b_.accumulate(w, b_.mul(b_.load(tables_[0], {k}), b_.load(data_, {n, k}))); });
      if (parts & 1) b_.if_then(b_.less(b_.load(data_, {n, b_.i(0)}), b_.f(0)), [&] { b_.assign(w, b_.f(0.5)); });
      each([&](ExprId k) { b_.add_to(sums_, {k}, b_.mul(b_.get(w), b_.load(data_, {n, k}))); });
      if (parts & 2) {
        const ExprId c = b_.load(category_, {n});
        each([&](ExprId k) { b_.add_to(by_row_, {c, k}, b_.mul(b_.get(w), b_.load(data_, {n, k}))); });
      }
    });
  }

  std::mt19937_64 random_;
  bool on_[kKinds] = {};
  Builder b_;
  std::int64_t items_ = 0, width_ = 0;
  SizeId n_, k_, c_;
  std::vector<std::int64_t> sizes_, offsets_;
  BufferId rows_, data_, points_, category_, flags_, matrix_, chain_, steps_, sums_, by_row_, asked_, out_;
  std::vector<BufferId> tables_, slices_, scratch_;
  std::set<BufferId> defined_;     // arrays of the item that are filled
  std::vector<ScalarId> scalars_;  // of the item that are complete
  ScalarId outer_;
  ExprId item_;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace lehr::test
