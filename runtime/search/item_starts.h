// Infers the items of a model with fixed global factors from several starts each. Coordinate ascent over an item with
// several local variables may have more than one solution. Which one it reaches depends on the start. If one stage has
// all local blocks, each item takes the solution with the highest local ELBO of its own. Otherwise the items cannot be
// judged one by one, and all take the start with the highest ELBO together.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/inference/engine.h"

namespace lehr {

/// How infer_from_starts() infers items, such as those of new data, with fixed global factors: the starts of each item
/// and when its sweeps stop.
struct ItemStarts {
  std::int64_t starts = 1;  // starts of an item: the factors in place; then, if there are fewer values than starts,
                            // each value of its discrete variables; then random ones
  std::uint64_t seed = 1;   // seed of the random starts
  std::int64_t first = 0;   // number of the first item; the random starts of an item depend on its number alone
  bool converges_in_one_visit = true;  // true: one visit of an item reaches a solution; false: visits are repeated
  bool unique = false;                 // true: an item has one solution only, so that further starts are useless
  machine::Accuracy accuracy = {};     // when a visit of an item stops
  machine::SweepScope scope = machine::SweepScope::stages;  // which local blocks are updated
  /// By item: true if it stays at the solution that its present factors lead to, without further starts. Where all
  /// items must take one start together, this counts only if all are true. Empty: all items may have further starts.
  std::vector<bool> given = {};
  std::function<void(std::int64_t done, std::int64_t all)> on_start = {};  // progress: called before each further start
};

/// The result of infer_from_starts(): how many starts the items had, and how much their solutions differ.
struct ItemSearch {
  std::int64_t items = 0,      // number of items
      given = 0;               // items that had to stay at the solution of their present factors, see ItemStarts::given
  std::int64_t starts = 1;     // most starts that an item had
  std::int64_t differing = 0;  // items whose solutions differ by more than kDifferentSolution in their local ELBO; with
                               // `together`, all items if their starts differ so in the ELBO, else 0
  double largest = 0;          // largest difference of the (local) ELBOs of these solutions, in nats; 0 if none differ
  bool together = false;       // true: all items had to take the same start
  /// Returns true if any item had more than one start.
  bool searched() const { return starts > 1 && given < items; }
};

/// The difference of local ELBOs, in nats, from which two solutions of an item count as different.
inline constexpr double kDifferentSolution = 0.01;

/// Infers the local factors of all items while the global ones are fixed, from several starts, and leaves the best. The
/// factors in place are the first start; an item has no further ones after three random starts without an improvement.
/// The engine must be compiled with LowerOptions::item_starts and have no window. Returns 0 or a status of the
/// generated code.
std::int32_t infer_from_starts(Engine& engine, const ItemStarts& options, ItemSearch& result);

}  // namespace lehr
