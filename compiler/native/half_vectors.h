// Rows that end in the middle of a vector.
#pragma once

namespace llvm {
class Function;
}

namespace lehr::native {

/// Loads and stores of the first half of a vector, or quarter, are those of a vector of that length in place of one
/// with a mask: what a store with a mask has left out is in the way of loads that come after it.
bool shorten_accesses(llvm::Function& function);

}  // namespace lehr::native
