// Which program it is: of two that differ in what a state holds or in what its functions do, the numbers differ.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/machine/tables.h"

namespace lehr {

/// `constants`: those of the data that the program was lowered for, by ConstantId.
std::uint64_t identity(const Tables& t, const std::vector<double>& constants, const loops::Program& p,
                       const model::Model& m);

}  // namespace lehr
