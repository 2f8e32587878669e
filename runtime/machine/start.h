// Random starts: sets every factor of q before the first sweep. A fit and a built object get the same bits from the
// same seed. A start begins with the priors and displaces the parameters at random. Then it assigns values of latent
// categories to some items ("seeds"), and computes the global factors from their data.
#pragma once
#include "runtime/machine/machine.h"
#include "runtime/rng.h"

namespace lehr {

/// How a random start is made. Every factor begins at its prior (at a standard factor if the prior is improper),
/// displaced at random so that exchangeable components differ. Then:
enum class StartKind {
  seeds,        // each value of an item's first category is assigned to three random items, whose other categories get
                // random values; each state of a chain is assigned to three random elements
  means,        // no values are assigned: the displaced factors alone distinguish the components
  allocations,  // every local category, chain element and bit gets a random value
  points,       // k-means on their data puts items and chain elements into clusters; the number of the cluster is the
                // value of the first category. Other categories, and all without such data, get random values
  flat          // no values, and almost no displacement: close to the symmetric solution
};
/// Returns true if a start of this kind neither gives every item a value nor clusters the items, so that it is a
/// fallback for out-of-core items, whose data are never in memory together.
constexpr bool is_sparse(StartKind k) { return k != StartKind::allocations && k != StartKind::points; }

}  // namespace lehr

namespace lehr::machine {

/// Clustering by the caller, for StartKind::points. Both functions return one cluster number below `k` for each
/// element, or null if there are no features. The result is valid until the next call.
struct Clusters {
  void* context;  // first argument of the functions below
  /// Clusters the elements of the variable of a parameter (an index of Model::parameters).
  const std::int64_t* (*of_parameter)(void* context, std::int64_t parameter, std::int64_t k, Rng& rng);
  /// Clusters the items of the stage at a step of the sweep (an index of Model::steps).
  const std::int64_t* (*of_step)(void* context, std::int64_t step, std::int64_t k, Rng& rng);
};

/// Assignments of start values that cannot be written yet, because the factors of the items are in a window or their
/// data in files. The caller records them and writes them when the items are loaded.
struct DeferredValues {
  void* context;  // first argument of the functions below
  /// Records that an element of a parameter's variable starts at `value`.
  void (*take)(void* context, std::int64_t parameter, std::size_t element, std::int64_t value);
  /// Records that the local category of `pick` (an index of Model::picks) starts at `value` for an item whose data are
  /// not in memory.
  void (*take_item)(void* context, std::int64_t pick, std::int64_t item, std::int64_t value);
  /// Returns the first `count` numbers of a random permutation of 0 .. n - 1. It makes the same draws as a shuffle of
  /// all n, so that a start does not depend on whether its items are in memory.
  const std::int64_t* (*first)(void* context, std::size_t n, std::size_t count, Rng& rng);
  /// Writes the recorded values of these items, whose factors or data are now at the indices `run`. Returns true if it
  /// changed a stored factor, so that expectations must be recomputed.
  bool (*put)(void* context, const Machine& m, ItemRange run, ItemRange items);
};

/// The options of one random start, which sets all factors before the first sweep, and the scratch memory that it
/// needs.
struct Start {
  StartKind kind = StartKind::seeds;   // how the start is made
  const Clusters* clusters = nullptr;  // the clustering; needed for StartKind::points
  std::int64_t* order = nullptr;       // scratch of order_length(view) integers for permutations; unused with a loader
  const DeferredValues* deferred =
      nullptr;  // deferred assignments; needed if not all factors of items are in the table
};

/// Returns how many integers Start::order needs: the longest permutation that a start of this model draws.
std::size_t order_length(const View& view);

/// Sets every factor of q at random. Call it after prepare(), with all weights 1. Returns 0 or a failure status of the
/// generated code: a global factor that follows from the assigned values is not proper.
std::int32_t start(const Machine& m, const Start& s, Rng& rng);

/// Replaces every improper parameter of an element's factor (outside its domain or not finite) by a standard one: 0 for
/// means and real points, the identity for matrices, uniform probabilities, the length of the event axis plus 1 for
/// degrees of freedom, 1 otherwise. With `local`, only parameters of local variables. Returns true if any was replaced.
bool repair(const View& view, bool local);
/// Replaces improper numbers of one parameter of factors (outside its domain or not finite), which are in `row.buffer`,
/// by those of a standard factor, such as 0 for means and the identity for matrices. If one number of an element is
/// improper, all numbers of the element are replaced. Returns true if any was replaced.
bool repair(const View& view, const ParameterRow& row);
/// Writes the values that a random start has assigned into `factors`, the probabilities of consecutive elements of a
/// chain or of bits: probability 1 of the value. A value of -1 marks an element without one: in a chain its
/// probabilities all become 1 / `total`, `total` being the length of the whole array; a bit stays as it is.
void write_start_values(const ParameterRow& row, std::span<double> factors, std::span<const std::int32_t> values,
                        std::size_t total);

}  // namespace lehr::machine
