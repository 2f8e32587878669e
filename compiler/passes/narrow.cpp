// The pass `narrow`: narrowing of arithmetic to 32 bits where `--precision float` asks for it.
// narrowable.h decides by data flow which arrays and scalars become f32; this pass rewrites their types and inserts
// conversions. Data, stored results of factors and sums over items stay at 64 bits.
//
// Every expression is copied for the type that is wanted of it: `in(f32, e)` computes in 32 bits, `in(f64, e)` in 64.
// Conversions appear where a value of one type is loaded or read for the other.
#include "compiler/passes/passes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "compiler/analysis/rewrite.h"
#include "compiler/passes/narrowable.h"
#include "compiler/support/overloaded.h"

namespace lehr::loops {
namespace {

/// kSingleLogZero stands for the logarithm of 0 in f32: it is far below every logarithm, with room for sums.
/// kSingleLeast is the least magnitude of a constant in f32; smaller ones mean "as good as 0".
constexpr double kSingleLogZero = -1e30, kSingleLeast = 1e-30;

/// Returns the constant that serves in f32 the purpose that x serves in f64.
double in_single(double x) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (!std::isfinite(x) || x == 0) return x;
  if (std::abs(x) < kSingleLeast) return std::copysign(kSingleLeast, x);
  // Multiples of the logarithm of 0 are scaled: in a mixture two of them cancel where a value is possible.
  if (std::abs(x) >= 0.01 * std::abs(kLogZero)) return x / kLogZero * kSingleLogZero;
  return std::abs(x) > kLargest ? std::copysign(kLargest, x) : static_cast<double>(static_cast<float>(x));
}

/// Rewrites all functions of a program.
class Narrow {
 public:
  Narrow(Program& p, Narrowable narrowable) : p_(p), narrowable_(std::move(narrowable)) {}

  void run() {
    for (Function& f : p_.functions) {
      single_ = f.f32_allowed;
      Block body = std::move(f.body);
      block(body);
      f.body = std::move(body);
    }
    // The types change last, because the rewriting compares old types with new ones.
    for (const ScalarId s : narrowable_.scalars)
      p_.scalars[s.index()].type = Type::f32;
    for (const BufferId b : narrowable_.arrays)
      p_.buffers[b.index()].element = Type::f32;
  }

 private:
  // ---- expressions ----
  ExprId make(Type type, decltype(Expr::node) node) { return loops::make(p_, type, std::move(node)); }
  /// Returns the type that a scalar will have.
  Type type_of(ScalarId s) const { return narrowable_.scalars.contains(s) ? Type::f32 : p_[s].type; }
  /// Returns the type that the elements of an array will have.
  Type type_of(BufferId b) const { return narrowable_.arrays.contains(b) ? Type::f32 : p_[b].element; }
  /// Returns the expression converted to another real type.
  ExprId converted(ExprId e, Type to) {
    if (p_[e].type == to) return e;
    return make(to, Unary{to == Type::f32 ? UnaryOp::to_f32 : UnaryOp::to_f64, e});
  }

