// Formulas of the family table: scalar expressions over named quantities, with index notation. One formula serves three
// users. The evaluator computes it (tests, initial values), the derivation expands log densities into terms, and the
// code generator makes loops of parameter maps and moments.
//
// A formula mentions vectors and matrices by component only: `mean[j]`, `precision[j,l]`. The free event indices of a
// family are kFirst (j) and kSecond (l). Sums introduce further index variables, never these two. Every event index
// runs over the event axis of the family, whose size is `extent()`. For example, the log density of MvNormal has the
// term
//
//   -0.5 * sum(kA, sum(kB, symbol("precision", kA, kB) * centred(kA) * centred(kB)))
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/math/function.h"

namespace lehr::math {

/// An index of a vector or matrix in a formula of the family table: a variable that ranges over the event axis.
struct Index {
  int id = 0;                                     // 0: kFirst, 1: kSecond, larger: the index variable of a sum
  bool operator==(const Index&) const = default;  // same id
};
/// The first free event index of a formula, printed as j: the component of a vector, or the row of a matrix.
inline constexpr Index kFirst{0};
/// The second free event index of a formula, printed as l: the column of a matrix.
inline constexpr Index kSecond{1};

/// A node of a formula of the family table (Expr): a constant, a symbol, an operation or a sum, with its children.
/// Defined below.
struct Node;

/// An immutable formula over the parameters and statistics of a family, in the family table. Densities, updates and
/// code are derived from such formulas. Copying is cheap: it shares the nodes. Formulas are built with the operators
/// below.
class Expr {
 public:
  /// Makes the formula that is this number.
  Expr(double value);  // NOLINT: numbers stand for themselves in formulas
  /// Makes the formula with this node at its root.
  explicit Expr(Node node);
  /// Returns the node at the root.
  const Node& operator*() const { return *node_; }
  /// Gives access to the node at the root: `e->form`.
  const Node* operator->() const { return node_.get(); }
  /// Returns true if both formulas have the same structure, with the same names and the same index variables.
  bool operator==(const Expr& other) const;

