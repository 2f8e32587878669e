// The builder of Loops: hash-consing, constant folding, and the stack of open blocks.
//
// Hash-consing (as of LLVM's constants and SelectionDAG nodes) keys each expression node by a vector of integers; equal
// keys are one id. Folding is what the algebra of IEEE numbers allows for all values, NaN and infinity included.
#include "compiler/loops/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>
#include <utility>

#include "compiler/loops/operators.h"

namespace lehr::loops {
namespace {

/// Throws std::logic_error if a condition on the arguments does not hold.
void require(bool condition, const char* message) {
  if (!condition) throw std::logic_error(std::string("loops::Builder: ") + message);
}

/// Makes the key of a node: the kind of node and its type (put first by intern), then its fields. Equal nodes have
/// equal keys.
struct KeyMaker {
  std::vector<std::int64_t> key;

  void operator()(const ConstF& n) { key.push_back(std::bit_cast<std::int64_t>(n.value)); }
  void operator()(const ConstI& n) { key.push_back(n.value); }
  void operator()(const Get& n) { key.push_back(n.scalar.value); }
  void operator()(const Extent& n) { key.push_back(n.size.value); }
  void operator()(const Load& n) {
    key.insert(key.end(), {n.buffer.value, n.reload});
    for (ExprId index : n.indices)
      key.push_back(index.value);
  }
  void operator()(const Unary& n) { key.insert(key.end(), {static_cast<std::int64_t>(n.op), n.operand.value}); }
  void operator()(const Binary& n) {
    key.insert(key.end(), {static_cast<std::int64_t>(n.op), n.left.value, n.right.value});
  }
  void operator()(const Random& n) {
    key.insert(key.end(), {static_cast<std::int64_t>(n.noise), n.key.value, n.site, n.element.value, n.component.value,
                           n.a.value, n.b.value});
  }
  void operator()(const Select& n) { key.insert(key.end(), {n.condition.value, n.if_true.value, n.if_false.value}); }
};

/// Returns the value of a literal; nothing for other expressions.
std::optional<Value> literal_value(const Expr& e) {
  if (const auto* x = std::get_if<ConstF>(&e.node)) return real(x->value);
  if (const auto* x = std::get_if<ConstI>(&e.node)) return integer(x->value);
  return std::nullopt;
}

}  // namespace

SizeId Builder::constant_size(std::string name, std::int64_t value) { return size({std::move(name), value, -1}); }

SizeId Builder::runtime_size(std::string name) { return size({std::move(name), -1, slots_}); }

SizeId Builder::size(Size size) {
  slots_ = std::max(slots_, size.slot + 1);
  program_.sizes.push_back(std::move(size));
  return SizeId(program_.sizes.size() - 1);
}

BufferId Builder::buffer(std::string name, Role role, std::vector<SizeId> axes, Type element) {
  return buffer({std::move(name), element, role, std::move(axes)});
}

BufferId Builder::buffer(Buffer buffer) {
  const std::string name = buffer.name;
  for (int number = 2; !buffer_names_.insert(buffer.name).second; ++number)
    buffer.name = fmt::format("{} {}", name, number);
  program_.buffers.push_back(std::move(buffer));
  return BufferId(program_.buffers.size() - 1);
}

ScalarId Builder::scalar(std::string name, Type type) {
  program_.scalars.push_back({std::move(name), type});
  mutable_.push_back(false);
  return ScalarId(program_.scalars.size() - 1);
}

ExprId Builder::intern(Type type, decltype(Expr::node) node) {
  KeyMaker maker;
  maker.key = {static_cast<std::int64_t>(node.index()), static_cast<std::int64_t>(type)};
  std::visit(maker, node);
  auto [it, inserted] = interned_.try_emplace(std::move(maker.key), ExprId(program_.exprs.size()));
  if (inserted) program_.exprs.push_back({type, std::move(node)});
  return it->second;
}

ExprId Builder::f(double value) { return intern(Type::f64, ConstF{value}); }
ExprId Builder::i(std::int64_t value) { return intern(Type::i64, ConstI{value}); }
ExprId Builder::boolean(bool value) { return intern(Type::boolean, ConstI{value}); }
ExprId Builder::get(ScalarId scalar) { return intern(program_[scalar].type, Get{scalar}); }

ExprId Builder::extent(SizeId size) {
  if (program_[size].constant >= 0) return i(program_[size].constant);
  return intern(Type::i64, Extent{size});
}

ExprId Builder::load(BufferId buffer, Indices indices) {
  require(indices.size() == program_[buffer].axes.size(), "load: one index per axis");
  return intern(program_[buffer].element, Load{buffer, std::move(indices)});
}

bool Builder::constant(ExprId e, double& value) const {
  if (const auto* real = std::get_if<ConstF>(&program_[e].node)) value = real->value;
  else if (const auto* integer = std::get_if<ConstI>(&program_[e].node)) value = static_cast<double>(integer->value);
  else return false;
  return true;
}

bool Builder::is_literal(ExprId e, double value) const {
  double literal = 0;
  return constant(e, literal) && literal == value;
}

ExprId Builder::of_value(Type type, Value x) {
  if (type == Type::f32) return intern(type, ConstF{static_cast<float>(x.f)});
  return type == Type::f64 ? f(x.f) : type == Type::i64 ? i(x.i) : boolean(x.i != 0);
}

ExprId Builder::fold_unary(UnaryOp op, ExprId operand) {
  const Expr& inner = program_[operand];
  if ((op == UnaryOp::to_f64 && inner.type == Type::f64) || (op == UnaryOp::to_f32 && inner.type == Type::f32))
    return operand;
  if (op == UnaryOp::negate || op == UnaryOp::logical_not) {
    if (const auto* twice = std::get_if<Unary>(&inner.node); twice && twice->op == op) return twice->operand;
  }
  if (const auto x = literal_value(inner))
    return of_value(result_type(row_of(op).gives, inner.type), row_of(op).value(*x, is_real(inner.type)));
  if (const auto choice = constants(operand))
    return select(choice->condition, unary(op, choice->if_true), unary(op, choice->if_false));
  return {};
}

std::optional<Select> Builder::constants(ExprId e) const {
  const auto* choice = std::get_if<Select>(&program_[e].node);
  double value = 0;
  if (!choice || !constant(choice->if_true, value) || !constant(choice->if_false, value)) return std::nullopt;
  return *choice;
}

ExprId Builder::unary(UnaryOp op, ExprId operand) {
  const Type in = type(operand);
  const UnaryRow& row = row_of(op);
  require(accepts(row.takes, in), "an operator on what it does not take");
  if (ExprId folded = fold_unary(op, operand); folded.valid()) return folded;
  return intern(result_type(row.gives, in), Unary{op, operand});
}

ExprId Builder::fold_binary(BinaryOp op, ExprId left, ExprId right) {
  const BinaryRow& row = row_of(op);
  const auto a = literal_value(program_[left]), b = literal_value(program_[right]);
  if (row.takes == Takes::boolean) {
    // `and` has the neutral element true and the absorbing element false; `or` has them the other way round.
    const bool neutral = op == BinaryOp::logical_and;
    if (a) return (a->i != 0) == neutral ? right : left;
    if (b) return (b->i != 0) == neutral ? left : right;
    return left == right ? left : ExprId{};
  }
  if (a && b) {
    const Type in = type(left);
    return of_value(result_type(row.gives, in), is_real(in) ? row.of_reals(a->f, b->f) : row.of_integers(a->i, b->i));
  }
  // Rules for i64 alone do not hold for reals: 0 * x may be NaN, and x - x too.
  const bool integer = type(left) == Type::i64;
  switch (op) {
    case BinaryOp::add:
      if (is_literal(left, 0)) return right;
      if (is_literal(right, 0)) return left;
      break;
    case BinaryOp::subtract:
      if (is_literal(right, 0)) return left;
      if (integer && left == right) return i(0);
      if (!integer && is_literal(left, 0)) return neg(right);
      break;
    case BinaryOp::multiply:
      if (is_literal(left, 1)) return right;
      if (is_literal(right, 1)) return left;
      if (is_literal(left, -1)) return neg(right);
      if (is_literal(right, -1)) return neg(left);
      if (integer && (is_literal(left, 0) || is_literal(right, 0))) return i(0);
      break;
    case BinaryOp::divide:
      if (is_literal(right, 1)) return left;
      break;
    case BinaryOp::minimum:
    case BinaryOp::maximum:
      if (left == right) return left;
      break;
    default:
      if (integer && left == right) return boolean(op == BinaryOp::equal || op == BinaryOp::less_equal);
      break;
  }
  return row.gives == Gives::boolean ? ExprId{} : fold_choice(op, left, right);
}

/// A literal operand goes into both sides of a select between literals: 1 - (x > 0 ? 1 : 0) becomes (x > 0 ? 0 : 1).
/// Otherwise LLVM may rewrite b (1 - s) + a s as b + s (a - b), which is not exactly a where s is 1.
ExprId Builder::fold_choice(BinaryOp op, ExprId left, ExprId right) {
  double value = 0;
  if (const auto l = constants(left); l && constant(right, value))
    return select(l->condition, binary(op, l->if_true, right), binary(op, l->if_false, right));
  if (const auto r = constants(right); r && constant(left, value))
    return select(r->condition, binary(op, left, r->if_true), binary(op, left, r->if_false));
  return {};
}

ExprId Builder::binary(BinaryOp op, ExprId left, ExprId right) {
  const Type in = type(left);
  require(in == type(right), "operands of different types");
  const BinaryRow& row = row_of(op);
  require(accepts(row.takes, in), "an operator on what it does not take");
  if (ExprId folded = fold_binary(op, left, right); folded.valid()) return folded;
  return intern(result_type(row.gives, in), Binary{op, left, right});
}

ExprId Builder::select(ExprId condition, ExprId if_true, ExprId if_false) {
  require(type(condition) == Type::boolean, "select on a number");
  require(type(if_true) == type(if_false), "select between different types");
  if (const auto* literal = std::get_if<ConstI>(&program_[condition].node)) return literal->value ? if_true : if_false;
  if (if_true == if_false) return if_true;
  return intern(type(if_true), Select{condition, if_true, if_false});
}

Block Builder::collect(const Body& body) {
  open_.emplace_back();
  body();
  Block block = std::move(open_.back());
  open_.pop_back();
  return block;
}

void Builder::statement(Stmt statement) {
  require(!open_.empty(), "a statement outside a function");
  open_.back().push_back(std::move(statement));
}

std::size_t Builder::function(std::string name, const std::vector<Parameter>& parameters,
                              const std::function<void(const Indices& parameters)>& body) {
  require(open_.empty(), "a function inside a function");
  Function result;
  result.name = std::move(name);
  Indices values;
  for (const Parameter& p : parameters) {
    result.parameters.push_back(scalar(p.name, p.type));
    values.push_back(get(result.parameters.back()));
  }
  local_arrays_.clear();
  double_ = false;
  result.body = collect([&] { body(values); });
  result.local_arrays = std::exchange(local_arrays_, {});
  if (double_) double_functions_.insert(program_.functions.size());
  program_.functions.push_back(std::move(result));
  return program_.functions.size() - 1;
}

std::size_t Builder::function(std::string name, const Body& body) {
  return function(std::move(name), {}, [&](const Indices&) { body(); });
}

BufferId Builder::local_array(std::string name, std::vector<SizeId> axes, Type element) {
  require(!open_.empty(), "a local array outside a function");
  for (SizeId axis : axes)
    require(program_[axis].constant >= 0, "a local array with a size known only at run time");
  local_arrays_.push_back(buffer(std::move(name), Role::scratch, std::move(axes), element));
  return local_arrays_.back();
}

BufferId Builder::local_array(std::string name, const std::vector<std::int64_t>& extents, Type element) {
  std::vector<SizeId> axes;
  for (std::int64_t extent : extents) {
    // An extent of the same length is shared, whatever its name.
    const auto same =
        std::find_if(program_.sizes.begin(), program_.sizes.end(), [&](const Size& s) { return s.constant == extent; });
    axes.push_back(same != program_.sizes.end() ? SizeId(static_cast<std::size_t>(same - program_.sizes.begin()))
                                                : constant_size(std::to_string(extent), extent));
  }
  return local_array(std::move(name), std::move(axes), element);
}

void Builder::for_loop(std::string index, ExprId begin, ExprId end, const LoopBody& body, bool independent,
                       std::int64_t step) {
  require(type(begin) == Type::i64 && type(end) == Type::i64, "bounds of a loop are i64");
  const ScalarId scalar_index = scalar(std::move(index), Type::i64);
  Block block = collect([&] { body(get(scalar_index)); });
  statement({For{scalar_index, begin, end, std::move(block), independent, step}});
}

void Builder::for_each(std::string index, SizeId size, const LoopBody& body, bool independent) {
  for_loop(std::move(index), i(0), extent(size), body, independent);
}

ExprId Builder::let(std::string name, ExprId value) {
  double literal = 0;
  if (constant(value, literal)) return value;
  // An immutable scalar keeps its value, so it needs no copy.
  const auto* plain = std::get_if<Get>(&program_[value].node);
  if (plain && !mutable_[plain->scalar.index()]) return value;
  const ScalarId result = scalar(std::move(name), type(value));
  statement({Let{result, value}});
  return get(result);
}

ScalarId Builder::local(std::string name, ExprId initial) {
  const ScalarId result = scalar(std::move(name), type(initial));
  mutable_[result.index()] = true;
  statement({Local{result, initial}});
  return result;
}

void Builder::assign(ScalarId target, ExprId value) {
  require(type(value) == program_[target].type, "assign: types differ");
  statement({Assign{target, value}});
}

void Builder::accumulate(ScalarId target, ExprId value) {
  require(type(value) == program_[target].type, "accumulate: types differ");
  statement({Accumulate{target, value}});
}

void Builder::write_store(BufferId buffer, Indices indices, ExprId value, bool accumulate) {
  require(indices.size() == program_[buffer].axes.size(), "store: one index per axis");
  require(type(value) == program_[buffer].element, "store: type of the element");
  statement({Store{buffer, std::move(indices), value, accumulate}});
}

void Builder::store(BufferId buffer, Indices indices, ExprId value) {
  write_store(buffer, std::move(indices), value, false);
}

void Builder::add_to(BufferId buffer, Indices indices, ExprId value) {
  write_store(buffer, std::move(indices), value, true);
}

void Builder::fill(BufferId buffer, ExprId value) {
  require(type(value) == program_[buffer].element, "fill: type of the element");
  statement({Fill{buffer, value}});
}

void Builder::if_then(ExprId condition, const Body& then_body) {
  if_else(condition, then_body, [] {});
}

void Builder::if_else(ExprId condition, const Body& then_body, const Body& else_body) {
  require(type(condition) == Type::boolean, "if on a number");
  if (const auto* literal = std::get_if<ConstI>(&program_[condition].node)) {
    (literal->value ? then_body : else_body)();
    return;
  }
  Block then_block = collect(then_body);
  Block else_block = collect(else_body);
  if (then_block.empty() && else_block.empty()) return;
  statement({If{condition, std::move(then_block), std::move(else_block)}});
}

void Builder::if_rarely(ExprId condition, const Body& then_body) {
  if_rarely_else(condition, then_body, [] {});
}

void Builder::if_rarely_else(ExprId condition, const Body& then_body, const Body& else_body) {
  require(type(condition) == Type::boolean, "if on a number");
  Block then_block = collect(then_body);
  statement({If{condition, std::move(then_block), collect(else_body), true}});
}

void Builder::break_if(ExprId condition) {
  require(type(condition) == Type::boolean, "break on a number");
  statement({BreakIf{condition}});
}

void Builder::fail(std::int32_t code) { statement({Fail{code}}); }

void Builder::fail_if(ExprId condition, std::int32_t code) {
  if_then(condition, [&] { fail(code); });
}

void Builder::comment(std::string text) { statement({Comment{std::move(text)}}); }

Program Builder::take() { return std::exchange(*this, Builder()).program_; }

}  // namespace lehr::loops
