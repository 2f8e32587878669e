// Finds the exchangeable components of a model (clusters, topics, states): the values of a latent category, or of a
// chain of them, that could be renumbered; and the arrays of the engine in which each component has a slice.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/inference/engine.h"

namespace lehr {

/// Features of the elements that an allocation assigns to components: a matrix with one row an element and standardised
/// columns (features_of()).
struct Features {
  std::size_t columns = 0;     // numbers of a row; 0: no data describe the elements
  std::vector<double> values;  // the matrix, row after row
};

/// An array of q (factors or statistics) with one slice for each component. Moves copy, merge and permute these slices.
struct ComponentArray {
  using Kind = machine::ComponentKind;  // what such an array can contain: statistics, responsibilities, factors, ...
  Kind kind;                            // what the array contains
  std::int64_t buffer;                  // position of the array in the table of buffers
  std::vector<std::size_t> axes;        // which of its axes run over the components
};

/// A latent category whose values are the components: it allocates items or elements to them.
struct Allocation {
  std::int64_t step = -1;    // step of the sweep whose items it allocates; -1: it allocates the elements of `buffer`
  std::int64_t buffer = -1;  // buffer of the stored probabilities of the category; -1: not stored
  std::int64_t sums = -1;    // step that adds up statistics of the stored probabilities; -1: none
  bool chain = false;        // true: the elements form a chain
  std::function<Features()> features;  // computes the features of the items or elements
};

/// One plate of exchangeable components (clusters, topics, states), with the arrays that have slices for them. Moves of
/// the search edit these arrays.
struct Components {
  std::string name;            // name of the plate
  std::size_t count = 0;       // number of components
  bool ordered = false;        // true: weights are stick-breaking, so that the ELBO depends on the order of components
  bool distinguished = false;  // true: data distinguish them; they are not renumbered, and only neighbours merge
  std::vector<ComponentArray> arrays;  // arrays of q with a slice for each component
  std::vector<ComponentArray> counts;  // arrays that count elements: statistics, responsibilities
  std::vector<std::pair<std::int64_t, std::int64_t>>
      stick_sums;                       // buffers of a sum without the last component, and with it
  std::vector<Allocation> allocations;  // the categories whose values they are
};

/// Returns the plates of exchangeable components (clusters, topics, states) of the engine's model that have at least
/// two components, for the moves of a search. The result refers to the engine, which must outlive it.
std::vector<Components> components_of(const Engine& engine);

}  // namespace lehr
