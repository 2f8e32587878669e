// Covariances between the members of a joint factor (`guide joint`): several variables share one Normal factor, or one
// whose covariance a precision in the same factor scales.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/conditionals/conditionals.h"
#include "compiler/posterior/saved_factor.h"
#include "compiler/posterior/symbolic.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// The means and covariances of one joint factor (`guide joint`), several variables that share a Normal factor;
/// PosteriorMoments computes moments of predictions from them. A number of it is addressed by a member (variable) and
/// its position in the array of that member.
class JointCovariance {
 public:
  /// Reads the saved factor of the block of a joint variable. Returns nullopt if it is missing in `posterior`, or if it
  /// has no covariance matrix: a point, or a category with a number.
  static std::optional<JointCovariance> make(const model::Model& model, const conditionals::Block& block,
                                             const std::map<std::string, SavedVariable>& posterior);

  /// Returns the covariance of two numbers of members, each counted in the array of its member. It is 0 for numbers of
  /// two elements of the factor, which are independent. Returns nullopt for two elements of a chain: step_covariance.h
  /// has these.
  std::optional<double> between(model::VariableId a, std::size_t number_of_a, model::VariableId b,
                                std::size_t number_of_b) const;
  /// Returns the covariance of two numbers of a scaled vector, one whose covariance a precision in the same factor
  /// scales, given that precision: a multiple of the inverse precision, as a monomial. It is the zero monomial for
  /// numbers of two elements of the factor. Returns nullopt for the precision itself, and for factors without one.
  std::optional<Monomial> covariance_given_precision(model::VariableId a, std::size_t number_of_a, model::VariableId b,
                                                     std::size_t number_of_b) const;
  /// Returns true if the factor is stored by a sparse precision matrix. Its covariance matrix has no root then; call
  /// variance() instead of root_at().
  bool is_sparse() const { return sparse_ != nullptr; }
  /// Returns the variance of a weighted sum of coordinates of a sparse factor; `weights` has the weights by coordinate.
  /// Only if is_sparse().
  double variance(const std::map<std::size_t, double>& weights) const;
  /// Returns the root of the covariance matrix (math::Spread::root) of the element with this number, and the number's
  /// coordinate in it. The pointer is null for a sparse factor.
  std::pair<const std::vector<double>*, std::size_t> root_at(model::VariableId a, std::size_t number) const;

  /// Returns the number of coordinates of an element of the factor. The precision of a scaled vector is its last one.
  std::size_t extent() const { return extent_; }
  /// Returns where a number of a member lies in the factor: its element, and its coordinate in that element.
  std::pair<std::size_t, std::size_t> position_of(model::VariableId v, std::size_t number) const;
  /// Returns the means, [element][coordinate].
  const std::vector<std::vector<double>>& means() const { return mean_; }
  /// Returns the roots of the covariance matrices, by element, row-major. Empty for a sparse factor.
  const std::vector<std::vector<double>>& roots() const { return root_; }

 private:
  std::size_t extent_ = 0;  // how many coordinates an element of the factor has
  bool chain_ = false;      // true if the elements are the steps of a chain
  /// By element: means, covariance matrices and their roots, row-major.
  std::vector<std::vector<double>> mean_, covariance_, root_;
  /// By element of a scaled factor: the covariance of its vector in units of the inverse precision, row-major. The
  /// vector has one coordinate less than the element. Empty for other factors.
  std::vector<std::vector<double>> tied_;
  std::shared_ptr<const SavedSparse> sparse_;  // a factor with a sparse precision; null for others
  std::vector<Atom> inverse_;  // by element of a scaled factor: 1 / its precision, as an atom; empty for others
  /// By number of each member: its element times `extent_`, plus its coordinate.
  std::map<model::VariableId, std::vector<std::size_t>> members_;
};

}  // namespace lehr
