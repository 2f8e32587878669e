// Log densities of observations with discrete variables summed out.
#pragma once
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "compiler/evaluate/forward.h"

namespace lehr {

/// How the unknown elements of a discrete variable are summed over.
enum class Summation {
  none,    // not at all: it must have values
  belief,  // by probabilities that are given, for each observation by itself
  own,     // by its distribution given its parents, for each observation by itself
  joint    // the same, once for all observations that depend on the element
};

struct SummedVariable {
  Summation by = Summation::none;
  std::vector<double> belief;  // [element, value]: values of a category in order, of a bit 0, 1, of a spin -1, +1
};

/// One observed element, and how many copies of it there are.
struct Observation {
  model::StatementId statement;
  Element element;
  double copies = 1;
};

class Marginal {
 public:
  /// `forward` has values of everything that is not summed out; `summed` is by VariableId.
  Marginal(Forward& forward, std::vector<SummedVariable> summed) : forward_(forward), summed_(std::move(summed)) {}

  /// log of the density of all observations, the sums taken. Joint elements are conditioned on one at a time, and what
  /// then falls apart is summed separately: the time is exponential only in how many joint elements stay connected.
  /// NaN where a density is none.
  double log_density(const std::vector<Observation>& observations);

 private:
  using Factor = std::variant<Observation, Element>;  // Element: its density given its parents

  /// log of the sum over own and believed elements; NaN and `blocked_` where a joint element is unknown.
  double log_sum(std::vector<std::pair<model::StatementId, Element>> factors);
  double value(const Factor& f);
  /// The joint elements that the factor waits for; if none, its value.
  std::pair<std::vector<Element>, double> probe(const Factor& f);
  double condition(const std::vector<Factor>& factors);
  double condition(std::vector<Factor> factors, const std::map<Element, std::size_t>& uses);

  Forward& forward_;
  std::vector<SummedVariable> summed_;
  std::optional<Element> blocked_;
};

}  // namespace lehr
