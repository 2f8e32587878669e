// Observed elements of latent variables (model::Variable::clamped): the factor of such an element is a point mass at
// its observed value. Single entries of a vector may be observed; the other entries are then conditioned on them, as a
// Gaussian is (Bishop 2006, section 2.3.1). Which elements are observed is data, so the code selects at run time:
//
//     q.mean[n] = select(is_nan(x[n]), natural_mean, x[n])
#pragma once
#include "compiler/lower/formulas.h"
#include "compiler/lower/terms.h"
#include "runtime/abi.h"

namespace lehr::loops {

/// Emits the parts of updates that deal with observed elements of latent variables (Variable::clamped): the factor of
/// such an element is a point mass at its observed value. For blocks that have none, the emitting functions emit
/// nothing, and those that take an expression `x` return it as it is.
class Clamps : Part {
 public:
  Clamps(Shared& shared, Terms& terms) : Part(shared), terms_(terms) {}

  /// Returns true if the data may give values of some elements of the block's latent variable.
  bool any(BlockId b) const { return m_[s_.conditionals[b].variable].clamped; }
  /// Returns a bool expression: true if the element is observed, or the entry `event` of a vector. For a block without
  /// observed elements it is the literal false, so that a select on it folds away.
  ExprId is_observed(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event = {});
  /// Returns an expression that loads the observed value of an element of a latent variable, or of its entry `event` if
  /// it is a vector, from the data. The value is NaN (negative for categories) if it is missing.
  ExprId value(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event = {});
  /// Returns an expression for a parameter of the role at `event`: `x`, or that of a point mass where the value is
  /// observed. There precisions are kPointPrecision, and entries of a precision matrix off the diagonal are 0. Roles
  /// that a point mass does not have, such as degrees of freedom, give `x`.
  ExprId parameter(BlockId b, math::ParameterRole role, const std::vector<ExprId>& element,
                   const std::vector<ExprId>& event, ExprId x);
  /// Returns an expression for `x` if none of the entries in `event` (of any rank) is observed, otherwise `instead`.
  /// For scalars and categories the element itself counts.
  ExprId unless_observed(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event, ExprId x,
                         ExprId instead);
  /// Emits code for a category whose probabilities are in a work array, not in its stored factor. If the element is
  /// observed, a loop over the `size` values calls `store(k, probability)`, with probability 1 at the observed value
  /// and 0 elsewhere.
  void put_category(BlockId b, const std::vector<ExprId>& element, ExprId size,
                    const std::function<void(ExprId k, ExprId probability)>& store);
  /// Emits code that overwrites the stored parameters of an element by those of a point mass at its observed value. Of
  /// a vector only the parameters of its observed entries change.
  void put(BlockId b, const std::vector<ExprId>& element);
  /// A function that returns the indices, in an array of natural parameters, of a vector's entry (one event index) or
  /// pair of entries (two).
  using Address = std::function<std::vector<ExprId>(const std::vector<ExprId>& event)>;
  /// Emits code that conditions the linear natural parameters h of a vector on its observed entries o. With n the
  /// symmetric natural parameters of the squares, h_m of another entry becomes h_m + 2 sum over o of n_mo x_o. Those of
  /// observed entries become 0. `at` gives the indices in the arrays `linear` and `square`. Only vectors need this.
  void condition(BlockId b, const std::vector<ExprId>& element, BufferId linear, BufferId square, const Address& at);
  /// Leaves the observed entries of a vector out of the log determinant in its entropy: in the formulas `f`, their rows
  /// and columns of the precision matrix become those of the identity. Returns an expression for the number of observed
  /// entries, whose entropies the caller subtracts.
  ExprId use_identity(BlockId b, const std::vector<ExprId>& element, FormulaContext& f);

 private:
  /// Returns the indices in memory of an element of the block's variable or, with `event`, of an entry of it. They are
  /// the same in the array of observed values and in the arrays of parameters.
  std::vector<ExprId> address(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event);
  /// Returns the buffer with the observed values of the block's variable.
  BufferId data(BlockId b) const { return layout_.data.observed[s_.conditionals[b].variable.index()]; }

  Terms& terms_;  // the part that emits loop nests of terms
};

}  // namespace lehr::loops
