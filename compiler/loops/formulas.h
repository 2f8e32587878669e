// Family formulas as loops: parameter maps, moments, entropies, and the small matrix kernels they need.
#pragma once
#include "compiler/loops/layout.h"

namespace lehr::loops {

/// A named quantity of a family formula: its value at event indices.
using Quantity = std::function<ExprId(const std::vector<ExprId>&)>;

/// Of a symmetric positive definite matrix: its lower triangular Cholesky factor, the inverse of that, its own inverse,
/// and its log determinant, which may be all that is known.
struct SpdInverse {
  BufferId factor, root, inverse;
  ExprId logdet;
};

struct Formulas {
  std::map<std::string, Quantity> quantities;
  std::map<std::string, SpdInverse> inverses;   // once computed
  std::map<const math::Node*, ExprId> hoisted;  // subformulas evaluated before the loops over components
  SizeId extent;                                // of the event axis; invalid for scalars
  std::int32_t fail_code = 0;                   // of a matrix that is not positive definite; 0: it gives NaN
};

/// Matrices of which a formula has the log determinant and no entries of the inverse.
std::vector<std::string> log_determinants(const math::Expr& e);

class FormulaLoops : Part {
 public:
  explicit FormulaLoops(Shared& shared) : Part(shared) {}

  /// `leaf` with the value at every component of the event.
  void components(const math::Expr& e, int rank, Formulas& f,
                  const std::function<void(std::vector<ExprId>, ExprId)>& leaf);
  /// Inverse and log determinant of the matrix `entry`; fails with `code`, unless 0, when it is not positive definite.
  SpdInverse spd_inverse(const std::string& name, const Quantity& entry, SizeId extent, std::int32_t code);

 private:
  ExprId formula(const math::Expr& e, Formulas& f, std::map<int, ExprId> event);
  void form_repeated_sums(const math::Expr& e, Formulas& f);
  void prepare_matrices(const math::Expr& e, Formulas& f);
};

}  // namespace lehr::loops
