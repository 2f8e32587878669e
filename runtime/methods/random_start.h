// Random starts of an engine: what the factors are before the first sweep.
#pragma once
#include <optional>
#include <string_view>

#include "runtime/methods/engine.h"

namespace lehr {

std::optional<StartKind> start_kind(std::string_view name);
std::string_view name_of(StartKind kind);

/// The stream of starts that methods make while they run, of the seed that they name.
inline constexpr std::uint64_t kRestarts = 0x57A7;

/// 0, or a status of the generated code. `prepare` has run.
std::int32_t random_start(Engine& engine, StartKind kind, Rng rng);

}  // namespace lehr
