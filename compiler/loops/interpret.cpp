// A direct transcription of the semantics in loops.h.
#include "compiler/loops/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "compiler/loops/special.h"
#include "runtime/machine/random.h"

namespace lehr::loops {
namespace {

constexpr std::int64_t kPoison = std::numeric_limits<std::int64_t>::min() / 4;

union Value {
  double f;
  std::int64_t i;  // i64, and bool as 0 or 1
};

Value real(double x) { return {.f = x}; }
Value integer(std::int64_t x) { return {.i = x}; }

/// How a block ended.
enum class Flow { next, leave_loop, failed };

class Interpreter {
 public:
  Interpreter(const Program& program, lehr_buffer const* buffers, const std::int64_t* sizes)
      : program_(program), sizes_(sizes), scalars_(program.scalars.size()), buffers_(program.buffers.size()) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
      buffers_[b] = buffers ? buffers[b] : nullptr;
  }

  std::int32_t call(const Function& function, const std::int64_t* integers, const double* reals) {
    for (ScalarId p : function.parameters) {
      scalars_[p.index()] = program_[p].type == Type::f64 ? real(*reals++) : integer(*integers++);
    }
    std::vector<std::vector<Value>> storage;
    for (BufferId local : function.local_arrays) {
      const Value initial =
          program_[local].element == Type::f64 ? real(std::numeric_limits<double>::quiet_NaN()) : integer(kPoison);
      storage.emplace_back(static_cast<std::size_t>(element_count(local)), initial);
      buffers_[local.index()] = storage.back().data();
    }
    return run(function.body) == Flow::failed ? status_ : 0;
  }

 private:
  [[noreturn]] void violation(BufferId buffer, std::size_t axis, std::int64_t index, std::int64_t extent) const {
    throw std::logic_error(fmt::format("loops: index {} of axis {} of `{}` is outside [0, {})", index, axis,
                                       program_[buffer].name, extent));
  }

  std::int64_t extent(SizeId size) const {
    const Size& s = program_[size];
    return s.constant >= 0 ? s.constant : sizes_[s.slot];
  }

  void* data(BufferId buffer) const {
    void* pointer = buffers_[buffer.index()];
    if (!pointer) throw std::logic_error(fmt::format("loops: no memory for buffer `{}`", program_[buffer].name));
    return pointer;
  }

  std::int64_t element_count(BufferId id) const {
    std::int64_t count = 1;
    for (SizeId axis : program_[id].axes)
      count *= extent(axis);
    return count;
  }

