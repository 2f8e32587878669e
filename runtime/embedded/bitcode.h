// The driver of this folder, compiled to LLVM bitcode and stored in the compiler. `lehr build` links it with the
// generated code of a model.
#pragma once
#include <span>

namespace lehr::embedded {

/// Returns the LLVM bitcode of the functions of built objects (driver.h) and of runtime/machine. `lehr build` links it
/// with the generated code of a model.
std::span<const unsigned char> driver_bitcode();

}  // namespace lehr::embedded
