// The verifier of Loops: one walk per function with the set of scalars in scope. Types are recomputed from the operands
// and compared with those that expressions carry.
#include "compiler/analysis/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/analysis/verify_regions.h"
#include "compiler/loops/facts.h"
#include "compiler/loops/operators.h"
#include "compiler/loops/print_loops.h"

namespace lehr::loops {
namespace {

/// Collects the problems of a program.
class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program), is_local_array_(program.buffers.size(), false) {}

  std::vector<std::string> run() {
    where_ = "declarations";
    check_buffers();
    for (const Function& function : program_.functions) {
      for (BufferId local : function.local_arrays)
        is_local_array_[local.index()] = true;
    }
    for (const Function& function : program_.functions)
      check_function(function);
    return std::move(problems_);
  }

 private:
  /// Adds a problem of the current function.
  template <class... Args>
  void complain(fmt::format_string<Args...> text, Args&&... args) {
    problems_.push_back(fmt::format("{}: {}", where_, fmt::format(text, std::forward<Args>(args)...)));
  }
  /// Adds a problem if the condition is false. The arguments are evaluated in any case, so callers use `complain` where
  /// they print an expression: shared parts make its text long.
  template <class... Args>
  void check(bool condition, fmt::format_string<Args...> text, Args&&... args) {
    if (!condition) complain(text, std::forward<Args>(args)...);
  }

  /// Checks the declarations of buffers and sizes.
  void check_buffers() {
    std::set<std::string> names;
    for (const Buffer& b : program_.buffers) {
      check(names.insert(b.name).second, "two buffers are called `{}`", b.name);
      check(b.element != Type::boolean, "buffer `{}` has bool elements", b.name);
      check(b.used_length == 0 || (!b.axes.empty() && b.used_length <= program_[b.axes.back()].constant),
            "rows of `{}` are shorter than what is meant of them", b.name);
    }
    for (const Size& s : program_.sizes)
      check(s.constant >= 0 || s.slot >= 0, "size `{}` is nowhere", s.name);
  }

  /// Checks a function: local arrays, cached sums, parallel regions, parameters, and the body.
  void check_function(const Function& function) {
    where_ = function.name;
    in_scope_.clear();
    mutable_.clear();
    owned_.clear();
    for (BufferId local : function.local_arrays) {
      owned_.insert(local);
      for (SizeId axis : program_[local].axes) {
        check(program_[axis].constant >= 0, "local array `{}` has no constant size", program_[local].name);
      }
    }
    for (const CachedSums& k : function.cached) {
      const bool exists = k.function < program_.functions.size();
      check(exists && program_.functions[k.function].parameters.empty(), "sums are formed by no function");
    }
    for (const ParallelRegion& p : function.regions) {
      const bool exists = p.function < program_.functions.size();
      check(exists && program_.functions[p.function].parameters.size() == 2, "a phase is no function of a range");
      expect(p.trip_count, Type::i64, "iterations of a parallel region");
    }
    for (ScalarId p : function.parameters) {
      check(program_[p].type != Type::boolean, "parameter `{}` is a bool", program_[p].name);
      in_scope_.insert(p);
    }
    block(function.body, 0);
  }

  // ---- expressions ----

  /// Checks an expression, and that it has the wanted type.
  void expect(ExprId id, Type wanted, std::string_view description) {
    if (!id.valid() || id.index() >= program_.exprs.size()) return check(false, "{} is missing", description);
    const Type type = visit_expr(id);
    if (type != wanted)
      complain("{} `{}` is {}, not {}", description, print(program_, id), name_of(type), name_of(wanted));
  }

  /// Checks an expression and returns its type.
  Type visit_expr(ExprId id) {
    const Expr& e = program_[id];
    if (!seen_.insert(id).second) return e.type;
    const Type type = std::visit([&](const auto& node) { return type_of(e, node); }, e.node);
    if (type != e.type) complain("`{}` says it is {} but is {}", print(program_, id), name_of(e.type), name_of(type));
    return type;
  }

  Type type_of(const Expr& e, const ConstF&) { return e.type == Type::f32 ? Type::f32 : Type::f64; }
  Type type_of(const Expr& e, const ConstI&) { return e.type == Type::boolean ? Type::boolean : Type::i64; }
  Type type_of(const Expr&, const Get& n) {
    check(in_scope_.contains(n.scalar), "`{}` is used outside its block", program_[n.scalar].name);
    return program_[n.scalar].type;
  }
  Type type_of(const Expr&, const Extent&) { return Type::i64; }
  Type type_of(const Expr&, const Load& n) {
    element(n.buffer, n.indices);
    return program_[n.buffer].element;
  }
  Type type_of(const Expr&, const Unary& n) {
    const UnaryRow& row = row_of(n.op);
    const Type in = visit_expr(n.operand);
    if (!accepts(row.takes, in)) complain("{} of the {} `{}`", row.name, name_of(in), print(program_, n.operand));
    return result_type(row.gives, in);
  }
  Type type_of(const Expr&, const Binary& n) {
    const BinaryRow& row = row_of(n.op);
    const Type in = visit_expr(n.left);
    expect(n.right, in, "right operand");
    check(accepts(row.takes, in), "operator {} on {}", row.name, name_of(in));
    return result_type(row.gives, in);
  }
  Type type_of(const Expr&, const Random& n) {
    const Buffer& key = program_[n.key];
    const bool is_key = key.element == Type::i64 && key.axes.size() == 1 && program_[key.axes[0]].constant == 3;
    check(is_key, "the key `{}` of a draw is not i64 with three elements", key.name);
    check_owner(n.key);
    expect(n.element, Type::i64, "element of a draw");
    expect(n.component, Type::i64, "component of a draw");
    expect(n.a, Type::f64, "argument of a draw");
    expect(n.b, Type::f64, "argument of a draw");
    return Type::f64;
  }
  Type type_of(const Expr&, const Select& n) {
    expect(n.condition, Type::boolean, "condition");
    const Type type = visit_expr(n.if_true);
    expect(n.if_false, type, "other side of select");
    return type;
  }

