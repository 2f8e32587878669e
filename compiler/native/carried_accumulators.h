// An LLVM pass that carries the lanes of a vector accumulator from one loop into the next.
// A vectorised sum and its tail loop each reduce a vector to a number; the second reduction is enough.
//   s = reduce(v); w = [s, 0, 0, 0] + x; t = reduce(w)      becomes      w = v + x; t = reduce(w)
#pragma once

namespace llvm {
class Function;
}

namespace lehr::native {

/// Removes the horizontal sum between a vectorised sum loop and its tail loop: where an accumulator of lanes begins
/// with the total of another, it continues with the other's lanes instead, which are added up once. Only sums that may
/// be reassociated are changed. Returns true if anything changed.
bool carry_accumulators(llvm::Function& function);

}  // namespace lehr::native
