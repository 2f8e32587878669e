// Random starts of an engine: what the factors are before the first sweep.
#pragma once
#include <optional>
#include <string_view>

#include "runtime/methods/engine.h"

namespace lehr {

std::optional<StartKind> start_kind(std::string_view name);
std::string_view name_of(StartKind kind);

/// 0, or a status of the generated code. `prepare` has run.
std::int32_t random_start(Engine& engine, StartKind kind, Rng rng);
/// Engine::restart, of this kind where a method names none.
void restart_at(Engine& engine, StartKind kind);

}  // namespace lehr
