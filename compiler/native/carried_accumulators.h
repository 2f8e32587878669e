// An LLVM pass that carries the lanes of a vector accumulator from one loop into the next.
// A vectorised sum and its tail loop each reduce a vector to a number; the second reduction is enough.
//   s = reduce(v); w = [s, 0, 0, 0] + x; t = reduce(w)      becomes      w = v + x; t = reduce(w)
#pragma once

namespace llvm {
class Function;
}

namespace lehr::native {

/// Removes the horizontal sum between two vector accumulators, if the second begins with the total of the first. The
/// lanes are then added up once. Only sums that may be reassociated are changed. Returns true if anything changed.
bool carry_accumulators(llvm::Function& function);

}  // namespace lehr::native
