// The printer of Loops. It prints as few parentheses as the operators' precedence needs. Indentation alone shows where
// a block ends. parse_loops.h reads the text back: whatever has a meaning is printed, and no two things have one name.
#include "compiler/loops/print_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/loops/operators.h"

namespace lehr::loops {
namespace {

/// The text under construction, and the names in scope.
class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {
    for (const Size& size : program.sizes)
      size_names_.push_back(unused(size.name));
  }

  std::string program() {
    if (!program_.sizes.empty()) line("sizes");
    for (std::size_t k = 0; k < program_.sizes.size(); ++k) {
      const Size& size = program_.sizes[k];
      line(size.constant >= 0 ? fmt::format("  {} = {}", size_names_[k], size.constant)
                              : fmt::format("  {} = slot {}", size_names_[k], size.slot));
    }
    if (!program_.buffers.empty()) line("buffers");
    for (const Buffer& buffer : program_.buffers)
      line("  " + declaration(buffer));
    print_demand_flags();
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

  Text node_text(const Expr& e, const ConstF& n) {
    std::string text =
        e.type == Type::f32 ? fmt::format("{}", static_cast<float>(n.value)) : fmt::format("{}", n.value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";  // n: of inf and nan
    return {text + (e.type == Type::f32 ? "f32" : ""), std::signbit(n.value) ? kPrefix : kAtom};
  }
  Text node_text(const Expr& e, const ConstI& n) {
    if (e.type == Type::boolean) return {n.value ? "true" : "false", kAtom};
    return {fmt::format("{}", n.value), n.value < 0 ? kPrefix : kAtom};
  }
  Text node_text(const Expr&, const Get& n) { return {name(n.scalar), kAtom}; }
  Text node_text(const Expr&, const Extent& n) { return {size_names_[n.size.index()], kAtom}; }
  Text node_text(const Expr&, const Load& n) {
    const std::string text = element(n.buffer, n.indices);
    return {n.reload ? "reload(" + text + ")" : text, kAtom};
  }
  Text node_text(const Expr&, const Unary& n) {
    const UnaryRow& row = row_of(n.op);
    if (row.precedence == kAtom) return {fmt::format("{}({})", row.name, expr(n.operand)), kAtom};
    if (n.op == UnaryOp::negate && is_literal(n.operand))
      return {"-(" + expr(n.operand) + ")", kPrefix};  // -1: a literal
    if (n.op == UnaryOp::negate) return {"-" + expr(n.operand, kAtom), kPrefix};
    return {fmt::format("{} {}", row.name, expr(n.operand, kPrefix)), kPrefix};
  }
  Text node_text(const Expr&, const Binary& n) {
    const BinaryRow& row = row_of(n.op);
    if (row.precedence == kAtom) return {fmt::format("{}({}, {})", row.name, expr(n.left), expr(n.right)), kAtom};
    return {fmt::format("{} {} {}", expr(n.left, row.precedence), row.name, expr(n.right, row.precedence + 1)),
            row.precedence};
  }
  // With its namespace, since a std::string finds std::quoted, too.
  Text node_text(const Expr&, const Random& n) {
    return {fmt::format("{}({}; {}, {}, {}; {}, {})", name_of(n.noise), loops::quoted(program_[n.key].name), n.site,
                        expr(n.element), expr(n.component), expr(n.a), expr(n.b)),
            kAtom};
  }
  Text node_text(const Expr&, const Select& n) {
    return {fmt::format("select({}, {}, {})", expr(n.condition), expr(n.if_true), expr(n.if_false)), kAtom};
  }

  /// Returns true if the expression is a number.
  bool is_literal(ExprId id) const {
    return std::holds_alternative<ConstF>(program_[id].node) || std::holds_alternative<ConstI>(program_[id].node);
  }

  /// Returns the text of an array element.
  std::string element(BufferId buffer, const std::vector<ExprId>& indices) {
    std::string result = loops::quoted(program_[buffer].name) + "[";
    for (std::size_t axis = 0; axis < indices.size(); ++axis)
      result += (axis ? ", " : "") + expr(indices[axis]);
    return result + "]";
  }

  /// Returns the text of a buffer: name, axes, type, role, and what else is declared of it.
  std::string declaration(const Buffer& buffer) {
    std::string result = loops::quoted(buffer.name) + "[";
    for (std::size_t axis = 0; axis < buffer.axes.size(); ++axis)
      result += (axis ? ", " : "") + size_names_[buffer.axes[axis].index()];
    result += fmt::format("] : {} {}", name_of(buffer.element), name_of(buffer.role));
    if (buffer.demand != Demand::always) result += fmt::format(" demand {}", name_of(buffer.demand));
    if (buffer.used_length > 0) result += fmt::format(" used {}", buffer.used_length);
    return result + (buffer.exact ? " exact" : "");
  }

  void print_demand_flags() {
    for (const Demand d : {Demand::item_parameters, Demand::elbo})
      if (const NumberAddress& flag = program_.demand_flags[static_cast<std::size_t>(d)]; flag.buffer.valid())
        line(fmt::format("demand {} if {}[{}] > 0", name_of(d), loops::quoted(program_[flag.buffer].name), flag.at));
  }

  void print_function(const Function& function) {
    std::string parameters;
    for (ScalarId p : function.parameters) {
      parameters += fmt::format("{}{}: {}", parameters.empty() ? "" : ", ", declare(p), name_of(program_[p].type));
    }
    line(fmt::format("function {}({}){}{}{}", loops::quoted(function.name), parameters, function.cold ? " cold" : "",
                     function.seldom ? " seldom" : "", function.f32_allowed ? " f32_allowed" : ""));
    for (BufferId local : function.local_arrays)
      line("  array " + loops::quoted(program_[local].name));
    for (const CachedSums& k : function.cached)
      line(fmt::format("  before: {} if {}[] = 0", loops::quoted(program_.functions[k.function].name),
                       loops::quoted(program_[k.valid_flag].name)));
    for (const ParallelRegion& p : function.regions) {
      const std::string sums = p.sums.valid() ? ", sums in " + loops::quoted(program_[p.sums].name) : "";
      line(fmt::format("  before: {} for 0 .. {}{}", loops::quoted(program_.functions[p.function].name),
                       expr(p.trip_count), sums));
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
    line(fmt::format("for {} in {}{}{}", declare(n.index), bounds, step, n.independent ? " independent" : "") +
         (n.vectorised ? " vectorised" : ""));
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
    line(fmt::format("fill {}[] = {}", loops::quoted(program_[n.buffer].name), expr(n.value)));
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

  /// Returns the name in the form in which the text has it, with a number if the plain name is in use.
  std::string unused(const std::string& plain) {
    std::string name = loops::quoted(plain);
    for (int k = 2; !in_use_.insert(name).second; ++k)
      name = loops::quoted(fmt::format("{}_{}", plain, k));
    return name;
  }
  /// Enters a scalar into the scope and returns its name.
  std::string declare(ScalarId scalar) { return names_[scalar] = unused(program_[scalar].name); }
  /// Removes a scalar from the scope.
  void retire(ScalarId scalar) {
    in_use_.erase(names_[scalar]);
    names_.erase(scalar);
  }
  /// Returns the name of a scalar: the plain one if it is not in scope, as in single expressions.
  std::string name(ScalarId scalar) const {
    const auto it = names_.find(scalar);
    return it == names_.end() ? loops::quoted(program_[scalar].name) : it->second;
  }

  /// Appends a line at the current depth.
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }

  const Program& program_;
  std::string text_;
  std::size_t depth_ = 0;
  std::unordered_set<std::string> in_use_;           // names of sizes, and of scalars in scope
  std::vector<std::string> size_names_;              // by SizeId
  std::unordered_map<ScalarId, std::string> names_;  // of scalars in scope
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

std::string_view name_of(Demand demand) {
  constexpr std::string_view kNames[] = {"always", "item_parameters", "elbo"};
  return kNames[static_cast<std::size_t>(demand)];
}

std::string quoted(std::string_view name) {
  constexpr std::string_view kWords[] = {"and",    "array",  "before", "break", "by",   "else",   "exact",
                                         "f32",    "f64",    "fail",   "false", "fill", "for",    "i64",
                                         "if",     "in",     "inf",    "let",   "nan",  "not",    "or",
                                         "rarely", "reload", "true",   "used",  "var",  "demand", "bool"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_inside = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; };
  const bool plain = !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_inside) &&
                     std::ranges::find(kWords, name) == std::end(kWords);
  return plain ? std::string(name) : fmt::format("'{}'", name);
}

std::string_view name_of(UnaryOp op) { return row_of(op).name; }
std::string_view name_of(BinaryOp op) { return row_of(op).name; }

}  // namespace lehr::loops
