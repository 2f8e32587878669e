// The parser of Loops: by recursive descent over lines for statements, by precedence climbing over the table of
// operators for expressions. An error is thrown from wherever it is found, and caught in parse().
#include "compiler/loops/parse_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "compiler/loops/builder.h"
#include "compiler/loops/lex_loops.h"
#include "compiler/loops/operators.h"
#include "compiler/loops/print_loops.h"

namespace lehr::loops {
namespace {

/// Returns the first of the values whose printed name is `name`; nothing if there is none. The values are 0 to `last`.
template <class T>
std::optional<T> named(std::string_view name, T last) {
  for (int k = 0; k <= static_cast<int>(last); ++k)
    if (name_of(static_cast<T>(k)) == name) return static_cast<T>(k);
  return std::nullopt;
}

/// What is thrown at an error.
struct Failure {
  Error error;
};

/// Reads the tokens of one line after another.
class Cursor {
 public:
  Cursor(const Source& source, std::vector<Line> lines) : source_(source), lines_(std::move(lines)) {}

  /// Returns true behind the last line.
  bool at_end() const { return line_ == lines_.size(); }
  /// Returns the current line.
  const Line& line() const { return lines_[line_]; }
  /// Returns true if the current line is that deep.
  bool is_at_depth(std::size_t depth) const { return !at_end() && line().depth == depth; }
  /// Goes to the next line. Fails if there are tokens left in this one.
  void next_line() {
    if (!line().is_comment && token().kind != TokenKind::end) fail(fmt::format("'{}' is not expected", token().text));
    ++line_;
    token_ = 0;
  }

  /// Returns the current token. Fails if the line is a comment.
  const Token& token() const {
    if (line().is_comment) fail("a comment is not expected here");
    return line().tokens[token_];
  }
  /// Returns the token behind the current one.
  const Token& token_after() const { return line().tokens[std::min(token_ + 1, line().tokens.size() - 1)]; }
  /// Returns the current token and goes to the next.
  const Token& take() {
    const Token& out = token();
    if (out.kind != TokenKind::end) ++token_;
    return out;
  }
  /// Returns true if the current token is this word or symbol.
  bool is(std::string_view text) const {
    return !line().is_comment && token().text == text &&
           (token().kind == TokenKind::name || token().kind == TokenKind::symbol);
  }
  /// Passes the current token if it is this word or symbol, and returns true then.
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    ++token_;
    return true;
  }
  /// Passes this word or symbol, or fails.
  void expect(std::string_view text) {
    if (!accept(text)) fail_expected(fmt::format("'{}'", text));
  }
  /// Passes a name and returns it, or fails.
  std::string name(std::string_view what) {
    if (token().kind != TokenKind::name && token().kind != TokenKind::quoted_name) fail_expected(std::string(what));
    return take().text;
  }
  /// Passes an integer with or without a minus sign and returns it, or fails.
  std::int64_t integer() {
    const bool negative = accept("-");
    std::int64_t out = 0;
    const std::string& text = token().text;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (token().kind != TokenKind::number || problem != std::errc() || end != text.data() + text.size())
      fail_expected("an integer");
    take();
    return negative ? -out : out;
  }

  [[noreturn]] void fail(std::string text) const {
    const std::size_t number = !at_end() ? line().number : lines_.empty() ? 1 : lines_.back().number;
    throw Failure{error_at(source_, number, std::move(text))};
  }
  [[noreturn]] void fail_expected(const std::string& what) const {
    fail(token().kind == TokenKind::end ? fmt::format("expected {} at the end of the line", what)
                                        : fmt::format("expected {}, not '{}'", what, token().text));
  }

 private:
  const Source& source_;
  std::vector<Line> lines_;
  std::size_t line_ = 0, token_ = 0;
};

/// What names mean, and the expressions that are made of them.
class Expressions {
 public:
  Expressions(Cursor& cursor, Builder& builder) : cursor_(cursor), builder_(builder) {}

  /// Declares a size or a buffer under a name that no other has.
  void add_size(const std::string& name, SizeId id) { add(sizes_, name, id); }
  void add_buffer(const std::string& name, BufferId id) { add(buffers_, name, id); }
  /// Declares a scalar until remove_scalar is called.
  ScalarId add_scalar(const std::string& name, Type type) {
    if (sizes_.contains(name)) cursor_.fail(fmt::format("'{}' is the name of a size", name));
    const ScalarId out = builder_.scalar(name, type);
    add(scalars_, name, out);
    return out;
  }
  void remove_scalar(ScalarId id) { scalars_.erase(builder_.program()[id].name); }

