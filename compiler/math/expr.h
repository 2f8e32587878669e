// Formulas of the family table: scalar expressions over named quantities with index notation.
// One formula serves the numeric evaluator (tests, initial values), the derivation (log densities are
// expanded into terms) and the code generator (parameter maps and moments become loops).
//
// A vector or matrix quantity is only ever mentioned by component: `mean[j]`, `precision[j,l]`. The event
// indices of a family are kFirst (j) and kSecond (l); sums bind further ones, never these two. Every event
// index runs over the family's event axis, whose size is `extent()`.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/math/function.h"

namespace lehr::math {

struct Index {
  int id = 0;  // kFirst, kSecond, or one bound by a sum
  bool operator==(const Index&) const = default;
};
inline constexpr Index kFirst{0};
inline constexpr Index kSecond{1};

struct Node;

/// An immutable formula; copying is cheap. Built with the operators below.
class Expr {
 public:
  Expr(double value);  // NOLINT: numbers stand for themselves in formulas
  explicit Expr(Node node);
  const Node& operator*() const { return *node_; }
  const Node* operator->() const { return node_.get(); }
  /// Written the same, bound indices by the same letters.
  bool operator==(const Expr& other) const;

 private:
  std::shared_ptr<const Node> node_;
};

struct Number {
  double value;
  bool operator==(const Number&) const = default;
};
/// A parameter, a natural parameter, a statistic or the value itself ("x"), at the given event indices.
struct Symbol {
  std::string name;
  std::vector<Index> indices;
  bool operator==(const Symbol&) const = default;
};
/// `p[x]`: the component of a vector at the value of the category-valued x. Log densities only.
struct AtValue {
  std::string vector;
  std::string value;
  bool operator==(const AtValue&) const = default;
};
struct Add {
  Expr left, right;
  bool operator==(const Add&) const = default;
};
struct Multiply {
  Expr left, right;
  bool operator==(const Multiply&) const = default;
};
struct Apply {
  Function function;
  Expr argument;
  bool operator==(const Apply&) const = default;
};
/// Sum over the whole event axis, or the largest summand.
struct Sum {
  Index index;
  Expr body;
  bool largest = false;
  bool operator==(const Sum&) const = default;
};
/// 1 when the indices are equal, otherwise 0.
struct Delta {
  Index left, right;
  bool operator==(const Delta&) const = default;
};
/// The size of the event axis as a number.
struct ExtentValue {
  bool operator==(const ExtentValue&) const = default;
};
/// An index as a number, 0-based.
struct IndexValue {
  Index index;
  bool operator==(const IndexValue&) const = default;
};
/// Component of the inverse of the symmetric positive definite matrix named `matrix`, or, as its `root`, of the inverse
/// of its lower triangular Cholesky factor.
struct InverseEntry {
  std::string matrix;
  Index row, column;
  bool root = false;
  bool operator==(const InverseEntry&) const = default;
};
/// log determinant of the symmetric positive definite matrix named `matrix`.
struct LogDet {
  std::string matrix;
  bool operator==(const LogDet&) const = default;
};

struct Node {
  std::variant<Number, Symbol, AtValue, Add, Multiply, Apply, Sum, Delta, ExtentValue, IndexValue, InverseEntry, LogDet>
      form;
};

// The operators fold numbers (0 + a, 1 * a, 2 * (3 * a), log of a number) and keep a number on the left of a
// product; they do not expand. `square(a)` is a product whose sides share one node.
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);  // a * reciprocal(b)
Expr apply(Function f, Expr a);
inline Expr log(Expr a) { return apply(Function::log, std::move(a)); }
inline Expr exp(Expr a) { return apply(Function::exp, std::move(a)); }
inline Expr sqrt(Expr a) { return apply(Function::sqrt, std::move(a)); }
inline Expr lgamma(Expr a) { return apply(Function::lgamma, std::move(a)); }
inline Expr digamma(Expr a) { return apply(Function::digamma, std::move(a)); }
inline Expr log1m(Expr a) { return apply(Function::log1m, std::move(a)); }
inline Expr xlogx(Expr a) { return apply(Function::xlogx, std::move(a)); }
inline Expr tanh(Expr a) { return apply(Function::tanh, std::move(a)); }
inline Expr logit_curvature(Expr a) { return apply(Function::logit_curvature, std::move(a)); }
inline Expr log_cosh(Expr a) { return apply(Function::log_cosh, std::move(a)); }
inline Expr abs(Expr a) { return apply(Function::abs, std::move(a)); }
inline Expr log_tail(Expr a) { return apply(Function::log_tail, std::move(a)); }
inline Expr step(Expr a) { return apply(Function::step, std::move(a)); }
inline Expr reciprocal(Expr a) { return apply(Function::reciprocal, std::move(a)); }
Expr square(Expr a);
Expr symbol(std::string name);
Expr symbol(std::string name, Index i);
Expr symbol(std::string name, Index i, Index j);
Expr at_value(std::string vector, std::string value);
Expr sum(Index index, Expr body);
Expr largest(Index index, Expr body);
Expr delta(Index a, Index b);
Expr extent();
Expr index_value(Index i);
Expr inverse(std::string matrix, Index i, Index j);
Expr inverse_root(std::string matrix, Index i, Index j);
Expr logdet(std::string matrix);

/// 2 when kSecond occurs free in the formula, else 1 when kFirst does, else 0.
int free_event_rank(const Expr& e);

/// In the notation of the docs: "0.5*log(precision) - 0.5*precision*(x - mean)^2". Event indices print as j, l,
/// k, m, ...: the free ones as j and l, bound ones by the next unused letter.
std::string print(const Expr& e);

}  // namespace lehr::math
