// Edits of components: merge, removal and split, as changes of the sums that the factors of the items add up to. An
// edit is incomplete until update_from_sums() has computed the global factors from the edited sums; sweeps do the rest.
//
// Merging component 3 into 1, in a mixture: S[1] += S[3], S[3] = 0 in every statistic S; then the factors of both
// components are updated from S. No item is visited.
#pragma once
#include <span>
#include <vector>

#include "runtime/inference/sweep.h"
#include "runtime/search/components.h"

namespace lehr {

/// Returns the expected number of elements in each component: the first array of Components::counts, summed over its
/// other axes.
std::vector<double> component_sizes(const Engine& e, const Components& c);

/// Returns the numbers of the components from the largest to the smallest; `masses` has the size of each. Equal ones
/// are in the order of their numbers.
std::vector<std::size_t> by_size(const std::vector<double>& masses);

/// Returns true if every stick-breaking sum without the last component equals the start of the sum over all (see
/// Components::stick_sums); otherwise edits cannot keep both consistent.
bool stick_sums_agree(const Engine& e, const Components& c);

/// Moves a fraction of one component's slice to another, along every component axis of the array: x[to] += fraction *
/// x[from] and x[from] -= fraction * x[from].
void move_slice(const Engine& e, const ComponentArray& a, std::size_t from, std::size_t to, double fraction = 1);
/// Returns the slice of component k, by which similar components are found: the entries at index k of each component
/// axis, one axis after another.
std::vector<double> slice_of(const Engine& e, const ComponentArray& a, std::size_t k);

/// Merges component `from` into `to` by adding its sums and proportions, so that `from` is empty. If data distinguish
/// components, `from` becomes the last component and those after it move up by one. Returns 0 or a status of the
/// generated code.
std::int32_t merge(const Engine& e, const Components& c, std::size_t from, std::size_t to);
/// Removes component k: its sums become zero, responsibilities are normalised over the others, and its concentration in
/// the proportions of each item becomes the smallest of that item. Returns 0 or a status of the generated code.
std::int32_t remove(const Engine& e, const Components& c, std::size_t k);
/// Prepares a split: copies every factor of component `from` to `to`, so that both begin alike. In the proportions of
/// each item (Dirichlet concentrations), half of the excess of `from` over the item's smallest concentration moves to
/// `to`. Statistics and responsibilities stay. Returns 0 or a status of the generated code.
std::int32_t copy_component(const Engine& e, const Components& c, std::size_t from, std::size_t to);

/// Completes an edit: updates the global factors twice from the sums as they are. Components with stick-breaking
/// weights (Components::ordered) are first sorted by size. Returns 0 or a status of the generated code.
std::int32_t update_from_sums(const Engine& e, const Components& c);

/// Replaces the statistics of a stage by those of some items together, to find what these items contribute to each
/// component before a split. Each is inferred with the stage's tables as they are: call StepRow::tables before. The
/// local factors of these items change. Returns 0 or a status of the generated code.
std::int32_t sum_items(const Engine& e, const SweepOptions& o, const StepRow& stage,
                       std::span<const std::int64_t> items);

}  // namespace lehr
