// Log densities of observations with discrete variables summed out.
#pragma once
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "compiler/evaluate/state_chains.h"
#include "runtime/rng.h"

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

/// A sum that is not formed: of how many terms, about, and over which variable most of all.
struct SumTooLarge {
  model::VariableId variable;
  double terms = 0;
};

class Marginal {
 public:
  /// `forward` has values of everything that is not summed out; `summed` is by VariableId. `estimates`: sums for single
  /// observations that have too many terms are averages over draws. Without, the density is one of many, and sums are
  /// too large from fewer terms on.
  Marginal(Forward& forward, std::vector<SummedVariable> summed, bool estimates = false)
      : forward_(forward), summed_(std::move(summed)), estimates_(estimates) {}

  /// log of the density of all observations, the sums taken. Joint elements are summed out one at a time
  /// (sum_product.h), and what is not connected separately: the time is exponential only in how many of them meet in
  /// one table. Known values of a chain belong to the density. NaN where a density is none, or a sum is too large.
  double log_density(const std::vector<Observation>& observations);

  /// Of the last log_density: the sum that was not formed, and the standard error of what was estimated, 0: nothing.
  const std::optional<SumTooLarge>& too_large() const { return too_large_; }
  double error() const { return std::sqrt(squared_error_); }

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
  /// The same of one observation, by draws where the sum has too many terms.
  double log_sum_of(const Observation& o);
  double log_sum_of_draws(const Observation& o);
  /// Gives the element a value by its belief or its distribution, its parents before it; they are noted in `drawn`.
  bool draw(Element e, Rng& rng, std::vector<Element>& drawn);
  std::optional<std::vector<Factor>> factors_of(const std::vector<Observation>& observations);
  double value(const Factor& f);
  /// The joint elements that the factor waits for; if none, its value.
  std::pair<std::vector<Element>, double> probe(const Factor& f);
  double condition(const std::vector<Factor>& factors);
  void note_sequences(const std::vector<Factor>& connected, double log_density);
  double sum_out(const std::vector<Factor>& factors);
  /// A factor for all values of the elements that it waits for; false: it waits for others, too, which are added.
  bool fill(const Factor& f, std::vector<Element>& waits, std::vector<double>& values);

  Forward& forward_;
  std::vector<SummedVariable> summed_;
  std::optional<StateChains> chains_;
  std::vector<SequenceDensity> sequences_;
  std::optional<Element> blocked_, refused_;
  bool estimates_;
  double evaluations_ = 0;  // of densities, in the sum of one observation
  std::optional<SumTooLarge> too_large_;
  double squared_error_ = 0;
};

}  // namespace lehr
