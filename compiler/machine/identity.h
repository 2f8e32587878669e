// A fingerprint of a compiled program, by which states, saved states and headers recognise the object they belong to.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/machine/tables.h"

namespace lehr {

/// Returns a 64-bit hash (FNV-1a) of a program: the name of the model, the code, the constants, and those tables that
/// decide the layout of a state. Programs that differ in the layout of a state or in what their functions compute get
/// different hashes. `constants` are those of the data for which the program was lowered, by ConstantId.
std::uint64_t identity(const Tables& t, const std::vector<double>& constants, const loops::Program& p,
                       const model::Model& m);

}  // namespace lehr
