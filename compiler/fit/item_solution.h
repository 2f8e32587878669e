// Infers the local variables of given items while the global factors of a fit are fixed. Items that the fit was made
// from start at the solution that it stored. Other items take the best of several starts, because coordinate ascent of
// an item can have several solutions.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/instance/instance.h"
#include "compiler/pipeline.h"
#include "runtime/inference/sweep.h"
#include "runtime/output/saved_fit.h"
#include "runtime/search/item_starts.h"

namespace lehr {

/// The default number of starts from which the local variables of an item are inferred when a fit is used for
/// predictions, scores or diagnoses.
inline constexpr std::int64_t kDefaultItemStarts = 10;

/// Returns a checksum of the data of each item of the first item stage, by which a later prediction or score recognises
/// items of the fit: items with the same data have the same checksum. Arrays that do not lie on the items are left out.
/// `m` and `data` must be as bound, before far data are centred. Returns an empty list if the model has no item stage,
/// or if there are no items.
std::vector<double> item_digests(const Analysed& analysed, const model::Model& m, const BoundData& data);

/// Returns what a fit stores of its items, for SavedFit::items: checksums, row offsets of nested plates, and the
/// factors of local variables that are not in `posterior`. Returns an empty list if these have more than
/// kMaxSavedValues numbers, if local factors follow uniquely from global ones, or if `digests` is empty. If no local
/// factor is in memory, the list says so, and later inference starts these items from their priors.
std::vector<NamedArray> items_to_save(const Analysed& analysed, const BoundData& data,
                                      const std::vector<double>& digests, const Instance& instance,
                                      const std::vector<NamedArray>& posterior);
/// The maximum number of parameters of local factors that items_to_save stores; with more it stores nothing.
inline constexpr std::size_t kMaxSavedValues = std::size_t{1} << 22;

/// The options of solve_items(): from how many starts the local variables of items are inferred, how accurately, and
/// which items are recognised.
struct ItemInference {
  /// Accuracy of the inference from each start: at most 1000 iterations for an item, and a tolerance of 1e-6.
  SweepOptions local = {1000, 1e-6};
  std::int64_t starts = kDefaultItemStarts;  // number of starts for an item
  std::uint64_t seed = 1;                    // seed of the random starts
  /// The number of the first of these items, if they are a part of a larger set. It makes the random starts of an item,
  /// and which item of the fit it matches, independent of the part.
  std::int64_t first = 0;
  machine::SweepScope scope =
      machine::SweepScope::stages;   // the blocks to update: those of item stages, or all local ones
  std::vector<double> digests = {};  // checksum of each item (item_digests); empty: no item is looked up in the fit
  /// Called before each start but the first, to show progress: `done` starts of `all` have been made. May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> on_start = {};
};

/// What solve_items() found: the ELBO, how many items started from the solution that the fit stored, how many starts
/// the others had, and how much their solutions differ.
struct ItemSolution : ItemSearch {
  double elbo = 0;     // ELBO of the solution, in nats
  bool unique = true;  // true if local factors follow uniquely from the global ones
};

/// Infers the local factors of items with the global factors of a fit fixed, for predictions and scores: items that the
/// fit has start from its solutions, others take the best of several starts. The global factors must be in place, the
/// local ones at their priors; the code must be lowered with LowerOptions::item_starts if there is more than one start.
/// `fit` is the fit that the global factors are of; its `items` and `posterior` have the stored solutions. Fails with
/// ExitCode::numerical, or as Instance::set() does if the stored arrays are damaged.
Result<ItemSolution> solve_items(Instance& instance, const Analysed& analysed, const BoundData& data,
                                 const SavedFit& fit, const ItemInference& options);

/// Describes for the terminal how the local variables of items were found: "items as the fit found them", "items by the
/// best of up to 10 starts (...)". Returns an empty string if the solution is unique, or if there are no items.
std::string description(const ItemSolution& s);

/// Converts counts of items and starts, and the largest difference between solutions, to an object for the JSON summary
/// of a prediction or score.
nlohmann::json to_json(const ItemSolution& s);

/// Combines the solutions of two disjoint sets of items, of data that were read in parts: adds counts of items and
/// ELBOs, and takes the larger number of starts and the larger difference between solutions.
ItemSolution combined(const ItemSolution& a, const ItemSolution& b);

}  // namespace lehr
