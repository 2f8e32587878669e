// Random starts of an engine: sets all factors before the first sweep, by machine::start with the memory and the
// clustering that it needs.
#pragma once
#include <optional>
#include <string_view>

#include "runtime/inference/engine.h"

namespace lehr {

/// Returns the kind of start with this name (of the option --start); none if there is no such kind.
std::optional<StartKind> start_kind(std::string_view name);
/// Returns the name of a kind of start.
std::string_view name_of(StartKind kind);

/// Replaces all factors (q) by a random start of this kind. Call it after Engine::prepare, with all weights 1. Returns
/// 0 or a status of the generated code.
std::int32_t random_start(Engine& engine, StartKind kind, Rng rng);
/// The result of start_with_fallback().
struct StartResult {
  std::optional<StartKind> kind;  // kind of the start in place; none: starts of all kinds failed
  std::int32_t failed = 0;        // status of the start of the wanted kind; 0: it succeeded
};
/// Replaces q by a start of the wanted kind. If that fails, it tries the other kinds with the same random numbers and
/// stops at the first that succeeds. For out-of-core items, only kinds that is_sparse() allows are tried then.
StartResult start_with_fallback(Engine& engine, StartKind wanted, const Rng& rng);
/// Sets Engine::restart for the methods of this engine. A call that names no kind of start then gets this one, or
/// another kind if it fails.
void set_restart(Engine& engine, StartKind kind);

/// Returns true if a start of kind StartKind::points puts the elements of this parameter's variable into clusters and
/// sets its probabilities to these. That is so for a stored category of the model file, no chain, which no item stage
/// updates (as that of a node of a network), if data describe its elements.
bool is_placed_in_clusters(const machine::Model& model, const machine::ParameterRow& row);

}  // namespace lehr