  /// Passes a name and returns what it is declared as, or fails.
  SizeId size() { return find(sizes_, "a size"); }
  BufferId buffer() { return find(buffers_, "a buffer"); }
  ScalarId scalar() { return find(scalars_, "a scalar in scope"); }

  /// Parses an expression whose outermost operator binds at least as tightly as `least`.
  ExprId expr(int least = kOr) {
    ExprId left = prefix();
    while (const std::optional<BinaryOp> op = operator_here(least)) {
      cursor_.take();
      left = binary(*op, left, expr(row_of(*op).precedence + 1));
    }
    return left;
  }
  /// Parses an expression of the type, or fails.
  ExprId expr_of(Type type) {
    const ExprId out = expr();
    if (type_of(out) != type)
      cursor_.fail(fmt::format("an expression of type {}, where {} is needed", name_of(type_of(out)), name_of(type)));
    return out;
  }
  /// Parses `[i, j, ...]`, an index for each axis of the buffer.
  std::vector<ExprId> indices(BufferId buffer) {
    std::vector<ExprId> out;
    cursor_.expect("[");
    while (!cursor_.accept("]")) {
      if (!out.empty()) cursor_.expect(",");
      out.push_back(expr_of(Type::i64));
    }
    const Buffer& b = builder_.program()[buffer];
    if (out.size() != b.axes.size())
      cursor_.fail(fmt::format("{} indices of '{}', which has {} axes", out.size(), b.name, b.axes.size()));
    return out;
  }
  Type type_of(ExprId e) const { return builder_.type(e); }

 private:
  template <class T>
  void add(std::map<std::string, T>& names, const std::string& name, T id) {
    if (!names.emplace(name, id).second) cursor_.fail(fmt::format("'{}' is declared twice", name));
  }
  template <class T>
  T find(const std::map<std::string, T>& names, std::string_view what) {
    const auto it = names.find(cursor_.token().text);
    if (it == names.end()) cursor_.fail_expected(fmt::format("the name of {}", what));
    cursor_.take();
    return it->second;
  }

  /// Returns the infix operator at the current token, if it binds at least as tightly as `least`.
  std::optional<BinaryOp> operator_here(int least) const {
    if (cursor_.token().kind != TokenKind::symbol && cursor_.token().kind != TokenKind::name) return std::nullopt;
    const std::optional<BinaryOp> op = named(cursor_.token().text, BinaryOp::logical_or);
    if (!op || row_of(*op).precedence == kAtom || row_of(*op).precedence < least) return std::nullopt;
    return op;
  }

  ExprId prefix() {
    if (cursor_.accept("not")) return unary(UnaryOp::logical_not, prefix());
    if (!cursor_.accept("-")) return atom();
    if (const std::optional<ExprId> number = literal(-1)) return *number;
    return unary(UnaryOp::negate, atom());
  }

  ExprId atom() {
    if (cursor_.accept("(")) return closed(expr());
    if (const std::optional<ExprId> number = literal(1)) return *number;
    for (const bool truth : {false, true})
      if (cursor_.accept(truth ? "true" : "false")) return builder_.intern(Type::boolean, ConstI{truth});
    if (cursor_.token().kind == TokenKind::end || cursor_.token().kind == TokenKind::symbol)
      cursor_.fail_expected("an expression");
    const std::string& next = cursor_.token_after().text;
    if (next == "(" && cursor_.token().kind == TokenKind::name) return call();
    if (next == "[") {
      const BufferId from = buffer();
      return builder_.intern(builder_.program()[from].element, Load{from, indices(from)});
    }
    if (scalars_.contains(cursor_.token().text)) {
      const ScalarId read = scalar();
      return builder_.intern(builder_.program()[read].type, Get{read});
    }
    return builder_.extent(size());  // a literal if it is constant
  }

  /// Parses a literal without its sign, if there is one here.
  std::optional<ExprId> literal(int sign) {
    std::string text = cursor_.token().text;
    const bool is_f32 = text.ends_with("f32") && text != "f32";
    if (is_f32) text.resize(text.size() - 3);
    const bool is_word = cursor_.token().kind == TokenKind::name && (text == "inf" || text == "nan");
    if (cursor_.token().kind != TokenKind::number && !is_word) return std::nullopt;
    if (!is_f32 && text.find_first_of(".en") == std::string::npos)
      return builder_.intern(Type::i64, ConstI{sign * cursor_.integer()});
    double value = text == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    if (!is_word) std::from_chars(text.data(), text.data() + text.size(), value);
    cursor_.take();
    return builder_.intern(is_f32 ? Type::f32 : Type::f64, ConstF{sign < 0 ? -value : value});
  }

