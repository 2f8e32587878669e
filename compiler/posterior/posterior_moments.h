// Marginal distributions of the latent elements of a factorised posterior, and moments of polynomials in them. An
// element that is d-connected to data has the distribution of its factor. Any other element has its distribution given
// its parents, if these are constants, data or categories with values. Independent factors multiply: E[x y] = E[x]
// E[y]; within a factor, moments up to the second are available.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/math/scalar_marginal.h"
#include "compiler/pipeline.h"
#include "compiler/posterior/joint_covariance.h"
#include "compiler/posterior/step_covariance.h"
#include "compiler/posterior/symbolic.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// The marginal posterior distribution of one latent element: a number, a vector or a matrix.
class ElementMarginal {
 public:
  /// Makes a marginal from the mean and the one-dimensional marginal of each number of the element, row-major.
  /// `is_fixed` is true if the factor is a point: every number then equals its mean with probability 1. `spread`
  /// computes the second moments; the first call of spread() calls it, and the result is cached.
  ElementMarginal(std::vector<double> of_mean, std::vector<math::ScalarMarginal> of_margins, bool is_fixed,
                  std::function<math::Spread()> spread)
      : mean(std::move(of_mean)), margins(std::move(of_margins)), fixed(is_fixed), form_(std::move(spread)) {}

  std::vector<double> mean;                   // mean of each number of the element, row-major
  std::vector<math::ScalarMarginal> margins;  // the one-dimensional distribution of each number of the element
  bool fixed = false;                         // true for a point: every number equals its mean with probability 1

  /// Returns the covariances and inverse moments; in a factor of a mean and its precision, those of both variables.
  /// Computed at the first call, because its size is the square of the number of numbers.
  const math::Spread& spread() const {
    if (!spread_) spread_ = form_();
    return *spread_;
  }

 private:
  std::function<math::Spread()> form_;          // computes covariances and inverse moments, for spread()
  mutable std::optional<math::Spread> spread_;  // covariances and inverse moments, once spread() has computed them
};

/// Identifies one independent factor of the posterior: atoms with different keys are independent. All d-connected
/// elements of a chain, or of a joint variable, have the same key. Every other element has its own, which a mean shares
/// with its precision if one factor has both.
struct FactorKey {
  /// The block of the factor, and the position of its element; a fixed value where the whole block is one factor.
  std::size_t block = 0, position = 0;
  /// Orders keys by block, then by position.
  auto operator<=>(const FactorKey&) const = default;
};

/// The marginals of all latent elements of a fit, and means and covariances of polynomials in their numbers;
/// predictions are computed from them in closed form. Results are cached.
class PosteriorMoments {
 public:
  /// Makes an object for the factors in `posterior`, by name. `d_connected` says by VariableId and element which
  /// elements are d-connected to data (instance/d_connected.h); the other elements follow their prior given their
  /// parents. All arguments must outlive the object.
  PosteriorMoments(const Analysed& analysed, const std::map<std::string, SavedVariable>& posterior,
                   const std::vector<std::vector<bool>>& d_connected, const Symbolic& symbolic);

  /// Returns the marginal of an element, or null if it has no closed form: the family has no moments, or the element is
  /// not d-connected and has latent parents other than categories with values. Categories have none, and neither has a
  /// d-connected element whose factor was not saved. Elements of observed variables count as not d-connected.
  const ElementMarginal* find(Element e);
  /// Returns true if the element is d-connected to data but find() is null for it. Its distribution given its parents
  /// must then not be used in its place.
  bool lacks_marginal(Element e) { return is_d_connected(e) && !find(e); }
  /// Clears the cached marginals of elements that are not d-connected. Call it after the categories in
  /// Symbolic::forward() have got other values.
  void forget() { given_parents_.clear(); }

  /// Returns the element that the number of an atom belongs to.
  Element element(const Atom& a) const;
  /// Returns the marginal of the element that the atom's number belongs to, or null if it has no closed form.
  const ElementMarginal* find(const Atom& a) { return find(element(a)); }
  /// Returns the position of the atom's number within its element, row-major.
  std::size_t component(const Atom& a) const;
  /// Returns which independent factor of the posterior the atom's element belongs to. Atoms with different keys are
  /// independent.
  FactorKey key(const Atom& a) const;
  /// Returns the covariance of two Normal numbers given the latent precision that shares their factor (NormalGamma,
  /// NormalWishart, or a scaled vector): a multiple of the inverse precision, as a monomial. Returns the zero monomial
  /// for numbers of different factors. Returns nullopt if an element is not d-connected, or if the factor has no
  /// precision.
  std::optional<Monomial> covariance_given_precision(const Atom& a, const Atom& b);

  /// Returns the joint distribution of the steps of a Gaussian chain. Null if the block is no such chain or is a point,
  /// or if precision_blocks() or StepCovariance::make() fails.
  const StepCovariance* steps_of(conditionals::BlockId b);

