// Averages of elements over a factorised posterior, in closed form.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/fitting/averaged_element.h"
#include "compiler/fitting/elimination.h"
#include "compiler/pipeline.h"

namespace lehr {

/// The mean of the element that `s` is about at `at`, given the values that `forward` has; of categories, the
/// probabilities of the values. Empty where the family's mean is no formula of parameters that are there.
std::vector<double> conditional_mean(const Forward& forward, const model::Statement& s, const At& at);

class Expectation {
 public:
  /// `values` has those of the data; latent variables have none. `beliefs`: probabilities of categories, [element,
  /// value] by VariableId, of those that are `informed` (informed.h), which `laws` were made for, too. All must outlive
  /// the object.
  Expectation(const Analysed& analysed, Forward& values, const std::vector<std::vector<double>>& beliefs,
              const std::vector<std::vector<bool>>& informed, const Symbolic& symbolic, Laws& laws);

  /// The element that `s` is about, its ancestors averaged over: independent factors of informed elements,
  /// distributions given their parents of the others. Exact, and what is not is left out: parameters must be
  /// polynomials in elements once the categories have values, which are summed over, with no more than second moments
  /// of a factor. `mean` alone, unless `all`.
  AveragedElement of(const model::Statement& s, const At& at, bool all);

  /// What of() found of a category that no observation depends on, for sums over it later: forecasts of a chain need
  /// not be summed over every path.
  void remember(Element e);

 private:
  using Leaf = std::function<void(const Polynomial& weight)>;
  /// The distribution of a category in the parents that it was averaged over.
  struct Marginal {
    std::vector<Polynomial> probabilities;
    std::set<model::VariableId> summed;  // categories that it depends on, itself among them
  };

  void over(std::vector<Element> priors, Polynomial weight, const Leaf& leaf);
  void sum_over(Element u, const std::vector<Element>& priors, const Polynomial& weight, const Leaf& leaf);
  bool settle(std::vector<Element>& priors, Polynomial& weight);
  bool is_independent(Element u, bool informed, const Marginal* marginal) const;
  std::size_t numbers(const model::Statement& s) const;
  AveragedElement of_known_parameters(Element e);
  bool is_chain(model::VariableId v) const;

  const Analysed& analysed_;
  const model::Model& model_;
  Forward& values_;
  const std::vector<std::vector<double>>& beliefs_;
  const std::vector<std::vector<bool>>& informed_;
  const Symbolic& symbolic_;
  Laws& laws_;
  Elimination elimination_;
  std::map<Element, Marginal> marginals_;
  std::vector<std::pair<Element, const Marginal*>> summed_;  // categories that have a value for now
  std::set<model::VariableId> seen_;                         // categories that were summed over for this element
  std::int64_t evaluations_ = 0;
  bool exact_ = true;
};

}  // namespace lehr
