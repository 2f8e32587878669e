// Random starts: what the factors are before the first sweep. A fit and a built object start from the same bits.
#pragma once
#include "runtime/machine/machine.h"
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
/// Starts that do without the data of all items at once.
constexpr bool is_sparse(StartKind k) { return k != StartKind::allocations && k != StartKind::points; }

}  // namespace lehr

namespace lehr::machine {

/// Clusters for StartKind::points: one value below `k` for each element of a parameter's variable, or item of a step;
/// null where there are none.
struct Clusters {
  void* context;
  const std::int64_t* (*of_parameter)(void* context, std::int64_t parameter, std::int64_t k, Rng& rng);
  const std::int64_t* (*of_step)(void* context, std::int64_t step, std::int64_t k, Rng& rng);
};

/// Values that elements of local factors take at the start, for factors that are in a window: they are kept until their
/// run is there.
struct Taken {
  void* context;
  void (*take)(void* context, std::int64_t parameter, std::size_t element, std::int64_t value);
  /// The same of a local category of items whose data are elsewhere.
  void (*take_item)(void* context, std::int64_t pick, std::int64_t item, std::int64_t value);
  /// The first `count` of 0 .. n - 1 in a random order, by the draws that put all of them in order.
  const std::int64_t* (*first)(void* context, std::size_t n, std::size_t count, Rng& rng);
  /// Puts those of the items `which`, which are at `run`, in place (put_values); whether factors of theirs were among
  /// them.
  bool (*put)(void* context, const Machine& m, ItemRange run, ItemRange which);
};

struct Start {
  StartKind kind = StartKind::seeds;
  const Clusters* clusters = nullptr;  // needed for StartKind::points
  std::int64_t* order = nullptr;       // room for order_length(view) numbers
  const Taken* taken = nullptr;        // needed where not all factors of items are in the table
};

std::size_t order_length(const View& view);

/// A random start of every factor. `prepare` has run, and the weights are those of plain ascent.
std::int32_t start(const Machine& m, const Start& s, Rng& rng);

/// Improper factors become standard ones; with `local`, those of local variables alone. Whether there was one.
bool repair(const View& view, bool local);
/// The same of one parameter, whose numbers are in `row.buffer`.
bool repair(const View& view, const ParameterRow& row);
/// Puts the values of a run of elements in place, -1 for one that took none, as a start does: `factors` are their
/// parameters, the whole array has `total` numbers.
void put_values(const ParameterRow& row, std::span<double> factors, std::span<const std::int32_t> values,
                std::size_t total);

}  // namespace lehr::machine
