// Chains of discrete states, such as hidden Markov models: the density of all paths together, and the most probable
// path (forward recursion and Viterbi; Rabiner 1989, section III). Chains on the same plates are treated as one. Its
// states are the combinations of their values, the last chain varying fastest.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/evaluate/observation.h"

namespace lehr {

/// The log potentials of one sequence of n discrete elements with k states each: the input of the forward recursion and
/// of Viterbi's algorithm.
struct Lattice {
  std::size_t states = 0;      // k, the number of states of an element
  std::vector<double> single;  // [element, state]: the log potentials of one element
  /// [element, state before, state]: the log potentials of two successive elements; those of the first element are
  /// unused.
  std::vector<double> pair;
};

/// Returns the log of the sum of all paths' weights; -inf if no path is possible. A weight is exp(sum of the potentials
/// along the path).
double log_sum_over_paths(const Lattice& lattice);
/// Returns the states of the most probable path, one for each element; empty if no path is possible. Of several equally
/// probable paths, the one with the lower state is taken, from the last element backwards.
std::vector<std::int64_t> viterbi_path(const Lattice& lattice);

/// A function that returns the log density of one element by its statement, at the present values of a ModelEvaluator.
/// DiscreteChains::lattice() calls it for every state of the chains, to fill in a Lattice.
using LogDensity = std::function<double(model::StatementId, Element)>;

/// Collects the transitions of chains and the observations that depend on them, and makes of each sequence a Lattice,
/// for the sum over its paths or for its best path.
class DiscreteChains {
 public:
  /// `chains` are latent discrete variables with a lag, on the same axes. `own` is by VariableId: true for discrete
  /// variables that are summed out for each observation separately.
  ///
  /// `forward` must outlive the object. It has values of all variables but the chains and others that are summed out,
  /// which are NaN there. Values of chains count as observed; they are removed from `forward` and stored here.
  DiscreteChains(ModelEvaluator& forward, std::vector<model::VariableId> chains, std::vector<bool> own);

  /// Returns true if there is no lattice, and hence no sum over paths: a transition depends on other elements than its
  /// own and the previous one, or on an element of another summed variable that another transition also reads, or the
  /// chains do not all start at the same positions.
  bool refused() const { return refused_; }
  /// Returns the number of joint states that the chains have at one position.
  std::size_t states() const;
  /// Returns the value of one chain in a joint state, which is a combination of values of all chains. `chain` is the
  /// position among the chains.
  std::size_t value_of(std::size_t chain, std::size_t state) const;
  /// Returns the sequences, which all chains share. Each is the positions of its elements (Element::position), in order
  /// of time.
  const std::vector<std::vector<std::size_t>>& sequences() const { return sequences_; }
  /// Returns true if add() has added an observation to the sequence, or if a value of its elements is observed.
  bool is_observed(std::size_t sequence) const;

  /// What add() did with an observation: `none`, nothing, because it depends on no element of the chains; `added` it to
  /// a sequence; `refused` it, because no lattice can contain it.
  enum class Use { none, added, refused };
  /// Adds an observation to the sequence that it depends on, by one element or two successive ones. It is refused if it
  /// depends on other elements of the chains, or on an element of another summed variable that another observation or
  /// transition also reads, or if refused() is true.
  Use add(const Observation& observation);

  /// Returns the lattice of a sequence, from all its transitions, observations (with copies) and observed values.
  /// Returns nothing if some density is NaN.
  std::optional<Lattice> lattice(std::size_t sequence, const LogDensity& density) const;

 private:
  /// Where an element of a chain lies: the number of its sequence, and its step in it.
  struct SequenceStep {
    std::size_t sequence, step;  // number of the sequence, and of the element in it, both from 0
  };
  /// A log density that depends on one or two successive steps of a sequence: an observation or a transition.
  struct Factor {
    Observation of;    // the element whose density it is
    std::size_t step;  // the last step that it depends on
    bool pair;         // true if it depends on the step before as well
  };
  /// Appends the element at a position to its sequence, or starts a new one. Returns false if there is then no lattice,
  /// for one of the reasons that refused() lists.
  bool add_step(std::size_t position);
  /// Returns true if the variable is one of the chains.
  bool is_chain(model::VariableId v) const;
  /// Gives the elements of all chains at a position the values of a joint state, in the ModelEvaluator; without a
  /// state, they become unknown. Densities are then evaluated there.
  void put(std::size_t position, std::optional<std::size_t> state) const;
  /// Returns the positions in the chains that the observation depends on, found by evaluating its density; nothing if
  /// it shares an element of another summed variable with another observation.
  std::optional<std::vector<std::size_t>> read_by(const Observation& observation);
  /// Adds the log densities of a factor (an observation or a transition), for all states of the steps that it depends
  /// on, to the lattice. False if one is NaN.
  bool add_densities(const Factor& f, std::size_t sequence, const LogDensity& density, Lattice& to) const;

  ModelEvaluator& forward_;
  /// The variables that are chains; the last varies fastest in a joint state.
  std::vector<model::VariableId> chains_;
  /// By VariableId: true if it is summed out for each observation separately.
  std::vector<bool> own_;
  std::vector<std::vector<std::size_t>> sequences_;  // by sequence: positions of its elements, in order of time
  std::vector<SequenceStep> steps_;                  // by position of an element: where it lies
  std::vector<std::vector<double>> observed_;        // observed values, by chain and position; NaN if unobserved
  std::vector<std::vector<Factor>> factors_;         // by sequence: its transitions and observations
  /// Elements of other summed variables that some factor reads already, sorted.
  std::vector<Element> used_own_;
  bool refused_ = false;  // true if there is no lattice, because a transition does not fit
};

}  // namespace lehr
