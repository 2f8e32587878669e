// Formulas of the families (math::Expr) as loops: parameters from natural parameters, expected statistics, entropies.
// Matrices in them are inverted by Cholesky factorisation. A formula over a vector becomes a loop over its components,
// out of which subformulas without the component are hoisted: E[log theta_k] = digamma(a_k) - digamma(sum_j a_j) gives
//
//     h = digamma(sum a[e]);  for j: leaf(j, digamma(a[j]) - h)
#pragma once
#include "compiler/lower/layout.h"

namespace lehr::loops {

/// A function that returns the expression for the value of a symbol of a family's formula (a parameter, natural
/// parameter or expected statistic) at event indices.
using Quantity = std::function<ExprId(const std::vector<ExprId>&)>;

/// What is computed of a symmetric positive definite matrix A = L L'. Fields that are not available are invalid.
struct SpdInverse {
  BufferId factor, root, inverse;  // L and L^-1, of which only the lower triangles are stored; A^-1
  ExprId logdet;                   // log determinant of A
};

/// What the formulas of one element are evaluated with: the values of their symbols, matrices that are inverted
/// already, and subformulas that are hoisted already.
struct FormulaContext {
  /// The values of the symbols that are parameters, natural parameters or expected statistics, by name.
  std::map<std::string, Quantity> quantities;
  /// The inverses and log determinants that code has computed so far, by the name of the matrix.
  std::map<std::string, SpdInverse> inverses;
  /// The values of subformulas that code has evaluated already, before the loops over components.
  std::map<const math::Node*, ExprId> hoisted;
  /// The number of components along each event axis; invalid for scalars.
  SizeId extent;
  /// The status with which the emitted code fails if a matrix is not positive definite. If it is 0, the code does not
  /// fail, and results are NaN.
  std::int32_t fail_code = 0;
};

/// Returns the names of the matrices of which the formula (an entropy) needs the log determinant but no entry of the
/// inverse. For these a stored log determinant is enough (Layout::logdet).
std::vector<std::string> log_determinants(const math::Expr& e);

/// Emits formulas of the families (parameters from natural parameters, expected statistics, entropies) as loops over
/// their components.
class FormulaLoops : Part {
 public:
  explicit FormulaLoops(Shared& shared) : Part(shared) {}

  /// Emits loops over the components of a value of the given rank (0: a scalar, 1: a vector, 2: a matrix). Inside it
  /// calls `leaf` with the event indices and the value of the formula.
  void components(const math::Expr& e, int rank, FormulaContext& f,
                  const std::function<void(std::vector<ExprId>, ExprId)>& leaf);
  /// Emits code that computes the Cholesky factor, inverse and log determinant of the matrix with the given entries, of
  /// which it reads the lower triangle. If the matrix is not positive definite, the emitted code fails with `code`; if
  /// `code` is 0, results are NaN.
  SpdInverse spd_inverse(const std::string& name, const Quantity& entry, SizeId extent, std::int32_t code);

 private:
  /// Returns an expression for the value of a formula; `event` has the index of each event variable of math::Index.
  ExprId formula(const math::Expr& e, FormulaContext& f, std::map<int, ExprId> event);
  /// Emits the sums that occur more than once in a formula without event indices, so that each is computed once: their
  /// values go to FormulaContext::hoisted.
  void form_repeated_sums(const math::Expr& e, FormulaContext& f);
  /// Emits code that computes the inverses and log determinants that the formula needs and that are not available yet.
  void prepare_matrices(const math::Expr& e, FormulaContext& f);
};

}  // namespace lehr::loops
