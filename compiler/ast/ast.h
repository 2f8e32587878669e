// The Ast (abstract syntax tree) of a model file: what was typed, with the source location of every part. Names are not
// resolved, and only the grammar has been checked.
//
// Every expression is a node in Ast::exprs and is referred to by its ExprId. Children precede their parents in that
// vector, so a loop from the front visits the tree bottom-up. No expression is higher than 1000 nodes, so recursive
// walks are safe.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/math/function.h"
#include "compiler/support/ids.h"
#include "compiler/support/span.h"

namespace lehr::ast {

/// The index of an expression in Ast::exprs, by which parents name their operands.
using ExprId = Id<struct ExprTag>;

/// An identifier that was typed, with its location.
struct Name {
  std::string text;  // the identifier
  Span span;         // its bytes in the model file
};

/// A number literal: `2`, `1e-3`.
struct Number {
  double value = 0;      // the number that was typed
  std::string spelling;  // the characters that were typed, such as `1e-3`, for printing
};

/// A use of a name, with or without indices: `x`, `mu[z[n]]`, `s[seq, t-1]`. The grammar refuses `x[]`, so an empty
/// list means that no brackets were typed.
struct Reference {
  Name name;                    // the name before the brackets
  std::vector<ExprId> indices;  // the expressions between the brackets, in order
};

/// A prefix minus: `-x`.
struct Negate {
  ExprId operand;  // the expression behind the minus
};

/// Arithmetic operators: add, subtract, multiply, divide.
using math::BinaryOp;

/// A binary operation: `a + b`, `a - b`, `a * b`, `a / b`.
struct Binary {
  BinaryOp op = BinaryOp::add;  // the operator: add, subtract, multiply or divide
  ExprId left, right;           // the expressions before and behind the operator
};

/// An argument of a call: `mean = mu`, or a positional one without a name.
struct Argument {
  std::optional<Name> name;  // the name of the parameter, if it was typed
  ExprId value;              // the expression that was passed
};

/// A call: `dot(a, b)`, `size(doc)`. A distribution such as `Normal(mean = 0, sd = 1)` is a call too.
struct Call {
  Name function;                    // the name of the function or distribution
  std::vector<Argument> arguments;  // what stands between the parentheses, in the order typed; may be empty
};

/// A sum over plates: `sum(f) body` or `sum(f, g) body`. The body extends to the end of the product: `sum(f) a*b + c`
/// is `(sum(f) a*b) + c`.
struct Sum {
  std::vector<Name> plates;  // the plates to sum over, in the order typed
  ExprId body;               // the summand
};

/// Parentheses that were typed. They are a node of their own so that the printer can show them; they only group.
struct Parenthesised {
  ExprId inner;  // the expression in the parentheses
};

/// One expression of the model file.
struct Expr {
  Span span;  // all its bytes, its operands included
  std::variant<Number, Reference, Negate, Binary, Call, Sum, Parenthesised> node;  // the expression, by its kind
};

/// Declares a constant: `const K = 100;`, `const K;` (set by `--set`), or `const a0[topic];` (an array that the data
/// give).
struct ConstDecl {
  Name name;                    // the name that is declared
  std::vector<Name> axes;       // plates of an array; empty for a number
  std::optional<ExprId> value;  // the expression behind `=`, if any
};

/// Declares a plate: `plate token in doc ordered times count;`, `plate topic = K;`, `plate year from 1851;`. In `plate
/// h = g;` the right side may be another plate or a constant; the Model decides which.
struct PlateDecl {
  Name name;                   // the name that is declared
  std::optional<Name> parent;  // the plate behind `in`, in which it is nested
  bool ordered = false;        // `ordered` was typed: its elements are a sequence
  std::optional<ExprId> size;  // the expression behind `=`: a size, or the plate that it is an alias of
  std::optional<Name> times;   // the data array behind `times`, which counts the copies of each element
  std::optional<ExprId> from;  // the Number behind `from`: the label of the first element in the data, such as 1851
};

/// The type in a `data` declaration: `real`, `count`, `vector over P`, `matrix over P, Q`, `simplex over P`, or the
/// name of a plate (a category).
struct TypeSpec {
  Name name;               // the first word: `real`, `count`, `vector`, `matrix`, `simplex` or a plate
  std::vector<Name> over;  // the plates behind `over`: event axes of a vector or matrix
  Span span;               // all its bytes
};

/// Declares an array that the data give: `data x[n] : real;`.
struct DataDecl {
  Name name;               // the name of the array
  std::vector<Name> axes;  // the plates that index it, in order; empty for a single value
  TypeSpec type;           // the type of one element, behind `:`
};

/// Declares a name for a deterministic expression: `let f[n] = dot(w, x[n]) + b;`.
struct LetDecl {
  Name name;               // the name that is declared, `f` above
  std::vector<Name> axes;  // the plates in its brackets, `n` above; a use such as f[3] puts an index in their place
  ExprId value;            // the expression for which the name stands
};

/// Declares a random variable and its distribution: `[observe] x[n] ~ D(...) [start D(...)] [over P[, Q]] [[censored]
/// [above e] [below e]];`. `distribution` and `start` are Call nodes; the parts of a mixture may be other expressions,
/// which resolve() reports as errors.
///
/// `~ mixture(p, D, E, F)` is stored as `weights` p, `distribution` D, and `others` E, F. `~ zero_inflated(p, D)` is
/// stored as mixture(p, Zero(), D).
struct Tilde {
  bool observed = false;               // `observe` was typed: the data give its values
  Name name;                           // the name of the variable
  std::vector<Name> axes;              // the plates that index it, in order; empty for a single value
  ExprId distribution;                 // the distribution; of a mixture, that of its first part
  std::optional<ExprId> start;         // the distribution of the first elements of a chain (clause `start`)
  std::vector<Name> over;              // the event axes of a vector or matrix (clause `over`)
  std::optional<ExprId> weights;       // the first argument of a mixture, its weights; empty without a mixture
  std::vector<ExprId> others;          // the second and further distributions of a mixture; empty without one
  bool censored = false;               // `censored` was typed: a value at a limit stands for one beyond it
  std::optional<ExprId> above, below;  // the limits of the value (clauses `above`, `below`)
};

/// Adds a term to the log joint density: `potential[e] J * s[a[e]] * s[b[e]];` for every element e.
struct Potential {
  std::vector<Name> axes;  // the plates over whose elements it is summed, `e` above; empty for a single term
  ExprId value;            // the term that is added for one element
};

/// What a `guide` declaration demands of the variational posterior. `joint`: one factor for several variables; `point`:
/// a point estimate in place of a distribution; `independent`: a separate factor for each element of a chain, where the
/// default is one for the whole chain; `order`: the order in which variables are updated; `factorised`: no joint
/// factors but those that the guide declares.
enum class GuideKind { joint, point, independent, order, factorised };

/// Restricts the variational posterior: `guide joint(mu, Lambda);`.
struct Guide {
  GuideKind kind = GuideKind::joint;  // what it demands, by the word behind `guide`
  std::vector<Name> names;            // the variables in the parentheses; none of `guide factorised`
};

/// One declaration of the model file.
struct Decl {
  Span span;  // all its bytes, up to and including the `;`
  std::variant<ConstDecl, PlateDecl, DataDecl, LetDecl, Tilde, Potential, Guide> node;  // the declaration, by its kind
};

/// A parsed model file: its name, its declarations and all expressions in them.
struct Ast {
  Name model;               // the name behind `model`
  std::vector<Decl> decls;  // all declarations, in source order
  std::vector<Expr> exprs;  // all expressions, children before parents

  /// Returns the expression with this id.
  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
};

}  // namespace lehr::ast
