// Means, variances and distributions of elements under a factorised posterior, in closed form. Categories are summed
// over; the rest are moments of polynomials (posterior_moments.h, elimination.h).
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/pipeline.h"
#include "compiler/predict/element_prediction.h"
#include "compiler/predict/elimination.h"

namespace lehr {

/// Returns the mean of the element that statement `s` draws at index values `at`, given the values in `forward`, as one
/// draw of a simulation needs it. Of a category these are the probabilities of its values. Returns an empty list if the
/// family has no formula for its mean, or if the model leaves out one of its parameters (the total of a multinomial).
std::vector<double> conditional_mean(const ModelEvaluator& forward, const model::Statement& s, const IndexValues& at);

/// Computes predictive means, standard deviations and distributions of elements in closed form: averages over the
/// factors of a fit.
class Expectation {
 public:
  /// Makes an object that averages over the given factors. `values` has the values of the data, and NaN for latent
  /// variables. `d_connected` says by VariableId and element which elements are d-connected to data
  /// (instance/d_connected.h). `beliefs` has the probabilities of d-connected categories by VariableId, as [element,
  /// value]. `posterior_moments` must have been made for the same `d_connected`. All arguments must outlive the object.
  Expectation(const Analysed& analysed, ModelEvaluator& values, const std::vector<std::vector<double>>& beliefs,
              const std::vector<std::vector<bool>>& d_connected, const Symbolic& symbolic,
              PosteriorMoments& posterior_moments);

  /// Computes the prediction of the element of statement `s` at index values `at`: its average over the factors of
  /// d-connected ancestors, and over the distributions given their parents of the others. Computes the mean only,
  /// unless `all`.
  ///
  /// The result is exact; lists are empty where no exact one exists. Given values of the categories, parameters must be
  /// polynomials in latent numbers, with at most second moments of each factor. Categories are summed over, up to
  /// 100,000 combinations; bits and spins are not. A statement with limits has no result.
  ElementPrediction of(const model::Statement& s, const IndexValues& at, bool all);

  /// Computes the probabilities of the values of category `e`, with all categories that it depends on summed out, and
  /// caches them. A later sum that needs `e` then uses them, instead of a sum over all paths of the chain that lead to
  /// `e`.
  ///
  /// `e` must be latent and not d-connected (`d_connected` is false), as at the steps of a forecast. Call it for such
  /// elements of a chain in the order of the chain. Nothing is cached if the variable is no chain, or if the
  /// probabilities have no closed form or more than 64 terms.
  void remember(Element e);

 private:
  /// A function to be called for one combination of values of categories, with its probability. If it reads a category
  /// without a value, it must add nothing and leave ModelEvaluator::unknown set.
  using Leaf = std::function<void(const Polynomial& weight)>;
  /// The probabilities of a category that remember() has cached, after its ancestors among the categories were summed
  /// over.
  struct Marginal {
    std::vector<Polynomial> probabilities;  // probability of each value, a polynomial in latent numbers
    std::set<model::VariableId> summed;     // categories that were summed over to get them, this one included
  };

  /// Calls `leaf` for every combination of values of the categories that it reads. `priors` are categories with values,
  /// not d-connected, whose probabilities are not yet in `weight`.
  void sum_over_categories(std::vector<Element> priors, Polynomial weight, const Leaf& leaf);
  /// Sets category `u` to each of its values, one after another, and continues with sum_over_categories() for each.
  void sum_over(Element u, const std::vector<Element>& priors, const Polynomial& weight, const Leaf& leaf);
  /// Multiplies `weight` by the probabilities of the categories in `priors` given their parents, and removes them from
  /// the list. Returns false if a parent has no value yet.
  bool apply_priors(std::vector<Element>& priors, Polynomial& weight);
  /// Returns true if category `u` may be summed over by its own probabilities, independently of the categories that
  /// have values now. `marginal` has its cached probabilities, or is null.
  bool is_independent(Element u, bool d_connected, const Marginal* marginal) const;
  /// Returns how many numbers an element of the statement's variable has; of a category, how many values it can have.
  std::size_t component_count(const model::Statement& s) const;
  /// Returns moments and distribution of an element whose parameters are all constants, by the formulas of its family.
  /// Lists are empty if they are not, and for categories.
  ElementPrediction of_constant_parameters(Element e);
  /// Returns true if the posterior factor of the variable is that of a chain, so that its elements depend on each
  /// other.
  bool is_chain(model::VariableId v) const;

  const Analysed& analysed_;   // model and schedule of the fit whose factors are averaged over
  const model::Model& model_;  // the model of `values_`
  ModelEvaluator& values_;     // values of data and, during a sum, of categories
  /// Probabilities of d-connected categories, by VariableId, as [element, value].
  const std::vector<std::vector<double>>& beliefs_;
  /// By VariableId and element: true if the element is d-connected to data.
  const std::vector<std::vector<bool>>& d_connected_;
  const Symbolic& symbolic_;               // evaluates parameters of the model to polynomials
  PosteriorMoments& posterior_moments_;    // marginal distributions of the elements
  Elimination elimination_;                // averages over elements without a marginal
  std::map<Element, Marginal> marginals_;  // probabilities of categories that remember() has cached
  /// Categories that have a value during the current sum, each with its cached probabilities or null.
  std::vector<std::pair<Element, const Marginal*>> summed_;
  std::set<model::VariableId> seen_;  // variables of the categories that were summed over for the current element
  std::int64_t evaluations_ = 0;      // combinations of values of categories that were tried for the current element
  bool exact_ = true;                 // false as soon as the current element is found to have no closed form
};

}  // namespace lehr
