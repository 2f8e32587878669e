// The driver of this folder as LLVM bitcode, for `lehr build` to link with the code of a model.
#pragma once
#include <span>

namespace lehr::embedded {

std::span<const unsigned char> driver_bitcode();

}  // namespace lehr::embedded
