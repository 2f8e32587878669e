// A direct transcription of the semantics in loops.h.
#include "compiler/loops/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "compiler/loops/operators.h"
#include "compiler/loops/print_loops.h"
#include "runtime/machine/random.h"

namespace lehr::loops {
namespace {

constexpr std::int64_t kPoison = std::numeric_limits<std::int64_t>::min() / 4;

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
    return row_of(n.op).value(x, is_real);
  }
  Value eval(const Expr&, const Binary& n) {
    const Value a = eval(n.left), b = eval(n.right);
    const BinaryRow& row = row_of(n.op);
    const Type in = program_[n.left].type;
    if (!accepts(row.takes, in)) throw std::logic_error(fmt::format("loops: {} of {}", row.name, name_of(in)));
    return in == Type::f64 ? row.of_reals(a.f, b.f) : row.of_integers(a.i, b.i);
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