 private:
  std::shared_ptr<const Node> node_;  // the root; shared by copies
};

/// A node of a formula of the family table (Expr) that is a constant.
struct Number {
  double value;                                    // the constant
  bool operator==(const Number&) const = default;  // same value
};
/// A node of a formula of the family table (Expr): a named quantity at event indices, which is a parameter, a natural
/// parameter, a statistic, or the value itself ("x").
struct Symbol {
  std::string name;                                // the quantity
  std::vector<Index> indices;                      // none for a scalar, one for a vector, two for a matrix
  bool operator==(const Symbol&) const = default;  // same name and indices
};
/// A node of a formula of the family table (Expr): `p[x]`, the component of a vector at the value of a category x. It
/// occurs in log densities only.
struct AtValue {
  std::string vector;                               // name of the vector
  std::string value;                                // name of the category
  bool operator==(const AtValue&) const = default;  // same names
};
/// A node of a formula of the family table (Expr) that is a sum of two formulas.
struct Add {
  Expr left, right;                             // the summands
  bool operator==(const Add&) const = default;  // same summands
};
/// A node of a formula of the family table (Expr) that is a product of two formulas. A constant factor is on the left.
struct Multiply {
  Expr left, right;                                  // the factors
  bool operator==(const Multiply&) const = default;  // same factors
};
/// A node of a formula of the family table (Expr): a function, such as log, applied to a formula.
struct Apply {
  Function function;                              // which function
  Expr argument;                                  // what it is applied to
  bool operator==(const Apply&) const = default;  // same function and argument
};
/// A node of a formula of the family table (Expr): the sum of a formula over the whole event axis, or its maximum over
/// it.
struct Sum {
  Index index;                                  // the index variable
  Expr body;                                    // the summand
  bool largest = false;                         // it is the maximum instead of the sum
  bool operator==(const Sum&) const = default;  // same index variable, body and kind
};
/// A node of a formula of the family table (Expr): the Kronecker delta, 1 if the two event indices are equal, else 0.
struct Delta {
  Index left, right;                              // the indices
  bool operator==(const Delta&) const = default;  // same indices
};
/// A node of a formula of the family table (Expr): the size D of the event axis as a number.
struct ExtentValue {
  bool operator==(const ExtentValue&) const = default;  // always equal
};
/// A node of a formula of the family table (Expr): the value of an event index as a number, counted from 0.
struct IndexValue {
  Index index;                                         // which index
  bool operator==(const IndexValue&) const = default;  // same index
};
/// A node of a formula of the family table (Expr): an entry of the inverse of a symmetric positive definite matrix;
/// with `root`, of the inverse of its lower triangular Cholesky factor.
struct InverseEntry {
  std::string matrix;                                    // name of the matrix
  Index row, column;                                     // indices of the entry
  bool root = false;                                     // of the Cholesky factor's inverse
  bool operator==(const InverseEntry&) const = default;  // same matrix, indices and kind
};
/// A node of a formula of the family table (Expr): the log determinant of a symmetric positive definite matrix.
struct LogDet {
  std::string matrix;                              // name of the matrix
  bool operator==(const LogDet&) const = default;  // same matrix
};

/// A node of a formula of the family table (Expr): a constant, a symbol, an operation or a sum, with its children.
struct Node {
  /// The kind of node, with its children.
  std::variant<Number, Symbol, AtValue, Add, Multiply, Apply, Sum, Delta, ExtentValue, IndexValue, InverseEntry, LogDet>
      form;
};

/// Returns a + b. The operators here fold constants (0 + a, 1 * a, 2 * (3 * a), log of a number) and expand nothing.
Expr operator+(Expr a, Expr b);
/// Returns a - b, as a + (-b).
Expr operator-(Expr a, Expr b);
/// Returns -a, as -1 * a.
Expr operator-(Expr a);
/// Returns a * b with a constant factor on the left.
Expr operator*(Expr a, Expr b);
/// Returns a / b, as a * reciprocal(b).
Expr operator/(Expr a, Expr b);
/// Returns the formula f(a). If `a` is a number, it returns the number f(a), which is NaN outside the domain.
Expr apply(Function f, Expr a);
/// Returns the natural logarithm of `a`.
inline Expr log(Expr a) { return apply(Function::log, std::move(a)); }
/// Returns e to the power of `a`.
inline Expr exp(Expr a) { return apply(Function::exp, std::move(a)); }
/// Returns the square root of `a`.
inline Expr sqrt(Expr a) { return apply(Function::sqrt, std::move(a)); }
/// Returns the logarithm of the Gamma function of `a`.
inline Expr lgamma(Expr a) { return apply(Function::lgamma, std::move(a)); }
/// Returns the digamma function of `a`, the derivative of lgamma.
inline Expr digamma(Expr a) { return apply(Function::digamma, std::move(a)); }
/// Returns log(1 - a).
inline Expr log1m(Expr a) { return apply(Function::log1m, std::move(a)); }
/// Returns a log a, which is 0 at a = 0.
inline Expr xlogx(Expr a) { return apply(Function::xlogx, std::move(a)); }
/// Returns the hyperbolic tangent of `a`.
inline Expr tanh(Expr a) { return apply(Function::tanh, std::move(a)); }
/// Returns tanh(a / 2) / (4 a), which is 1/8 at 0: the curvature of Jaakkola & Jordan's bound of the logistic function.
inline Expr logit_curvature(Expr a) { return apply(Function::logit_curvature, std::move(a)); }
/// Returns log cosh(a).
inline Expr log_cosh(Expr a) { return apply(Function::log_cosh, std::move(a)); }
/// Returns the absolute value of `a`.
inline Expr abs(Expr a) { return apply(Function::abs, std::move(a)); }
/// Returns the log probability that a standard Normal number is above `a`.
inline Expr log_tail(Expr a) { return apply(Function::log_tail, std::move(a)); }
/// Returns 1 where a > 0, else 0.
inline Expr step(Expr a) { return apply(Function::step, std::move(a)); }
/// Returns 1 / a.
inline Expr reciprocal(Expr a) { return apply(Function::reciprocal, std::move(a)); }
/// Returns a * a, a product whose factors share one node.
Expr square(Expr a);
/// Returns the formula that is the scalar quantity with this name.
Expr symbol(std::string name);
/// Returns the formula that is component i of the vector with this name.
Expr symbol(std::string name, Index i);
/// Returns the formula that is entry (i, j) of the matrix with this name.
Expr symbol(std::string name, Index i, Index j);
/// Returns `vector[value]`: the component of a vector at the value of a category.
Expr at_value(std::string vector, std::string value);
/// Returns the sum of `body` over all values of the index variable `index`.
Expr sum(Index index, Expr body);
/// Returns the maximum of `body` over all values of the index variable `index`.
Expr largest(Index index, Expr body);
/// Returns 1 where a and b have the same value, else 0.
Expr delta(Index a, Index b);
/// Returns the formula that is the size of the event axis.
Expr extent();
/// Returns the value of an index, counted from 0, as a number.
Expr index_value(Index i);
/// Returns entry (i, j) of the inverse of the matrix with this name. The matrix must be symmetric positive definite.
Expr inverse(std::string matrix, Index i, Index j);
/// Returns entry (i, j) of the inverse of the lower triangular Cholesky factor of the matrix with this name.
Expr inverse_root(std::string matrix, Index i, Index j);
/// Returns the log determinant of the matrix with this name.
Expr logdet(std::string matrix);

/// Returns the event rank of what a formula describes: 2 if kSecond occurs in it (a matrix), else 1 if kFirst does (a
/// vector), else 0 (a number).
int free_event_rank(const Expr& e);

/// Returns the formula in the notation of the docs: "0.5*log(precision) - 0.5*precision*(x - mean)^2". Free event
/// indices are printed as j and l, and those of sums by the next letter that is not used yet.
std::string print(const Expr& e);

}  // namespace lehr::math
