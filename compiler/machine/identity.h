// A fingerprint of a compiled program, by which states, saved states and headers recognise the object they belong to.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/machine/tables.h"

namespace lehr {

/// Returns a 64-bit hash (FNV-1a) of a program, by which a saved state or a header is matched with the object it
/// belongs to. It is made of the model's name, the code, the constants, and the tables that decide the layout of a
/// state; programs that differ in these get different hashes. `constants` are those of the data of the lowering, by
/// ConstantId.
std::uint64_t identity(const Tables& t, const std::vector<double>& constants, const loops::Program& p,
                       const model::Model& m);

}  // namespace lehr
