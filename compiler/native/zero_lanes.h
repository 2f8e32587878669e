// Lanes of vectors that are not part of a row.
#pragma once

namespace llvm {
class Function;
}

namespace lehr::native {

/// A row that ends in the middle of a vector: the last products are added to a sum in the lanes of the row, and the
/// other lanes stay as they are, which takes a choice of lanes for every sum. Where both factors are 0 there, adding
/// does nothing. Loads leave these lanes 0 for nothing, and what several products share is made 0 once.
bool add_zero_lanes(llvm::Function& function);

}  // namespace lehr::native