  /// Position of an element, after checking each index against its own extent.
  std::int64_t position(BufferId id, const std::vector<ExprId>& indices) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      const std::int64_t index = eval(indices[axis]).i;
      const std::int64_t length = extent(program_[id].axes[axis]);
      if (index < 0 || index >= length) violation(id, axis, index, length);
      at = at * length + index;
    }
    return at;
  }

  // ---- expressions ----
  Value eval(ExprId id) {
    const Expr& e = program_[id];
    return std::visit([&](const auto& node) { return eval(e, node); }, e.node);
  }
  bool truth(ExprId id) { return eval(id).i != 0; }

  Value eval(const Expr&, const ConstF& n) { return real(n.value); }
  Value eval(const Expr&, const ConstI& n) { return integer(n.value); }
  Value eval(const Expr&, const Get& n) { return scalars_[n.scalar.index()]; }
  Value eval(const Expr&, const Extent& n) { return integer(extent(n.size)); }
  Value eval(const Expr& e, const Load& n) {
    const std::int64_t at = position(n.buffer, n.indices);
    if (e.type == Type::f64) return real(static_cast<const double*>(data(n.buffer))[at]);
    const std::int64_t loaded = static_cast<const std::int64_t*>(data(n.buffer))[at];
    if (loaded == kPoison) throw std::logic_error("loops: read of an element that nothing stored");
    return integer(loaded);
  }
  Value eval(const Expr&, const Unary& n) {
    const Value x = eval(n.operand);
    const bool is_real = program_[n.operand].type == Type::f64;
    switch (n.op) {
      case UnaryOp::negate:
        return is_real ? real(-x.f) : integer(-x.i);
      case UnaryOp::logical_not:
        return integer(!x.i);
      case UnaryOp::to_f64:
        return is_real ? x : real(static_cast<double>(x.i));
      case UnaryOp::exp:
        return real(std::exp(x.f));
      case UnaryOp::log:
        return real(std::log(x.f));
      case UnaryOp::log1p:
        return real(std::log1p(x.f));
      case UnaryOp::sqrt:
        return real(std::sqrt(x.f));
      case UnaryOp::digamma:
        return real(digamma(x.f));
      case UnaryOp::trigamma:
        return real(trigamma(x.f));
      case UnaryOp::lgamma:
        return real(log_gamma(x.f));
      case UnaryOp::abs:
        return is_real ? real(std::abs(x.f)) : integer(std::abs(x.i));
      case UnaryOp::is_nan:
        return integer(std::isnan(x.f));
    }
    throw std::logic_error("loops: unknown unary operation");
  }
  Value eval(const Expr&, const Binary& n) {
    const Value a = eval(n.left), b = eval(n.right);
    return program_[n.left].type == Type::f64 ? on_reals(n.op, a.f, b.f) : on_integers(n.op, a.i, b.i);
  }
  Value eval(const Expr&, const Random& n) {
    return real(machine::lehr_random(static_cast<std::int64_t>(n.noise), static_cast<const std::int64_t*>(data(n.key)),
                                     n.site, eval(n.element).i, eval(n.component).i, eval(n.a).f, eval(n.b).f));
  }
  Value eval(const Expr&, const Select& n) { return truth(n.condition) ? eval(n.if_true) : eval(n.if_false); }

  static Value on_reals(BinaryOp op, double a, double b) {
    switch (op) {
      case BinaryOp::add:
        return real(a + b);
      case BinaryOp::subtract:
        return real(a - b);
      case BinaryOp::multiply:
        return real(a * b);
      case BinaryOp::divide:
        return real(a / b);
      case BinaryOp::minimum:
        return real(std::isnan(a) ? a : std::isnan(b) ? b : std::fmin(a, b));
      case BinaryOp::maximum:
        return real(std::isnan(a) ? a : std::isnan(b) ? b : std::fmax(a, b));
      case BinaryOp::equal:
        return integer(a == b);
      case BinaryOp::not_equal:
        return integer(a != b);
      case BinaryOp::less:
        return integer(a < b);
      case BinaryOp::less_equal:
        return integer(a <= b);
      case BinaryOp::logical_and:
      case BinaryOp::logical_or:
        break;
    }
    throw std::logic_error("loops: logical operation on reals");
  }
  static Value on_integers(BinaryOp op, std::int64_t a, std::int64_t b) {
    switch (op) {
      case BinaryOp::add:
        return integer(a + b);
      case BinaryOp::subtract:
        return integer(a - b);
      case BinaryOp::multiply:
        return integer(a * b);
      case BinaryOp::minimum:
        return integer(std::min(a, b));
      case BinaryOp::maximum:
        return integer(std::max(a, b));
      case BinaryOp::equal:
        return integer(a == b);
      case BinaryOp::not_equal:
        return integer(a != b);
      case BinaryOp::less:
        return integer(a < b);
      case BinaryOp::less_equal:
        return integer(a <= b);
      case BinaryOp::logical_and:
        return integer(a && b);
      case BinaryOp::logical_or:
        return integer(a || b);
      case BinaryOp::divide:
        break;
    }
    throw std::logic_error("loops: division of integers");
  }

  // ---- statements ----
  Flow run(const Block& block) {
    for (const Stmt& statement : block) {
      const Flow flow = std::visit([&](const auto& node) { return run(node); }, statement.node);
      if (flow != Flow::next) return flow;
    }
    return Flow::next;
  }
  Flow run(const For& n) {
    const std::int64_t begin = eval(n.begin).i, end = eval(n.end).i;
    for (std::int64_t index = begin; index < end; ++index) {
      scalars_[n.index.index()] = integer(index);
      const Flow flow = run(n.body);
      if (flow == Flow::failed) return flow;
      if (flow == Flow::leave_loop) break;
    }
    return Flow::next;
  }
  Flow run(const Let& n) { return set(n.scalar, eval(n.value)); }
  Flow run(const Local& n) { return set(n.scalar, eval(n.initial)); }
  Flow run(const Assign& n) { return set(n.scalar, eval(n.value)); }
  Flow run(const Accumulate& n) {
    const Value value = eval(n.value), old = scalars_[n.scalar.index()];
    return set(n.scalar, program_[n.scalar].type == Type::f64 ? real(old.f + value.f) : integer(old.i + value.i));
  }
  Flow run(const Store& n) {
    const std::int64_t at = position(n.buffer, n.indices);
    const Value value = eval(n.value);
    if (program_[n.buffer].element == Type::f64) {
      double& element = static_cast<double*>(data(n.buffer))[at];
      element = n.accumulate ? element + value.f : value.f;
    } else {
      std::int64_t& element = static_cast<std::int64_t*>(data(n.buffer))[at];
      element = n.accumulate ? element + value.i : value.i;
    }
    return Flow::next;
  }
  Flow run(const Fill& n) {
    const Value value = eval(n.value);
    Value* elements = static_cast<Value*>(data(n.buffer));
    std::fill_n(elements, element_count(n.buffer), value);
    return Flow::next;
  }
  Flow run(const If& n) { return run(truth(n.condition) ? n.then_block : n.else_block); }
  Flow run(const BreakIf& n) { return truth(n.condition) ? Flow::leave_loop : Flow::next; }
  Flow run(const Fail& n) {
    status_ = n.code;
    return Flow::failed;
  }
  Flow run(const Comment&) { return Flow::next; }

  Flow set(ScalarId scalar, Value value) {
    scalars_[scalar.index()] = value;
    return Flow::next;
  }

  const Program& program_;
  const std::int64_t* sizes_;
  std::vector<Value> scalars_;
  std::vector<void*> buffers_;
  std::int32_t status_ = 0;
};

}  // namespace

std::int32_t interpret(const Program& program, std::size_t function, lehr_buffer const* buffers,
                       const std::int64_t* sizes, const std::int64_t* integers, const double* reals) {
  return Interpreter(program, buffers, sizes).call(program.functions.at(function), integers, reals);
}

}  // namespace lehr::loops
