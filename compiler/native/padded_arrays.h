// Local arrays whose rows end in the middle of a vector are laid out with rows of whole vectors. What a
// vectorised loop stores past the end of a row is then harmless, so masked accesses can become plain ones,
// which the optimiser keeps in registers.
#pragma once
#include <cstdint>

namespace llvm {
class AllocaInst;
class Function;
}  // namespace llvm

namespace lehr::native {

/// Distance between rows of `extent` elements for vectors of `lanes`.
std::int64_t row_stride(std::int64_t extent, int lanes);

/// Says that `array` holds rows of `stride` elements of which only the first `extent` are ever meant. `zeros`: the
/// others are 0 and have to stay so.
void mark_rows(llvm::AllocaInst& array, std::int64_t extent, std::int64_t stride, bool zeros = false);

/// Turns masked loads and stores with constant masks, at known places of marked arrays, into plain ones; the
/// lanes that are masked off must fall in the padding. Returns whether anything changed.
bool unmask_accesses(llvm::Function& function);

}  // namespace lehr::native