  /// Passes the parenthesis behind an expression.
  ExprId closed(ExprId e) {
    cursor_.expect(")");
    return e;
  }

  /// Parses the call of a function: an operator, `select`, `reload` or a random number.
  ExprId call() {
    const std::string name = cursor_.take().text;
    cursor_.expect("(");
    if (const std::optional<UnaryOp> op = named(name, UnaryOp::is_nan); op && row_of(*op).precedence == kAtom)
      return closed(unary(*op, expr()));
    if (const std::optional<BinaryOp> op = named(name, BinaryOp::logical_or); op && row_of(*op).precedence == kAtom) {
      const ExprId left = before_comma(expr());
      return closed(binary(*op, left, expr()));
    }
    if (const std::optional<math::Noise> noise = named(name, math::Noise::truncated)) return random(*noise);
    if (name == "select") {
      const ExprId condition = before_comma(expr_of(Type::boolean)), if_true = before_comma(expr());
      return closed(builder_.intern(type_of(if_true), Select{condition, if_true, expr_of(type_of(if_true))}));
    }
    if (name != "reload") cursor_.fail(fmt::format("'{}' is no function", name));
    const BufferId from = buffer();
    return closed(builder_.intern(builder_.program()[from].element, Load{from, indices(from), true}));
  }
  ExprId before_comma(ExprId e) {
    cursor_.expect(",");
    return e;
  }
  /// Parses the arguments of a random number, `key; site, element, component; a, b)`.
  ExprId random(math::Noise noise) {
    Random out;
    out.noise = noise;
    out.key = buffer();
    cursor_.expect(";");
    out.site = cursor_.integer();
    cursor_.expect(",");
    out.element = before_comma(expr_of(Type::i64));
    out.component = expr_of(Type::i64);
    cursor_.expect(";");
    out.a = before_comma(expr_of(Type::f64));
    out.b = closed(expr_of(Type::f64));
    return builder_.intern(Type::f64, out);
  }

  ExprId unary(UnaryOp op, ExprId operand) {
    const UnaryRow& row = row_of(op);
    if (!accepts(row.takes, type_of(operand)))
      cursor_.fail(fmt::format("'{}' of an expression of type {}", row.name, name_of(type_of(operand))));
    return builder_.intern(result_type(row.gives, type_of(operand)), Unary{op, operand});
  }
  ExprId binary(BinaryOp op, ExprId left, ExprId right) {
    const BinaryRow& row = row_of(op);
    if (type_of(left) != type_of(right) || !accepts(row.takes, type_of(left)))
      cursor_.fail(fmt::format("'{}' of expressions of types {} and {}", row.name, name_of(type_of(left)),
                               name_of(type_of(right))));
    return builder_.intern(result_type(row.gives, type_of(left)), Binary{op, left, right});
  }

  Cursor& cursor_;
  Builder& builder_;
  std::map<std::string, SizeId> sizes_;
  std::map<std::string, BufferId> buffers_;
  std::map<std::string, ScalarId> scalars_;  // in scope
};

/// Parses a program.
class Parser {
 public:
  Parser(const Source& source, std::vector<Line> lines)
      : source_(source), cursor_(source, std::move(lines)), expressions_(cursor_, builder_) {}

  Program program() {
    for (section("sizes"); cursor_.is_at_depth(1); cursor_.next_line())
      declare_size();
    for (section("buffers"); cursor_.is_at_depth(1); cursor_.next_line())
      declare_buffer();
    for (; cursor_.is_at_depth(0) && cursor_.accept("demand"); cursor_.next_line())
      demand_flag();
    while (!cursor_.at_end())
      functions_.push_back(function());
    resolve_calls();
    Program out = builder_.take();
    out.functions = std::move(functions_);
    out.demand_flags = demand_flags_;
    return out;
  }

 private:
  /// Puts the positions of the functions that are called before others in their places.
  void resolve_calls() {
    for (const Call& call : calls_) {
      const auto it = std::ranges::find(functions_, call.name, &Function::name);
      if (it == functions_.end())
        throw Failure{error_at(source_, call.line, fmt::format("there is no function '{}'", call.name))};
      const auto position = static_cast<std::size_t>(it - functions_.begin());
      Function& caller = functions_[call.caller];
      (call.is_region ? caller.regions[call.entry].function : caller.cached[call.entry].function) = position;
    }
  }

