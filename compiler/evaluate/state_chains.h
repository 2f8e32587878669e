// Sequences of chains of categories and what is observed of them: the density of all paths together, and the most
// probable path (Rabiner, A tutorial on hidden Markov models, 1989, III). Chains on the same plates are one, whose
// values are those of all of them together, the last one's fastest.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/evaluate/observation.h"

namespace lehr {

/// One sequence, by the values of its elements: log densities of all that is said of one element, and of two that
/// follow each other.
struct Lattice {
  std::size_t states = 0;
  std::vector<double> single;  // [element, value]
  std::vector<double> pair;    // [element, value of the one before, value]; of the first one unused
};

/// log of the sum over all paths, -inf where none is possible.
double log_sum_of_paths(const Lattice& lattice);
/// The values of the elements that are jointly most probable, the first of several paths; empty where none is possible.
std::vector<std::int64_t> most_probable_path(const Lattice& lattice);

/// log p(element | its parents) by its statement, where the values of a Forward stand.
using LogDensity = std::function<double(model::StatementId, Element)>;

class StateChains {
 public:
  /// `chains` are latent discrete variables with a lag and the same axes. `forward` must outlive the object, and has
  /// values of everything but of discrete variables; values of the chains are known ones, which are taken out of it and
  /// kept here. `own`: discrete variables that are summed over for each observation by itself, by VariableId.
  StateChains(Forward& forward, std::vector<model::VariableId> chains, std::vector<bool> own);

  /// A transition depends on more than this step and the one before and what has values or is summed over: there are
  /// no sums.
  bool refused() const { return refused_; }
  /// Values of a step.
  std::size_t states() const;
  /// The value of a chain that is part of a state, by its number among the chains.
  std::size_t value_of(std::size_t chain, std::size_t state) const;
  /// The elements of each sequence, by position, in order.
  const std::vector<std::vector<std::size_t>>& sequences() const { return sequences_; }
  /// Whether anything was added to the sequence, or is known of it.
  bool is_observed(std::size_t sequence) const;

  enum class Use { none, added, refused };
  /// Adds an observation to the sequence of the steps that it depends on: one, or two that follow each other. `none`:
  /// it depends on no element; `refused`: on others, or on an own variable of another observation or transition.
  Use add(const Observation& observation);

  /// Of all transitions, observations (copies counted) and known values. Nothing where a density is no number.
  std::optional<Lattice> lattice(std::size_t sequence, const LogDensity& density) const;

 private:
  struct Place {
    std::size_t sequence, step;
  };
  struct Factor {
    Observation of;
    std::size_t step;  // the last one that it depends on
    bool pair;         // on the one before, too
  };
  bool add_step(std::size_t position);
  bool is_chain(model::VariableId v) const;
  /// Gives the elements of all chains at a position the values of a state, or none.
  void put(std::size_t position, std::optional<std::size_t> state) const;
  /// Positions in the chains that it depends on; nothing where an own variable is not its own.
  std::optional<std::vector<std::size_t>> read_by(const Observation& observation);
  bool add_densities(const Factor& f, std::size_t sequence, const LogDensity& density, Lattice& to) const;

  Forward& forward_;
  std::vector<model::VariableId> chains_;
  std::vector<bool> own_;
  std::vector<std::vector<std::size_t>> sequences_;
  std::vector<Place> places_;                 // by position
  std::vector<std::vector<double>> known_;    // by chain and position; NaN: it is not
  std::vector<std::vector<Factor>> factors_;  // by sequence
  std::vector<Element> taken_;                // own variables, sorted
  bool refused_ = false;
};

}  // namespace lehr
