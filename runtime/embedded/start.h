// Random starts: what the factors are before the first sweep. Freestanding, so that a fit and a built object start from
// the same bits. The caller runs `initialise` before, and between the steps what they say.
#pragma once
#include "runtime/embedded/model.h"
#include "runtime/rng.h"

namespace lehr {

/// Every factor begins at its prior (at a standard factor where the prior is improper), displaced at random so that
/// exchangeable components differ. Then:
enum class StartKind {
  seeds,        // each value of a local category takes a few random items, each state of a chain a few elements
  means,        // nothing more: the factors alone tell the components apart
  allocations,  // every local category, chain element and bit is given a random value
  points,       // items are clustered by k-means from k-means++ seeds, and clusters are values of the category
  flat          // next to no displacement: the symmetric solution but for some noise
};

}  // namespace lehr

namespace lehr::embedded {

/// Clusters for StartKind::points: one value below `k` for each element of a parameter's variable, or item of a step;
/// null where there are none.
struct Clusters {
  void* context;
  const std::int64_t* (*of_parameter)(void* context, std::int64_t parameter, std::int64_t k, Rng& rng);
  const std::int64_t* (*of_step)(void* context, std::int64_t step, std::int64_t k, Rng& rng);
};

/// Values that elements of local factors take at the start, for factors that are not in memory yet.
struct Taken {
  void* context;
  void (*take)(void* context, std::int64_t parameter, std::size_t element, std::int64_t value);
};

struct Start {
  View view;
  StartKind kind = StartKind::seeds;
  const Clusters* clusters = nullptr;  // needed for StartKind::points
  std::int64_t* order = nullptr;       // room for order_length(view) numbers
  const Taken* taken = nullptr;        // null: start_elements puts them in place
};

std::size_t order_length(const View& view);

/// Improper factors become standard ones; with `local`, those of local variables alone. Whether there was one.
bool repair(const View& view, bool local);
/// Repairs and displaces the factors.
void start_factors(const Start& s, Rng& rng);
/// Values for elements of chains and stored bits; whether any took one. `expectations` comes next.
bool start_elements(const Start& s, Rng& rng);
/// Puts the values of a run of elements in place, -1 for one that took none, as start_elements does: `factors` are their
/// parameters, the whole array has `total` numbers.
void put_values(const ParameterRow& row, std::span<double> factors, std::span<const std::int32_t> values,
                std::size_t total);
/// Values for the local categories of the items; whether there are any.
bool start_items(const Start& s, Rng& rng);

}  // namespace lehr::embedded
