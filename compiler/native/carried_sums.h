// Sums that one loop begins and the next one goes on with.
#pragma once

namespace llvm {
class Function;
}

namespace lehr::native {

/// The lanes of a sum over a vector are added up, and the result becomes the first lane of the vector that the next
/// loop adds to (a loop and its last turns): the next loop goes on with the lanes as they are, and they are added up
/// once. Only sums that may be reassociated.
bool carry_lanes(llvm::Function& function);

}  // namespace lehr::native
