// The printer of Loops. It prints as few parentheses as the operators' precedence needs. Indentation alone shows where
// a block ends.
#include "compiler/loops/print_loops.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "compiler/loops/operators.h"

namespace lehr::loops {
namespace {

/// The text under construction, and the names in scope.
class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string program() {
    if (!program_.sizes.empty()) line("sizes");
    for (const Size& size : program_.sizes) {
      line(size.constant >= 0 ? fmt::format("  {} = {}", size.name, size.constant)
                              : fmt::format("  {} = slot {}", size.name, size.slot));
    }
    if (!program_.buffers.empty()) line("buffers");
    for (const Buffer& buffer : program_.buffers)
      line("  " + declaration(buffer));
    for (const Function& function : program_.functions)
      print_function(function);
    return std::move(text_);
  }

  /// Returns the text of an expression, in parentheses if it binds less tightly than `outer`.
  std::string expr(ExprId id, int outer = 0) {
    const Expr& e = program_[id];
    auto [text, inner] = std::visit([&](const auto& node) { return node_text(e, node); }, e.node);
    return inner < outer ? "(" + text + ")" : text;
  }

 private:
  /// The text of an expression, and how tightly its outermost operator binds.
  using Text = std::pair<std::string, int>;

  Text node_text(const Expr&, const ConstF& n) {
    return {fmt::format("{:.6g}", n.value), n.value < 0 ? kPrefix : kAtom};
  }
  Text node_text(const Expr& e, const ConstI& n) {
    if (e.type == Type::boolean) return {n.value ? "true" : "false", kAtom};
    return {fmt::format("{}", n.value), n.value < 0 ? kPrefix : kAtom};
  }
  Text node_text(const Expr&, const Get& n) { return {name(n.scalar), kAtom}; }
  Text node_text(const Expr&, const Extent& n) { return {program_[n.size].name, kAtom}; }
  Text node_text(const Expr&, const Load& n) { return {element(n.buffer, n.indices), kAtom}; }
  Text node_text(const Expr&, const Unary& n) {
    const UnaryRow& row = row_of(n.op);
    if (row.precedence == kAtom) return {fmt::format("{}({})", row.name, expr(n.operand)), kAtom};
    return {fmt::format("{}{}{}", row.name, row.name == "-" ? "" : " ", expr(n.operand, kPrefix)), kPrefix};
  }
  Text node_text(const Expr&, const Binary& n) {
    const BinaryRow& row = row_of(n.op);
    if (row.precedence == kAtom) return {fmt::format("{}({}, {})", row.name, expr(n.left), expr(n.right)), kAtom};
    return {fmt::format("{} {} {}", expr(n.left, row.precedence), row.name, expr(n.right, row.precedence + 1)),
            row.precedence};
  }
  Text node_text(const Expr&, const Random& n) {
    return {fmt::format("{}({}, {}, {}; {}, {})", name_of(n.noise), n.site, expr(n.element), expr(n.component),
                        expr(n.a), expr(n.b)),
            kAtom};
  }
  Text node_text(const Expr&, const Select& n) {
    return {fmt::format("select({}, {}, {})", expr(n.condition), expr(n.if_true), expr(n.if_false)), kAtom};
  }

  /// Returns the text of an array element.
  std::string element(BufferId buffer, const std::vector<ExprId>& indices) {
    std::string result = program_[buffer].name;
    if (indices.empty()) return result;
    for (std::size_t axis = 0; axis < indices.size(); ++axis)
      result += (axis ? ", " : "[") + expr(indices[axis]);
    return result + "]";
  }

  /// Returns the text of a buffer: name, axes, type and role.
  std::string declaration(const Buffer& buffer) {
    std::string result = buffer.name;
    for (std::size_t axis = 0; axis < buffer.axes.size(); ++axis)
      result += (axis ? ", " : "[") + program_[buffer.axes[axis]].name;
    if (!buffer.axes.empty()) result += "]";
    return fmt::format("{} : {} {}", result, name_of(buffer.element), name_of(buffer.role));
  }

  void print_function(const Function& function) {
    std::string parameters;
    for (ScalarId p : function.parameters) {
      parameters += fmt::format("{}{}: {}", parameters.empty() ? "" : ", ", declare(p), name_of(program_[p].type));
    }
    line(fmt::format("function {}({})", function.name, parameters));
    for (BufferId local : function.local_arrays)
      line("  array " + declaration(program_[local]));
    for (const CachedSums& k : function.cached)
      line(fmt::format("  before: {} where {} = 0", program_.functions[k.function].name, program_[k.valid_flag].name));
    for (const ParallelRegion& p : function.regions) {
      const std::string sums = p.sums.valid() ? ", sums in " + program_[p.sums].name : "";
      line(fmt::format("  before: {} for 0 .. {}{}", program_.functions[p.function].name, expr(p.trip_count), sums));
    }
    block(function.body);
    for (ScalarId p : function.parameters)
      retire(p);
  }

