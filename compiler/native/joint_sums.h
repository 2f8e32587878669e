// Sums of the elements of vectors, four or eight at a time.
#pragma once

namespace llvm {
class Function;
}

namespace lehr::native {

/// Four or eight sums over vectors of one type, in one block and needed by nothing between them, become one tree of
/// additions: each of its levels halves what is left of all, where one after another takes as many steps for a single
/// one. The sums come out side by side, as what follows can use them. Only sums that may be reassociated.
bool join_sums(llvm::Function& function);

}  // namespace lehr::native
