// Ast: what was typed, with spans. No name is resolved here, nothing is checked but the grammar.
//
// Every expression is a node in Ast::exprs, named by ExprId. Index lists, arguments and bodies refer to
// nodes by id. Children precede parents in the vector, so a walk from the front is bottom-up.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/math/function.h"
#include "compiler/support/ids.h"
#include "compiler/support/span.h"

namespace lehr::ast {

using ExprId = Id<struct ExprTag>;

struct Name {
  std::string text;
  Span span;
};

/// `2`, `1e-3`; `spelling` is what was typed.
struct Number {
  double value = 0;
  std::string spelling;
};

/// `x`, `mu[z[n]]`, `s[seq, t-1]`. `x` and `x[]` do not differ: the grammar refuses an empty list.
struct Reference {
  Name name;
  std::vector<ExprId> indices;
};

struct Negate {
  ExprId operand;
};

using math::BinaryOp;

struct Binary {
  BinaryOp op = BinaryOp::add;
  ExprId left, right;
};

/// `mean = mu` or a positional argument.
struct Argument {
  std::optional<Name> name;
  ExprId value;
};

/// `dot(a, b)`, `Normal(mean = 0, sd = 1)`, `size(doc)`: a distribution is a call too.
struct Call {
  Name function;
  std::vector<Argument> arguments;
};

/// `sum(f) body` or `sum(f, g) body`; the body is one product: `sum(f) a*b + c` is `(sum(f) a*b) + c`.
struct Sum {
  std::vector<Name> plates;
  ExprId body;
};

/// Parentheses that were typed; no meaning beyond grouping.
struct Parenthesised {
  ExprId inner;
};

struct Expr {
  Span span;
  std::variant<Number, Reference, Negate, Binary, Call, Sum, Parenthesised> node;
};

/// `const K = 100;`, `const K;` (to be set), `const a0[topic];` (an array bound from data).
struct ConstDecl {
  Name name;
  std::vector<Name> axes;
  std::optional<ExprId> value;
};

/// `plate token in doc ordered times count;`, `plate topic = K;`, `plate h = g;` (alias or size: not decided here),
/// `plate year from 1851;`.
struct PlateDecl {
  Name name;
  std::optional<Name> parent;
  bool ordered = false;
  std::optional<ExprId> size;
  std::optional<Name> times;
  std::optional<ExprId> from;  // a Number
};

/// `real`, `count`, `vector over P`, `matrix over P, Q`, `simplex over P`, or the name of a plate.
struct TypeSpec {
  Name name;
  std::vector<Name> over;
  Span span;
};

/// `data x[n] : real;`
struct DataDecl {
  Name name;
  std::vector<Name> axes;
  TypeSpec type;
};

/// `let f[n] = dot(w, x[n]) + b;`
struct LetDecl {
  Name name;
  std::vector<Name> axes;
  ExprId value;
};

/// `[observe] x[n] ~ D(...) [start D(...)] [over P[, Q]] [[censored] [above e] [below e]];` `distribution` and `start`
/// are Call nodes.
struct Tilde {
  bool observed = false;
  Name name;
  std::vector<Name> axes;
  ExprId distribution;
  std::optional<ExprId> start;
  std::vector<Name> over;
  std::optional<ExprId> weights;  // of a mixture: `distribution` is its first part, `others` are the rest
  std::vector<ExprId> others;
  bool censored = false;
  std::optional<ExprId> above, below;
};

/// `potential[e] J * s[a[e]] * s[b[e]];`
struct Potential {
  std::vector<Name> axes;
  ExprId value;
};

enum class GuideKind { joint, point, independent, order };

/// `guide joint(mu, Lambda);`
struct Guide {
  GuideKind kind = GuideKind::joint;
  std::vector<Name> names;
};

struct Decl {
  Span span;
  std::variant<ConstDecl, PlateDecl, DataDecl, LetDecl, Tilde, Potential, Guide> node;
};

struct Ast {
  Name model;
  std::vector<Decl> decls;  // in source order
  std::vector<Expr> exprs;

  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
};

}  // namespace lehr::ast
