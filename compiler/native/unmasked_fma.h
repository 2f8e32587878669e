// An LLVM pass that replaces masked multiply-adds at the end of rows by plain ones.
// A row that ends in the middle of a vector is added to a sum in its lanes only, by a select. If both factors are 0 in
// the other lanes, adding them changes nothing and the select can go. Masked loads leave 0 there at no cost.
//   sum = select(mask, sum + f * masked_load(row), sum)      becomes      sum = sum + f0 * masked_load(row, 0)
#pragma once
#include "runtime/threshold.h"

namespace llvm {
class Function;
}

namespace lehr::native {

/// Replaces multiply-adds that a select limits to the lanes of a row by plain ones, after it has made the unused lanes
/// of both factors 0. One factor is a masked load. The other one is a masked load too, or several products share it and
/// its zeros are computed once; other products stay as they are. Returns true if anything changed.
bool unmask_multiply_adds(llvm::Function& function, const Thresholds& thresholds);

}  // namespace lehr::native
