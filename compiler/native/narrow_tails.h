// An LLVM pass that narrows masked accesses at the end of rows to shorter vectors without a mask.
// A load of what a masked store has just written must wait, because the processor cannot forward such a store.
// A row of 12 doubles ends in half a vector of 8: the last four are accessed as a vector of 4.
#pragma once

namespace llvm {
class Function;
}

namespace lehr::native {

/// Replaces loads and stores that a constant mask limits to the first half, quarter, ... of a vector by plain accesses
/// of a vector of that length, of at least 128 bits. A later load then need not wait for the store. Returns true if
/// anything changed.
bool narrow_masked_accesses(llvm::Function& function);

}  // namespace lehr::native