  /// Returns E[p], which may be infinite, or nullopt if an atom has no marginal or a moment is not available.
  std::optional<double> mean(const Polynomial& p);
  /// Returns the covariance of two monomials, or nullopt if a moment is not available.
  std::optional<double> covariance(const Monomial& a, const Monomial& b);
  /// Returns the variance of a polynomial, or nullopt if a moment is not available. Linear terms of one Normal vector
  /// or chain are combined first, so that no digits are lost by cancellation.
  std::optional<double> variance(const Polynomial& p);

 private:
  /// Returns true if the element is latent and d-connected to data, so that its marginal is that of its factor.
  bool is_d_connected(Element e) const {
    return !model_[e.variable].observed && d_connected_[e.variable.index()][e.position];
  }
  /// Makes the marginal of a d-connected element from its factor; nullopt if the factor was not saved or has no
  /// moments.
  std::optional<ElementMarginal> of_factor(Element e) const;
  /// Makes the distribution of an element that is not d-connected to data given its parents: constants, data, or
  /// categories with values. Returns nullopt if a parent is another latent variable.
  std::optional<ElementMarginal> given_parents(Element e) const;
  /// Makes the marginal of an element of a variable in a joint factor (`guide joint`).
  std::optional<ElementMarginal> of_member(Element e) const;
  /// Returns the mean of a monomial: its coefficient times the product of the moments of the independent factors.
  std::optional<double> moment(const Monomial& m);
  /// Returns the mean of a product of atoms of one factor; nullopt if it is not available, as for three or more numbers
  /// that are not points.
  std::optional<double> moment(const Atoms& of_one_factor);
  /// Returns the mean of the product of two atoms of one factor, or nullopt if it is not available.
  std::optional<double> pair(const Atom& a, const Atom& b);
  /// Returns the covariance E[a b] - E[a] E[b] of two products of atoms, all of one factor; nullopt if a moment is not
  /// available.
  std::optional<double> centred(const Atoms& a, const Atoms& b);
  /// Returns the covariance of two numbers of different elements of one factor: members of a joint factor, or steps of
  /// a chain. Returns nullopt for all others.
  std::optional<double> within_factor(const Atom& a, const Atom& b);
  /// Returns which step of its chain the number of an atom belongs to, and its coordinate in that step.
  StepCoordinate step_of(const Atom& a);
  /// Returns the covariances of the joint factor of a block, or null where JointCovariance::make() has none. Cached.
  const JointCovariance* joint_of(conditionals::BlockId b);
  /// Computes the joint distribution of the steps of a Gaussian chain from the densities in the model; nullopt where
  /// steps_of() is null.
  std::optional<StepCovariance> steps_from_model(conditionals::BlockId b);
  /// Returns the block that the atom's variable belongs to.
  conditionals::BlockId block_of(const Atom& a) const {
    return analysed_.schedule.conditionals.block_of[a.variable.index()];
  }
  /// Returns, for a monomial of a single atom x or 1 - x, the root of the covariance matrix of the vector or joint
  /// factor that has the number x, and the position of x in it. variance() adds up the weights of all numbers with one
  /// root, so that no digits are lost by cancellation. Returns a null pointer for other monomials, for points, and if
  /// there is no root.
  std::pair<const std::vector<double>*, std::size_t> root_of(const Monomial& m);
  /// Returns, for a monomial of a single atom x or 1 - x of a joint factor with a sparse precision, that factor; null
  /// for others.
  const JointCovariance* sparse_of(const Monomial& m);
  /// Groups the atoms of a monomial by the factor that they belong to, sorted by key.
  std::vector<std::pair<FactorKey, Atoms>> by_factor(const Monomial& m) const;

  const Analysed& analysed_;   // model and schedule that the factors belong to
  const model::Model& model_;  // the model of `symbolic_`; its first variables are those of the fit
  /// The parameters of the factors of the fit, by name of the variable.
  const std::map<std::string, SavedVariable>& posterior_;
  /// By VariableId and element: true if the element is d-connected to data.
  const std::vector<std::vector<bool>>& d_connected_;
  /// Evaluates expressions of the model, such as means of distributions, to polynomials.
  const Symbolic& symbolic_;
  /// Cached marginals of elements that are d-connected to data, and of those that are not (given their parents);
  /// nullopt: the element has none.
  std::map<Element, std::optional<ElementMarginal>> of_factors_, given_parents_;
  /// Cached covariances of joint factors, by block; nullopt: there are none.
  std::map<conditionals::BlockId, std::optional<JointCovariance>> joint_;
  /// Cached joint distributions of the steps of chains, by block; nullopt: there is none.
  std::map<conditionals::BlockId, std::optional<StepCovariance>> steps_;
};

}  // namespace lehr
