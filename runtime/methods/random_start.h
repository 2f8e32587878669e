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
/// What is in place after an attempt to start.
struct Placed {
  std::optional<StartKind> kind;  // none: starts of all kinds have failed
  std::int32_t failed = 0;        // status of the start of the kind that was wanted
};
/// The same; where it fails, the first start of another kind that does not, from the same random numbers.
Placed any_start(Engine& engine, StartKind wanted, const Rng& rng);
/// Engine::restart; where a method names no kind it is this one, or another if that fails.
void restart_at(Engine& engine, StartKind kind);

}  // namespace lehr
