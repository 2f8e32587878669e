// Local variables of given items, with the global factors of a fit as they are: for items that the fit was made from,
// at what it found of them; for others, the best of several starts.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/instance/instance.h"
#include "compiler/pipeline.h"
#include "runtime/files/saved_fit.h"
#include "runtime/methods/item_starts.h"
#include "runtime/methods/sweep.h"

namespace lehr {

inline constexpr std::int64_t kItemStarts = 10;

/// One number for each item of the first item stage, of all data that belong to it: items with the same data have the
/// same number. Empty where the model has no such stage. `m` and `data` as the model was bound, told from zero.
std::vector<double> item_digests(const Analysed& analysed, const model::Model& m, const BoundData& data);

/// What a fit keeps of its items, for SavedFit::items: digests, row offsets of nested plates, and factors of local
/// variables that are not in its `posterior`; nothing where these are more than kMostSavedNumbers, or where they follow
/// from the global ones. Factors that the instance has nowhere, as minibatches leave none, are those that follow from
/// their priors.
std::vector<NamedArray> items_to_save(const Analysed& analysed, const BoundData& data,
                                      const std::vector<double>& digests, const Instance& instance,
                                      const std::vector<NamedArray>& posterior);
inline constexpr std::size_t kMostSavedNumbers = std::size_t{1} << 22;

struct ItemInference {
  SweepOptions local = {1000, 1e-6};
  std::int64_t starts = kItemStarts;
  std::uint64_t seed = 1;
  std::int64_t first = 0;  // the number of the first item
  machine::Which which = machine::Which::stages;
  std::vector<double> digests = {};  // of the items; empty: none is known
  std::function<void(std::int64_t done, std::int64_t all)> on_start = {};
};

/// How the local variables were found, and the ELBO.
struct ItemSolution : ItemSearch {
  double elbo = 0;
  bool unique = true;  // there is one solution only
};

/// The global factors are in place, those of the items at their priors. `fit`: with what it kept of its items.
/// LowerOptions::item_starts is needed.
Result<ItemSolution> solve_items(Instance& instance, const Analysed& analysed, const BoundData& data,
                                 const SavedFit& fit, const ItemInference& options);

/// "items as the fit found them", "items by the best of 10 starts (...)"; empty where the solution is the only one.
std::string description(const ItemSolution& s);

/// For summaries.
nlohmann::json to_json(const ItemSolution& s);

/// The same of parts.
ItemSolution together(const ItemSolution& a, const ItemSolution& b);

}  // namespace lehr
