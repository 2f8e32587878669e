// An LLVM pass that combines several horizontal sums of vectors into one reduction tree.
// Reducing a vector of 8 lanes takes three additions of vectors, so 8 such sums take 24. A tree over the 8 vectors
// takes 7, because each level adds two vectors into one with partial sums of both. The result is one vector with the 8
// sums.
//   level 1: ab = [a0+a1, b0+b1, a2+a3, b2+b3], cd likewise      level 2: [sum a, sum b, sum c, sum d]
// If the same constant is divided by each sum, one vector division does it for all.
#pragma once

namespace llvm {
class Function;
}

namespace lehr::native {

/// Combines runs of four or eight horizontal sums over vectors of one type into reduction trees, which take fewer
/// additions. The sums of a run are in one basic block, and none is used before the last. Only sums that may be
/// reassociated are changed. Returns true if anything changed.
bool combine_reductions(llvm::Function& function);

}  // namespace lehr::native
