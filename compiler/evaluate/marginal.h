// Log densities of observations with discrete latent variables summed out. The method is variable elimination on the
// factor graph (Bishop 8.4; Zhang & Poole 1994), and the forward recursion for chains. Both are exact; only sums of too
// many terms are estimated by draws, where the user of the class allows it.
#pragma once
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "compiler/evaluate/joint_table.h"
#include "compiler/evaluate/state_chains.h"
#include "runtime/rng.h"

namespace lehr {

/// How the unknown elements of a discrete variable are summed out.
///
/// * none: not at all; the variable must have values.
/// * given_probabilities: with given probabilities, for each observation separately.
/// * per_observation: with its prior given its parents, for each observation separately; correct if each element serves
/// one observation.
/// * joint: with its prior, once for all observations that depend on the element.
/// * chain: over all paths of its sequences, once for all observations that depend on a sequence. Several such
/// variables are summed over together; they have the same axes.
enum class Summation { none, given_probabilities, per_observation, joint, chain };

/// How MarginalDensity sums one discrete variable out, and the probabilities that it needs for that.
struct SummedVariable {
  Summation by = Summation::none;  // how it is summed out
  /// [element, value], for Summation::given_probabilities; values are the categories in order, bits 0, 1 or spins -1,
  /// +1.
  std::vector<double> given_probabilities;
};

/// Describes a sum over discrete variables that MarginalDensity refused because of its size, for the message to the
/// user.
struct SumTooLarge {
  /// Of elements that are summed together, the variable with the most joint values; of one observation, its variable.
  model::VariableId variable;
  /// Number of joint values of all elements; of one observation, of the densities that were evaluated in vain.
  double terms = 0;
};

/// Computes marginal log densities of observations, with discrete variables summed out, at the values in a
/// ModelEvaluator. It sets and resets the discrete values there while it sums.
class MarginalDensity {
 public:
  /// `forward` has values of everything that is not summed out, and must outlive the object; `summed` is by VariableId.
  ///
  /// With `estimates`, a sum for one observation that has too many terms is estimated by 1000 draws. Without, the
  /// density is one of many to be computed, and sums are refused from fewer terms on.
  MarginalDensity(ModelEvaluator& forward, std::vector<SummedVariable> summed, bool estimates = false)
      : forward_(forward),
        summed_(std::move(summed)),
        tabulator_(forward, [this](Element e) { return summed_[e.variable.index()].by == Summation::joint; }),
        estimates_(estimates) {}
  /// Copies are not allowed, because the tabulator refers to this object.
  MarginalDensity(const MarginalDensity&) = delete;
  MarginalDensity& operator=(const MarginalDensity&) = delete;

  /// Raises all densities to this power from now on, 1 / T at temperature T. Given probabilities
  /// (Summation::given_probabilities) are not raised. With a power other than 1, sums that would be estimated are
  /// refused.
  void set_power(double power) { power_ = power; }

  /// Returns the log density of all observations together, with the discrete variables summed out.
  ///
  /// Elements summed jointly are eliminated one at a time (sum_product.h), separately for each connected component of
  /// the factor graph. Time is exponential only in the number of elements in one table. Observed values of a chain
  /// count as part of the density. Returns NaN if a density is not a number, or if a sum is too large or impossible:
  /// see too_large() and refused().
  double log_density(const std::vector<Observation>& observations);

  /// Returns the sum that the last log_density() refused for its size, for a message to the user; nothing if it refused
  /// none.
  const std::optional<SumTooLarge>& too_large() const { return too_large_; }
  /// Returns the standard error, in nats, of the last log_density() due to draws; 0 if it is exact.
  double error() const { return std::sqrt(squared_error_); }

  /// Returns the observation that has no place in a sum over the paths of chains, for a message to the user: the last
  /// log_density() met DiscreteChains::Use::refused. If a transition is the reason (DiscreteChains::refused()), returns
  /// the first element of the first chain. Returns nothing if nothing prevents the sum.
  const std::optional<Element>& refused() const { return refused_; }

  /// Returns what each sequence of the chains contributed to the last log_density(), in order of their first elements.
  /// That is the log density of the connected component of the factor graph that has the sequence, 0 if nothing of it
  /// is observed. It is empty if there are no chains, or if two sequences share an element that is summed over.
  const std::vector<SequenceDensity>& sequences() const { return sequences_; }

