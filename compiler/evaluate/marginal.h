// Log densities of observations with discrete variables summed out.
#pragma once
#include <map>
#include <set>
#include <variant>
#include <vector>

#include "compiler/evaluate/state_chains.h"

namespace lehr {

/// How the unknown elements of a discrete variable are summed over.
enum class Summation {
  none,    // not at all: it must have values
  belief,  // by probabilities that are given, for each observation by itself
  own,     // by its distribution given its parents, for each observation by itself
  joint,   // the same, once for all observations that depend on the element
  chain    // by all paths of its sequences, each once for all observations that depend on it; of several variables
           // by their paths together: they have the same axes
};

struct SummedVariable {
  Summation by = Summation::none;
  std::vector<double> belief;  // [element, value]: values of a category in order, of a bit 0, 1, of a spin -1, +1
};

class Marginal {
 public:
  /// `forward` has values of everything that is not summed out; `summed` is by VariableId.
  Marginal(Forward& forward, std::vector<SummedVariable> summed) : forward_(forward), summed_(std::move(summed)) {}

  /// log of the density of all observations, the sums taken. Joint elements are conditioned on one at a time, and what
  /// then falls apart is summed separately: the time is exponential only in how many joint elements stay connected.
  /// Known values of a chain belong to the density. NaN where a density is none.
  double log_density(const std::vector<Observation>& observations);

  /// The observation or element of a chain (its own transition) for which there is no sum over paths: it depends on
  /// more than one element and the one before.
  const std::optional<Element>& refused() const { return refused_; }

  /// The sequences of the chain, as they contributed to the last log_density, in order of their first elements. Empty
  /// where two of them share what is summed over.
  const std::vector<SequenceDensity>& sequences() const { return sequences_; }

  /// log p(element | parents) of one element, own and believed elements summed over; NaN where others are unknown.
  double of_one(model::StatementId statement, Element element);

 private:
  using Factor = std::variant<Observation, Element, std::size_t>;  // an element given its parents; a sequence

  /// log of the sum over own and believed elements; NaN and `blocked_` where a joint element is unknown.
  double log_sum(std::vector<std::pair<model::StatementId, Element>> factors);
  std::optional<std::vector<Factor>> factors_of(const std::vector<Observation>& observations);
  double value(const Factor& f);
  /// The joint elements that the factor waits for; if none, its value.
  std::pair<std::vector<Element>, double> probe(const Factor& f);
  /// `outermost`: nothing is conditioned on yet.
  double condition(const std::vector<Factor>& factors, bool outermost);
  void note_sequences(const std::vector<Factor>& connected, double log_density);
  double condition(std::vector<Factor> factors, const std::map<Element, std::size_t>& uses);

  Forward& forward_;
  std::vector<SummedVariable> summed_;
  std::optional<StateChains> chains_;
  std::vector<SequenceDensity> sequences_;
  std::optional<Element> blocked_, refused_;
};

}  // namespace lehr
