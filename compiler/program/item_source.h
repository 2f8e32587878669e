// What the runtime needs to form the factors of single items (runtime/engine/item_factors.h), from a lowered program.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "compiler/program/tables.h"
#include "runtime/engine/item_factors.h"

namespace lehr {

/// None where no stage holds all local factors, or where it stores none. `function` finds a generated function; `tables`
/// are those of the program.
std::optional<ItemSource> item_source(const model::Model& m, const loops::Lowered& lowered,
                                      std::shared_ptr<const Tables> tables,
                                      const std::function<Generated(std::size_t)>& function);

}  // namespace lehr