  /// Returns log p(element | parents) of one element, raised to the power of set_power(). Variables of kind
  /// Summation::per_observation and given_probabilities are summed out. NaN if other discrete values that it needs are
  /// unknown, or if the sum needs more than 20,000 densities.
  double log_density_of_element(model::StatementId statement, Element element);

 private:
  /// A factor of the product that is summed: an observation, a latent element given its parents, or all paths of a
  /// sequence (by its number).
  using Factor = std::variant<Observation, Element, std::size_t>;

  /// Returns the log of a sum of products of these densities, each raised to `power_`. The sum is over the values of
  /// unknown elements that the densities read. An element of kind `per_observation` adds its prior to the product, one
  /// of kind `given_probabilities` its given probability, without the power. Returns NaN if an element of another kind
  /// is unknown (and sets `blocked_` if the kind is `joint`), or after too many evaluations.
  double log_sum(std::vector<std::pair<model::StatementId, Element>> factors);
  /// Returns the log density of one observation, summed over elements of kind `per_observation` and
  /// `given_probabilities`. If the sum has too many terms, it is estimated by draws where that is allowed; otherwise
  /// `too_large_` is set, and NaN returned.
  double log_sum_of(const Observation& o);
  /// Estimates the log density of one observation by its mean over draws of the elements that it depends on, and adds
  /// to the squared error.
  double log_sum_of_draws(const Observation& o);
  /// Draws a value for the element from its given probabilities or its prior, parents first, and appends all drawn
  /// elements to `drawn`. False if one of them is of another kind.
  bool draw(Element e, Rng& rng, std::vector<Element>& drawn);
  /// Returns the observations that depend on no chain, and the observed sequences, as factors of one product. Returns
  /// nothing, and sets `refused_`, if there is no sum over paths (see refused()).
  std::optional<std::vector<Factor>> factors_of(const std::vector<Observation>& observations);
  /// Returns the log of one factor of the sum, for the values that the jointly summed elements have at present in the
  /// ModelEvaluator. Returns NaN, and sets `blocked_`, if the factor needs one that has no value.
  double value(const Factor& f);
  /// Returns the joint elements without a value that the factor depends on, and NaN; if there are none, the factor's
  /// log value instead of NaN.
  std::pair<std::vector<Element>, double> probe(const Factor& f);
  /// A factor that cannot be evaluated before the elements in `waits` have values: it must be tabulated over them.
  struct OpenFactor {
    Factor factor;
    std::vector<Element> waits;  // the jointly summed elements without a value that the factor depends on
  };
  /// Returns the log values of an observation at all joint values of the jointly summed elements that it depends on,
  /// from the JointTabulator. Returns nothing for other factors, and if the values have to be evaluated one by one.
  std::optional<JointTable> table_of(const Factor& f);
  /// Returns the log of the product of the factors, summed over their joint elements. Each connected component of the
  /// factor graph is summed separately by sum_out().
  double condition(std::vector<OpenFactor> factors);
  /// Stores the log density of a connected component of the factor graph for the sequence of a chain in it, if there is
  /// one. If there are two sequences in it, `sequences_` becomes empty.
  void note_sequences(const std::vector<OpenFactor>& connected, double log_density);
  /// Returns the log of the sum over all joint elements of connected factors, by variable elimination.
  double sum_out(std::vector<OpenFactor> factors);
  /// Replaces `values` by the log of a factor at all joint values of the elements in `waits`, the last element fastest,
  /// for variable elimination. Returns false if the factor also depends on another element, which is appended to
  /// `waits`; `values` is then incomplete.
  bool fill(const Factor& f, std::vector<Element>& waits, std::vector<double>& values);

  ModelEvaluator& forward_;
  std::vector<SummedVariable> summed_;  // by VariableId: how each variable is summed out
  JointTabulator tabulator_;            // makes tables of observations over jointly summed elements
  /// The chains of kind `chain`, during log_density(); nothing if there are none.
  std::optional<DiscreteChains> chains_;
  std::vector<SequenceDensity> sequences_;  // what each sequence contributed to the last log_density()
  /// The jointly summed element without a value that the last evaluation met, and the result of refused().
  std::optional<Element> blocked_, refused_;
  bool estimates_;  // true: sums that are too large are estimated by draws
  /// Number of densities that the sum for one observation has evaluated so far.
  double evaluations_ = 0;
  std::optional<SumTooLarge> too_large_;  // the sum that the last log_density() refused for its size
  double squared_error_ = 0;              // variance of the last log_density() due to draws, in squared nats
  double power_ = 1;                      // the power to which densities are raised
};

}  // namespace lehr
