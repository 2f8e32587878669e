// Random starts: what the factors are before the first sweep.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/loops/lower.h"
#include "runtime/engine/engine.h"
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

std::optional<StartKind> start_kind(std::string_view name);

/// What a start needs; all of it outlives the start.
struct Started {
  const model::Model& model;
  const schedule::Schedule& schedule;
  const loops::Lowered& lowered;
  const Engine& engine;
  const std::vector<std::int64_t>& plate_sizes;
};

/// 0, or a status of the generated code. `prepare` has run.
std::int32_t random_start(const Started& s, StartKind kind, Rng rng);

/// Clusters 0 .. k - 1 of the elements of `axes` by what was observed of each: Lloyd's algorithm from k-means++ seeds
/// (Arthur & Vassilvitskii 2007), features hashed to at most 256 columns. Empty where nothing was observed of them.
std::vector<std::int64_t> cluster(const Started& s, const std::vector<model::PlateId>& axes, std::int64_t k, Rng& rng);

}  // namespace lehr