  /// Passes the line that opens a section, if it is here.
  void section(std::string_view word) {
    if (!cursor_.at_end() && cursor_.accept(word)) cursor_.next_line();
  }

  void declare_size() {
    const std::string name = cursor_.name("the name of a size");
    cursor_.expect("=");
    Size size{.name = name};
    if (cursor_.accept("slot")) size.slot = static_cast<std::int32_t>(cursor_.integer());
    else size.constant = cursor_.integer();
    expressions_.add_size(name, builder_.size(std::move(size)));
  }

  void declare_buffer() {
    Buffer b;
    b.name = cursor_.name("the name of a buffer");
    cursor_.expect("[");
    while (!cursor_.accept("]")) {
      if (!b.axes.empty()) cursor_.expect(",");
      b.axes.push_back(expressions_.size());
    }
    cursor_.expect(":");
    b.element = one_of("a type", Type::f32);
    b.role = one_of("a role", Role::output);
    if (cursor_.accept("demand")) b.demand = one_of("a kind of demand", Demand::elbo);
    if (cursor_.accept("used")) b.used_length = cursor_.integer();
    b.exact = cursor_.accept("exact");
    expressions_.add_buffer(b.name, builder_.buffer(b));
  }

  /// Passes the name of a value of an enumeration, whose last value is `last`.
  template <class T>
  T one_of(std::string_view what, T last) {
    const std::optional<T> out = named(cursor_.token().text, last);
    if (!out) cursor_.fail_expected(std::string(what));
    cursor_.take();
    return *out;
  }

  void demand_flag() {
    const auto demand = static_cast<std::size_t>(one_of("a kind of demand", Demand::elbo));
    cursor_.expect("if");
    NumberAddress& flag = demand_flags_[demand];
    flag.buffer = expressions_.buffer();
    cursor_.expect("[");
    flag.at = cursor_.integer();
    for (const char* const symbol : {"]", ">"})
      cursor_.expect(symbol);
    cursor_.integer();
  }

  Function function() {
    cursor_.expect("function");
    Function out;
    out.name = cursor_.name("the name of a function");
    cursor_.expect("(");
    while (!cursor_.accept(")")) {
      if (!out.parameters.empty()) cursor_.expect(",");
      const std::string name = cursor_.name("the name of a parameter");
      cursor_.expect(":");
      out.parameters.push_back(expressions_.add_scalar(name, one_of("a type", Type::f32)));
    }
    out.cold = cursor_.accept("cold");
    out.seldom = cursor_.accept("seldom");
    out.f32_allowed = cursor_.accept("f32_allowed");
    cursor_.next_line();
    for (; cursor_.is_at_depth(1) && cursor_.accept("array"); cursor_.next_line())
      out.local_arrays.push_back(expressions_.buffer());
    for (; cursor_.is_at_depth(1) && cursor_.accept("before"); cursor_.next_line())
      call_before(out);
    out.body = block(1);
    if (!cursor_.at_end() && cursor_.line().depth > 0) cursor_.fail("the line is indented too far");
    for (const ScalarId p : out.parameters)
      expressions_.remove_scalar(p);
    return out;
  }

  /// Parses what a caller runs before a function: one that forms cached sums, or a parallel region.
  void call_before(Function& function) {
    cursor_.expect(":");
    const std::string name = cursor_.name("the name of a function");
    const std::size_t line = cursor_.line().number;
    if (cursor_.accept("if")) {
      function.cached.push_back({0, expressions_.buffer()});
      for (const char* const symbol : {"[", "]", "="})
        cursor_.expect(symbol);
      cursor_.integer();
      return calls_.push_back({functions_.size(), function.cached.size() - 1, false, name, line});
    }
    cursor_.expect("for");
    cursor_.integer();
    cursor_.expect("..");
    ParallelRegion region{0, expressions_.expr_of(Type::i64), {}};
    if (cursor_.accept(",")) {
      for (const char* const word : {"sums", "in"})
        cursor_.expect(word);
      region.sums = expressions_.buffer();
    }
    function.regions.push_back(region);
    calls_.push_back({functions_.size(), function.regions.size() - 1, true, name, line});
  }

  /// Parses the statements of that depth.
  Block block(std::size_t depth) {
    Block out;
    std::vector<ScalarId> declared;
    while (cursor_.is_at_depth(depth))
      out.push_back(statement(depth, declared));
    for (const ScalarId s : declared)
      expressions_.remove_scalar(s);
    return out;
  }

