// The driver of this folder, compiled to LLVM bitcode and stored in the compiler. `lehr build` links it with the
// generated code of a model.
#pragma once
#include <span>

namespace lehr::embedded {

/// Returns the bytes of the bitcode of the driver and of runtime/machine.
std::span<const unsigned char> driver_bitcode();

}  // namespace lehr::embedded
