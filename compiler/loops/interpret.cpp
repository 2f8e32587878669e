// The interpreter: a direct transcription of the semantics in loops.h. It evaluates an expression anew wherever it
// stands, and checks every index; speed does not matter here.
#include "compiler/loops/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "compiler/loops/facts.h"
#include "compiler/loops/operators.h"
#include "compiler/loops/print_loops.h"
#include "runtime/machine/random.h"

namespace lehr::loops {
namespace {

/// The content of i64 elements that nothing has stored: far outside of every array, also after some index arithmetic.
constexpr std::int64_t kPoison = std::numeric_limits<std::int64_t>::min() / 4;

/// How a block ended: at its end, by BreakIf, or by Fail.
enum class Flow { next, leave_loop, failed };

/// The state of one call: scalars, the pointers to buffers, and the counts of work.
class Interpreter {
 public:
  Interpreter(const Program& program, lehr_buffer const* buffers, const std::int64_t* sizes)
      : program_(program), sizes_(sizes), scalars_(program.scalars.size()), buffers_(program.buffers.size()) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b)
      buffers_[b] = buffers ? buffers[b] : nullptr;
  }

  /// Runs a function whose parameters are the next `integers` and `reals`, in order of type. Returns its status.
  std::int32_t call(const Function& function, const std::int64_t* integers, const double* reals) {
    for (ScalarId p : function.parameters) {
      scalars_[p.index()] = program_[p].type == Type::f64 ? real(*reals++) : integer(*integers++);
    }
    std::vector<std::vector<Value>> storage;
    for (BufferId local : function.local_arrays) {
      storage.emplace_back(static_cast<std::size_t>(element_count(local)));
      buffers_[local.index()] = storage.back().data();
      for (std::int64_t at = 0; at < element_count(local); ++at) {
        const Type type = program_[local].element;
        put(local, at, is_real(type) ? real(std::numeric_limits<double>::quiet_NaN()) : integer(kPoison));
      }
    }
    work_ = {};
    return run(function.body) == Flow::failed ? status_ : 0;
  }

  const OperationCounts& work() const { return work_; }

 private:
  /// Reports an index outside of its axis, which is a defect of the compiler.
  [[noreturn]] void violation(BufferId buffer, std::size_t axis, std::int64_t index, std::int64_t extent) const {
    throw std::logic_error(fmt::format("loops: index {} of axis {} of `{}` is outside [0, {})", index, axis,
                                       program_[buffer].name, extent));
  }

  /// Returns the extent of an axis in this call.
  std::int64_t extent(SizeId size) const {
    const Size& s = program_[size];
    return s.constant >= 0 ? s.constant : sizes_[s.slot];
  }

  /// Returns the memory of a buffer; throws if there is none.
  void* data(BufferId buffer) const {
    void* pointer = buffers_[buffer.index()];
    if (!pointer) throw std::logic_error(fmt::format("loops: no memory for buffer `{}`", program_[buffer].name));
    return pointer;
  }

  /// Returns the number of elements of a buffer.
  std::int64_t element_count(BufferId id) const {
    std::int64_t count = 1;
    for (SizeId axis : program_[id].axes)
      count *= extent(axis);
    return count;
  }

  /// Returns the row-major position of an element, after checking each index against the extent of its own axis.
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

  // ---- elements ----

  /// Returns the element at a position.
  Value get(BufferId buffer, std::int64_t at) {
    work_.bytes += bytes_of(program_[buffer].element);
    void const* const all = data(buffer);
    switch (program_[buffer].element) {
      case Type::f64:
        return real(static_cast<const double*>(all)[at]);
      case Type::f32:
        return real(static_cast<const float*>(all)[at]);
      case Type::i64:
      case Type::boolean:
        break;
    }
    return integer(static_cast<const std::int64_t*>(all)[at]);
  }
  /// Stores an element at a position.
  void put(BufferId buffer, std::int64_t at, Value value) {
    void* const all = data(buffer);
    const Type type = program_[buffer].element;
    work_.bytes += bytes_of(type);
    if (type == Type::f64) static_cast<double*>(all)[at] = value.f;
    else if (type == Type::f32) static_cast<float*>(all)[at] = static_cast<float>(value.f);
    else static_cast<std::int64_t*>(all)[at] = value.i;
  }

  // ---- expressions ----