  /// Checks that a local array belongs to the function.
  void check_owner(BufferId buffer) {
    check(!is_local_array_[buffer.index()] || owned_.contains(buffer), "local array `{}` of another function",
          program_[buffer].name);
  }
  /// Checks the access of an array element: number and type of indices, and who owns a local array.
  void element(BufferId buffer, const std::vector<ExprId>& indices) {
    const Buffer& b = program_[buffer];
    check(indices.size() == b.axes.size(), "`{}` has {} axes, not {}", b.name, b.axes.size(), indices.size());
    check_owner(buffer);
    for (ExprId index : indices)
      expect(index, Type::i64, "index");
    for (std::size_t axis = 0; axis < std::min(indices.size(), b.axes.size()); ++axis)
      check_extent(b, program_[b.axes[axis]].constant, indices[axis]);
  }
  /// Checks an index that is a literal, or counts a loop between literals, against the extent of its axis.
  void check_extent(const Buffer& b, std::int64_t extent, ExprId index) {
    if (extent < 0) return;  // read at run time
    std::optional<Range> range;
    if (const std::optional<std::int64_t> value = literal(program_, index)) range = {*value, *value};
    const auto* get = std::get_if<Get>(&program_[index].node);
    if (const auto it = get ? ranges_.find(get->scalar) : ranges_.end(); it != ranges_.end()) range = it->second;
    if (range && (range->least < 0 || range->most >= extent))
      complain("index `{}` of `{}` is outside its extent {}", print(program_, index), b.name, extent);
  }

  // ---- statements ----

  /// Checks the statements of a block that stands in so many loops. Scalars that it declares go out of scope at its
  /// end.
  void block(const Block& statements, int loops) {
    const std::set<ScalarId> outer = in_scope_;
    for (const Stmt& s : statements) {
      seen_.clear();
      std::visit([&](const auto& node) { statement(node, loops); }, s.node);
    }
    in_scope_ = outer;
  }
  void statement(const For& n, int loops) {
    expect(n.begin, Type::i64, "bound");
    expect(n.end, Type::i64, "bound");
    check(n.step > 0, "a loop has the step {}", n.step);
    check(program_[n.index].type == Type::i64, "loop index `{}` is not i64", program_[n.index].name);
    in_scope_.insert(n.index);
    const std::optional<std::int64_t> begin = literal(program_, n.begin), end = literal(program_, n.end);
    if (begin && end && *begin < *end) ranges_[n.index] = {*begin, *end - 1 - (*end - 1 - *begin) % n.step};
    block(n.body, loops + 1);
    ranges_.erase(n.index);
    in_scope_.erase(n.index);
  }
  void statement(const Let& n, int) { declare(n.scalar, n.value); }
  void statement(const Local& n, int) {
    declare(n.scalar, n.initial);
    mutable_.insert(n.scalar);
  }
  void statement(const Assign& n, int) { change(n.scalar, n.value); }
  void statement(const Accumulate& n, int) {
    check(program_[n.scalar].type != Type::boolean, "accumulation in the bool `{}`", program_[n.scalar].name);
    change(n.scalar, n.value);
  }
  void statement(const Store& n, int) {
    element(n.buffer, n.indices);
    check(program_[n.buffer].role != Role::data, "store to the data `{}`", program_[n.buffer].name);
    expect(n.value, program_[n.buffer].element, "stored value");
  }
  void statement(const Fill& n, int) {
    check_owner(n.buffer);
    check(program_[n.buffer].role != Role::data, "store to the data `{}`", program_[n.buffer].name);
    expect(n.value, program_[n.buffer].element, "stored value");
  }
  void statement(const If& n, int loops) {
    expect(n.condition, Type::boolean, "condition");
    block(n.then_block, loops);
    block(n.else_block, loops);
  }
  void statement(const BreakIf& n, int loops) {
    expect(n.condition, Type::boolean, "condition");
    check(loops > 0, "break outside a loop");
  }
  void statement(const Fail& n, int) { check(n.code > 0, "status {} of a failure is not positive", n.code); }
  void statement(const Comment&, int) {}

  /// Checks the declaration of a scalar.
  void declare(ScalarId scalar, ExprId value) {
    expect(value, program_[scalar].type, "value");
    check(in_scope_.insert(scalar).second, "`{}` is declared twice", program_[scalar].name);
  }
  /// Checks an assignment: the scalar must be mutable and in scope.
  void change(ScalarId scalar, ExprId value) {
    check(in_scope_.contains(scalar) && mutable_.contains(scalar), "`{}` cannot be assigned here",
          program_[scalar].name);
    expect(value, program_[scalar].type, "value");
  }

  /// The values of a loop index, both ends included.
  struct Range {
    std::int64_t least, most;
  };

  const Program& program_;
  std::vector<std::string> problems_;
  std::string where_;
  std::map<ScalarId, Range> ranges_;  // of indices in scope, of loops between literals
  std::vector<bool> is_local_array_;
  std::set<ScalarId> in_scope_, mutable_;
  std::set<BufferId> owned_;
  std::set<ExprId> seen_;  // expressions that were checked in this statement
};

}  // namespace

std::vector<std::string> verify_functions(const Program& program) { return Verifier(program).run(); }

std::vector<std::string> verify(const Program& program) {
  std::vector<std::string> problems = verify_functions(program);
  // The check of regions relies on well-formed functions.
  return problems.empty() ? verify_regions(program) : problems;
}

}  // namespace lehr::loops