  Stmt statement(std::size_t depth, std::vector<ScalarId>& declared) {
    if (cursor_.line().is_comment) {
      Comment out{cursor_.line().comment};
      cursor_.next_line();
      return {out};
    }
    if (cursor_.accept("for")) return {loop(depth)};
    if (cursor_.is("if") || cursor_.is("rarely")) return {branch(depth)};
    Stmt out = simple_statement(declared);
    cursor_.next_line();
    return out;
  }

  For loop(std::size_t depth) {
    For out;
    const std::string name = cursor_.name("the name of a loop index");
    cursor_.expect("in");
    out.begin = range_end();
    cursor_.expect("..");
    out.end = range_end();
    if (cursor_.accept("by")) out.step = cursor_.integer();
    out.independent = cursor_.accept("independent");
    out.vectorised = cursor_.accept("vectorised");
    cursor_.next_line();
    out.index = expressions_.add_scalar(name, Type::i64);
    out.body = block(depth + 1);
    expressions_.remove_scalar(out.index);
    return out;
  }
  /// Parses an end of the range of a loop.
  ExprId range_end() {
    const ExprId out = expressions_.expr(kSum);
    if (expressions_.type_of(out) != Type::i64) cursor_.fail("a range has ends of type i64");
    return out;
  }

  If branch(std::size_t depth) {
    If out;
    out.rare = cursor_.accept("rarely");
    cursor_.expect("if");
    out.condition = expressions_.expr_of(Type::boolean);
    cursor_.next_line();
    out.then_block = block(depth + 1);
    if (cursor_.is_at_depth(depth) && cursor_.accept("else")) {
      cursor_.next_line();
      out.else_block = block(depth + 1);
    }
    return out;
  }

  /// Parses a statement of one line.
  Stmt simple_statement(std::vector<ScalarId>& declared) {
    for (const bool is_let : {true, false}) {
      if (!cursor_.accept(is_let ? "let" : "var")) continue;
      const std::string name = cursor_.name("a name");
      cursor_.expect("=");
      const ExprId value = expressions_.expr();
      declared.push_back(expressions_.add_scalar(name, expressions_.type_of(value)));
      if (is_let) return {Let{declared.back(), value}};
      return {Local{declared.back(), value}};
    }
    if (cursor_.accept("break")) {
      cursor_.expect("if");
      return {BreakIf{expressions_.expr_of(Type::boolean)}};
    }
    if (cursor_.accept("fail")) return {Fail{static_cast<std::int32_t>(cursor_.integer())}};
    if (cursor_.accept("fill")) {
      const BufferId buffer = expressions_.buffer();
      for (const char* const symbol : {"[", "]", "="})
        cursor_.expect(symbol);
      return {Fill{buffer, expressions_.expr_of(builder_.program()[buffer].element)}};
    }
    return assignment();
  }

  /// Parses an assignment, or an addition, to a scalar or an element.
  Stmt assignment() {
    if (cursor_.token_after().text == "[") {
      Store out;
      out.buffer = expressions_.buffer();
      out.indices = expressions_.indices(out.buffer);
      out.accumulate = is_addition();
      out.value = expressions_.expr_of(builder_.program()[out.buffer].element);
      return {out};
    }
    const ScalarId scalar = expressions_.scalar();
    const bool adds = is_addition();
    const ExprId value = expressions_.expr_of(builder_.program()[scalar].type);
    if (adds) return {Accumulate{scalar, value}};
    return {Assign{scalar, value}};
  }
  bool is_addition() {
    if (cursor_.accept("+=")) return true;
    cursor_.expect("=");
    return false;
  }

  /// The call of a function before another.
  struct Call {
    std::size_t caller, entry;  // positions of the function, and in its list of regions or of cached sums
    bool is_region;             // which list
    std::string name;           // of the function that is called
    std::size_t line;           // where it is called
  };

  const Source& source_;
  Builder builder_;
  Cursor cursor_;
  Expressions expressions_;
  std::vector<Function> functions_;
  std::vector<Call> calls_;  // functions may be called before they are declared
  std::array<NumberAddress, 3> demand_flags_ = {};
};

}  // namespace

Result<Program> parse(const Source& source) {
  Result<std::vector<Line>> lines = lex(source);
  if (!lines) return lines.error();
  try {
    return Parser(source, std::move(*lines)).program();
  } catch (const Failure& failure) {
    return failure.error;
  }
}

}  // namespace lehr::loops