  /// Rounds a value of type f32 to 32 bits: arithmetic is done in 64 bits, then rounded.
  static Value rounded(Type type, Value x) { return type == Type::f32 ? real(static_cast<float>(x.f)) : x; }
  /// Returns a + b, counted as an operation if real.
  Value sum(Type type, Value a, Value b) {
    work_.operations += is_real(type);
    return is_real(type) ? rounded(type, real(a.f + b.f)) : integer(a.i + b.i);
  }
  /// Evaluates an expression.
  Value eval(ExprId id) {
    const Expr& e = program_[id];
    return rounded(e.type, std::visit([&](const auto& node) { return eval(e, node); }, e.node));
  }
  /// Returns the value of a bool.
  bool truth(ExprId id) { return eval(id).i != 0; }

  Value eval(const Expr&, const ConstF& n) { return real(n.value); }
  Value eval(const Expr&, const ConstI& n) { return integer(n.value); }
  Value eval(const Expr&, const Get& n) { return scalars_[n.scalar.index()]; }
  Value eval(const Expr&, const Extent& n) { return integer(extent(n.size)); }
  Value eval(const Expr& e, const Load& n) {
    const std::int64_t at = position(n.buffer, n.indices);
    const Value loaded = get(n.buffer, at);
    if (e.type == Type::i64 && loaded.i == kPoison)
      throw std::logic_error("loops: read of an element that nothing stored");
    return loaded;
  }
  Value eval(const Expr&, const Unary& n) {
    const Value x = eval(n.operand);
    if (is_real(program_[n.operand].type)) {
      work_.operations += n.op == UnaryOp::sqrt;
      work_.functions += is_function(n.op);
    }
    return row_of(n.op).value(x, is_real(program_[n.operand].type));
  }
  Value eval(const Expr&, const Binary& n) {
    const Value a = eval(n.left), b = eval(n.right);
    const BinaryRow& row = row_of(n.op);
    const Type in = program_[n.left].type;
    if (!accepts(row.takes, in)) throw std::logic_error(fmt::format("loops: {} of {}", row.name, name_of(in)));
    if (!is_real(in)) return row.of_integers(a.i, b.i);
    work_.operations += row.gives == Gives::same;
    return row.of_reals(a.f, b.f);
  }
  Value eval(const Expr&, const Random& n) {
    return real(machine::lehr_random(static_cast<std::int64_t>(n.noise), static_cast<const std::int64_t*>(data(n.key)),
                                     n.site, eval(n.element).i, eval(n.component).i, eval(n.a).f, eval(n.b).f));
  }
  Value eval(const Expr&, const Select& n) { return truth(n.condition) ? eval(n.if_true) : eval(n.if_false); }

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
    for (std::int64_t index = begin; index < end; index += n.step) {
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
    return set(n.scalar, sum(program_[n.scalar].type, scalars_[n.scalar.index()], eval(n.value)));
  }
  Flow run(const Store& n) {
    const std::int64_t at = position(n.buffer, n.indices);
    const Value value = eval(n.value);
    put(n.buffer, at, n.accumulate ? sum(program_[n.buffer].element, get(n.buffer, at), value) : value);
    return Flow::next;
  }
  Flow run(const Fill& n) {
    const Value value = eval(n.value);
    for (std::int64_t at = 0; at < element_count(n.buffer); ++at)
      put(n.buffer, at, value);
    return Flow::next;
  }
  Flow run(const If& n) { return run(truth(n.condition) ? n.then_block : n.else_block); }
  Flow run(const BreakIf& n) { return truth(n.condition) ? Flow::leave_loop : Flow::next; }
  Flow run(const Fail& n) {
    status_ = n.code;
    return Flow::failed;
  }
  Flow run(const Comment&) { return Flow::next; }

  /// Sets a scalar and goes on.
  Flow set(ScalarId scalar, Value value) {
    scalars_[scalar.index()] = value;
    return Flow::next;
  }

  const Program& program_;
  const std::int64_t* sizes_;
  std::vector<Value> scalars_;
  std::vector<void*> buffers_;
  std::int32_t status_ = 0;
  OperationCounts work_;
};

}  // namespace

std::int32_t interpret(const Program& program, std::size_t function, lehr_buffer const* buffers,
                       const std::int64_t* sizes, const std::int64_t* integers, const double* reals,
                       OperationCounts* work) {
  Interpreter interpreter(program, buffers, sizes);
  const std::int32_t status = interpreter.call(program.functions.at(function), integers, reals);
  if (work) *work = interpreter.work();
  return status;
}

}  // namespace lehr::loops
