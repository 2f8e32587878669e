// Random starts: what the factors are before the first sweep.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/loops/lower.h"
#include "runtime/methods/components.h"
#include "runtime/methods/engine.h"

namespace lehr {

std::optional<StartKind> start_kind(std::string_view name);
std::string_view name_of(StartKind kind);

/// What a start needs; all of it outlives the start.
struct Started {
  const model::Model& model;
  const schedule::Schedule& schedule;
  const loops::Lowered& lowered;
  Engine& engine;
  const std::vector<std::int64_t>& plate_sizes;
};

/// 0, or a status of the generated code. `prepare` has run.
std::int32_t random_start(const Started& s, StartKind kind, Rng rng);

/// Clusters 0 .. k - 1 of the elements of `axes` by what was observed of each: Lloyd's algorithm from k-means++ seeds
/// (Arthur & Vassilvitskii 2007), features hashed to at most 256 columns. Empty where nothing was observed of them.
std::vector<std::int64_t> cluster(const Started& s, const std::vector<model::PlateId>& axes, std::int64_t k, Rng& rng);

/// What was observed of the elements of `axes`, and their covariates: the columns of `cluster`, with givens beside the
/// observed variables.
Features features_of(const Started& s, const std::vector<model::PlateId>& axes);

/// The exchangeable components of the model, where they are in memory. They refer to what was started.
std::vector<Components> components_of(const Started& s);

}  // namespace lehr