  /// Returns a copy of the expression whose real arithmetic is in the type `want`. Integers and conditions keep their
  /// type; a condition compares in 64 bits unless it reads something narrowed.
  ExprId in(Type want, ExprId e) {
    if (!is_real(p_[e].type)) want = p_[e].type;
    const auto [it, made] = copies_.try_emplace({e, want}, e);
    if (made) copies_[{e, want}] = copy(want, e);
    return copies_.at({e, want});
  }
  /// Makes the copy of an expression that is not in the cache.
  ExprId copy(Type want, ExprId e) {
    const Expr x = p_[e];
    return std::visit(
        Overloaded{
            [&](const ConstF& n) { return make(want, ConstF{want == Type::f32 ? in_single(n.value) : n.value}); },
            [&](const Get& n) { return is_real(x.type) ? converted(make(type_of(n.scalar), n), want) : e; },
            [&](const Load& n) {
              Load out{n.buffer, {}};
              for (const ExprId at : n.indices)
                out.indices.push_back(in(Type::i64, at));
              const ExprId loaded = make(type_of(n.buffer), std::move(out));
              return is_real(x.type) ? converted(loaded, want) : loaded;
            },
            [&](const Unary& n) {
              if (n.op == UnaryOp::to_f64 && want == Type::f32) return converted(in(Type::f32, n.operand), Type::f32);
              return make(want, Unary{n.op, in(operands(want, n.operand, n.operand), n.operand)});
            },
            [&](const Binary& n) {
              const Type of = operands(want, n.left, n.right);
              return make(want, Binary{n.op, in(of, n.left), in(of, n.right)});
            },
            [&](const Select& n) {
              return make(want, Select{guard(want, n.condition), in(want, n.if_true), in(want, n.if_false)});
            },
            [&](const Random& n) {
              Random out = n;
              out.element = in(Type::i64, n.element);
              out.component = in(Type::i64, n.component);
              out.a = in(Type::f64, n.a);
              out.b = in(Type::f64, n.b);
              return converted(make(Type::f64, std::move(out)), want);
            },
            [&](const auto&) { return e; }},
        x.node);
  }
  /// Returns the condition of a select between values of type `want`. It compares in that type too: a condition that
  /// keeps 0 from a logarithm must round as the logarithm's argument does.
  ExprId guard(Type want, ExprId condition) {
    const Expr x = p_[condition];
    const auto* n = std::get_if<Binary>(&x.node);
    if (want != Type::f32 || !n) return in(Type::boolean, condition);
    if (n->op == BinaryOp::logical_and)
      return make(Type::boolean, Binary{n->op, guard(want, n->left), guard(want, n->right)});
    const bool orders = n->op == BinaryOp::less || n->op == BinaryOp::less_equal;
    if (!orders || !is_real(p_[n->left].type)) return in(Type::boolean, condition);
    return make(Type::boolean, Binary{n->op, in(want, n->left), in(want, n->right)});
  }
  /// Returns the type in which the operands of a comparison are evaluated, or `want` for arithmetic.
  Type operands(Type want, ExprId a, ExprId b) const {
    if (is_real(want)) return want;
    return narrowable_.meets(p_, a) || narrowable_.meets(p_, b) ? Type::f32 : Type::f64;
  }

  // ---- statements ----
  void block(Block& b) {
    for (Stmt& s : b)
      std::visit([&](auto& x) { of(x); }, s.node);
  }
  void of(For& x) {
    x.begin = in(Type::i64, x.begin);
    x.end = in(Type::i64, x.end);
    block(x.body);
  }
  void of(Let& x) { x.value = in(type_of(x.scalar), x.value); }
  void of(Local& x) { x.initial = in(type_of(x.scalar), x.initial); }
  void of(Assign& x) { x.value = in(type_of(x.scalar), x.value); }
  void of(Accumulate& x) { x.value = in(type_of(x.scalar), x.value); }
  void of(Store& x) {
    // A costly function of a stored result is evaluated in 32 bits, unless its inputs are exact.
    const bool in_32 = single_ && calls_for_item(p_, x) && !narrowable_.exact.contains(x.buffer);
    for (ExprId& at : x.indices)
      at = in(Type::i64, at);
    x.value = in_32 ? converted(in(Type::f32, x.value), Type::f64) : stored(x.buffer, x.value);
  }
  void of(Fill& x) { x.value = stored(x.buffer, x.value); }
  void of(If& x) {
    x.condition = in(Type::boolean, x.condition);
    block(x.then_block);
    block(x.else_block);
  }
  void of(BreakIf& x) { x.condition = in(Type::boolean, x.condition); }
  void of(Fail&) {}
  void of(Comment&) {}

  /// Returns the value to be stored in an array. Functions that are not narrowed compute in 64 bits and round the
  /// result.
  ExprId stored(BufferId b, ExprId value) {
    const Type type = type_of(b);
    return single_ || type != Type::f32 ? in(type, value) : converted(in(Type::f64, value), type);
  }

  Program& p_;
  const Narrowable narrowable_;
  bool single_ = false;                               // true if the function at hand is narrowed
  std::map<std::pair<ExprId, Type>, ExprId> copies_;  // copies by original and type
};

}  // namespace

/// Returns the program with f32 arithmetic in functions that allow it (Function::f32_allowed).
/// * Work arrays, scalars, and the tables that these functions read have 32 bits. Tables are computed in 64 bits, then
///   rounded.
/// * Data, parameters of factors and sums over items stay at 64 bits. So do scalars from which only these are formed,
///   such as parts of the ELBO.
/// * Stored per-item results are computed in 64 bits, except for calls of exp, log, digamma and the like.
/// * An array with elements formed from its other elements keeps 64 bits, with everything that flows into it. Examples
///   are Cholesky factors, inverses and messages along a chain, which can lose all digits in 32 bits.
/// * Constants out of the range of f32 (log of zero, "as good as zero") become constants that serve the same purpose.
Program narrow(Program program) {
  if (std::ranges::none_of(program.functions, &Function::f32_allowed)) return program;
  Narrow(program, narrowable(program)).run();
  return program;
}

}  // namespace lehr::loops
