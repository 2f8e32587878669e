// Means of elements under a factorised posterior, in closed form.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/pipeline.h"

namespace lehr {

/// The mean of the element that `s` is about at `at`, given the values that `forward` has; of categories, the
/// probabilities of the values. Empty where the family's mean is no product of parameters that are there.
std::vector<double> conditional_mean(const Forward& forward, const model::Statement& s, const At& at);

class Expectation {
 public:
  /// `means`: numbers of latent variables stand at their means, bits and spins too; categories have no value, and
  /// `beliefs` their probabilities, [element, value] by VariableId. What is not informed (informed.h) has a mean only
  /// if it was put there. All must outlive the object.
  Expectation(const Analysed& analysed, Forward& means, const std::vector<std::vector<double>>& beliefs,
              const std::vector<std::vector<bool>>& informed);

  /// The mean of the element that `s` is about, its ancestors averaged over: independent factors of informed elements,
  /// distributions given their parents of the others. Exact, and nothing where it is not: the parameters must be
  /// multilinear in elements of different factors once the categories have values, which are summed over.
  std::optional<std::vector<double>> mean(const model::Statement& s, const At& at);

 private:
  using Blocks = std::set<std::size_t>;

  std::optional<Blocks> factors_of(const model::Distribution& d);
  std::optional<Blocks> factors_of(model::ExprId id);
  std::optional<Blocks> factors_of(const model::VariableRef& ref);
  std::vector<double> sum(std::vector<Element> priors, const model::Statement& s, const At& at);
  std::vector<double> sum_over(Element u, const std::vector<Element>& priors, const model::Statement& s, const At& at);
  bool is_chain(model::VariableId v) const;

  const Analysed& analysed_;
  const model::Model& model_;
  Forward& means_;
  const std::vector<std::vector<double>>& beliefs_;
  const std::vector<std::vector<bool>>& informed_;
  std::vector<bool> some_uninformed_;  // by VariableId
  std::map<const model::Distribution*, std::optional<Blocks>> known_;
  std::set<std::size_t> open_;  // variables whose own parameters are being looked at
  Blocks used_;
  std::vector<Element> summed_;  // categories that have a value for now
  std::int64_t evaluations_ = 0;
  bool exact_ = true;
};

}  // namespace lehr
