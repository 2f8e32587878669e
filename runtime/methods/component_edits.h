// Edits of components: of what the factors of the items add up to. The global factors are formed from it, and the rest
// is left to sweeps.
#pragma once
#include <span>
#include <vector>

#include "runtime/methods/components.h"
#include "runtime/methods/sweep.h"

namespace lehr {

/// Expected elements of each component: the first of `counts`, summed over its other axes.
std::vector<double> masses_of(const Engine& e, const Components& c);

/// Components from the largest to the smallest.
std::vector<std::size_t> by_size(const std::vector<double>& masses);

/// Whether every one of `heads` is what its counterpart begins with.
bool heads_agree(const Engine& e, const Components& c);

/// x[to] += share * x[from], x[from] -= share * x[from] along every component axis.
void fold(const Engine& e, const ComponentArray& a, std::size_t from, std::size_t to, double share = 1);
/// What stands at k, along each of the axes.
std::vector<double> slice_of(const Engine& e, const ComponentArray& a, std::size_t k);

/// Edits of the state, which form_components completes. Nonzero: a status of the generated code. Where components are
/// told apart, a merge moves those after `from` one place towards the first, and leaves the last place free.
std::int32_t merge(const Engine& e, const Components& c, std::size_t from, std::size_t to);
std::int32_t remove(const Engine& e, const Components& c, std::size_t k);
/// Every factor of `to` becomes that of `from`; proportions are divided evenly, sums stay.
std::int32_t twin(const Engine& e, const Components& c, std::size_t from, std::size_t to);

/// The global factors of the sums as they are. Ordered components are put in order of size.
std::int32_t form_components(const Engine& e, const Components& c);

/// The statistics that these items have together, each item inferred with the factors as they are; in place of those of
/// all items. Local factors of these items move.
std::int32_t sum_items(const Engine& e, const SweepOptions& o, const StepRow& stage,
                       std::span<const std::int64_t> items);

}  // namespace lehr
