// Padding of local arrays to whole vectors, and an LLVM pass that drops masks which only protect padding.
// A row of 5 doubles is laid out as 8. A vectorised loop may then load and store 8 lanes although 3 of them are beyond
// the row. The optimiser can keep plain accesses in registers, which it cannot do with masked ones.
#pragma once
#include <cstdint>

namespace llvm {
class AllocaInst;
class Function;
}  // namespace llvm

namespace lehr::native {

/// Returns the distance, in elements, between rows of `extent` elements of a local array, for vectors of `lanes`
/// elements: the next whole number of vectors, or `extent` itself if it is at most half a vector.
std::int64_t row_stride(std::int64_t extent, int lanes);

/// Marks a local array (by metadata) as having rows of `stride` elements of which the first `extent` have a meaning. If
/// `zeros`, the others are 0 and must stay 0.
void mark_rows(llvm::AllocaInst& array, std::int64_t extent, std::int64_t stride, bool zeros = false);

/// Replaces masked loads and stores by plain ones where the lanes that are masked off fall in the padding of an array
/// that mark_rows() has marked. Masks and positions must be constants. Returns true if anything changed.
bool unmask_accesses(llvm::Function& function);

}  // namespace lehr::native