  void block(const Block& statements) {
    ++depth_;
    std::vector<ScalarId> declared;
    for (const Stmt& s : statements)
      std::visit([&](const auto& node) { statement(node, declared); }, s.node);
    for (ScalarId scalar : declared)
      retire(scalar);
    --depth_;
  }

  /// The scalars that a block declares, which leave the scope at its end.
  using Declared = std::vector<ScalarId>;
  void statement(const For& n, Declared&) {
    const std::string bounds = fmt::format("{} .. {}", expr(n.begin, kSum), expr(n.end, kSum));
    const std::string step = n.step == 1 ? "" : fmt::format(" by {}", n.step);
    line(fmt::format("for {} in {}{}{}", declare(n.index), bounds, step, n.independent ? " independent" : ""));
    block(n.body);
    retire(n.index);
  }
  void statement(const Let& n, Declared& declared) { declaration("let", n.scalar, n.value, declared); }
  void statement(const Local& n, Declared& declared) { declaration("var", n.scalar, n.initial, declared); }
  void statement(const Assign& n, Declared&) { line(fmt::format("{} = {}", name(n.scalar), expr(n.value))); }
  void statement(const Accumulate& n, Declared&) { line(fmt::format("{} += {}", name(n.scalar), expr(n.value))); }
  void statement(const Store& n, Declared&) {
    line(fmt::format("{} {} {}", element(n.buffer, n.indices), n.accumulate ? "+=" : "=", expr(n.value)));
  }
  void statement(const Fill& n, Declared&) {
    line(fmt::format("fill {} = {}", program_[n.buffer].name, expr(n.value)));
  }
  void statement(const If& n, Declared&) {
    line((n.rare ? "rarely if " : "if ") + expr(n.condition));
    block(n.then_block);
    if (n.else_block.empty()) return;
    line("else");
    block(n.else_block);
  }
  void statement(const BreakIf& n, Declared&) { line("break if " + expr(n.condition)); }
  void statement(const Fail& n, Declared&) { line(fmt::format("fail {}", n.code)); }
  void statement(const Comment& n, Declared&) { line("// " + n.text); }

  /// Prints a `let` or `var`.
  void declaration(std::string_view word, ScalarId scalar, ExprId value, Declared& declared) {
    const std::string text = expr(value);  // `value` may mention an outer scalar of the same name
    line(fmt::format("{} {} = {}", word, declare(scalar), text));
    declared.push_back(scalar);
  }

  /// Enters a scalar into the scope and returns its name, with a number if the plain name is in scope already.
  std::string declare(ScalarId scalar) {
    const std::string& plain = program_[scalar].name;
    const int count = ++in_scope_[plain];
    names_[scalar] = count == 1 ? plain : fmt::format("{}_{}", plain, count);
    return names_[scalar];
  }
  /// Removes a scalar from the scope.
  void retire(ScalarId scalar) {
    --in_scope_[program_[scalar].name];
    names_.erase(scalar);
  }
  /// Returns the name of a scalar: the plain one if it is not in scope, as in single expressions.
  std::string name(ScalarId scalar) const {
    const auto it = names_.find(scalar);
    return it == names_.end() ? program_[scalar].name : it->second;
  }

  /// Appends a line at the current depth.
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }

  const Program& program_;
  std::string text_;
  std::size_t depth_ = 0;
  std::unordered_map<std::string, int> in_scope_;
  std::unordered_map<ScalarId, std::string> names_;
};

}  // namespace

std::string print(const Program& program) { return Printer(program).program(); }

std::string print(const Program& program, ExprId expr) { return Printer(program).expr(expr); }

std::string_view name_of(Type type) {
  constexpr std::string_view kNames[] = {"f64", "i64", "bool", "f32"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view name_of(Role role) {
  constexpr std::string_view kNames[] = {"data",  "parameter", "natural", "expectation",
                                         "table", "statistic", "scratch", "output"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view name_of(UnaryOp op) { return row_of(op).name; }
std::string_view name_of(BinaryOp op) { return row_of(op).name; }

}  // namespace lehr::loops
