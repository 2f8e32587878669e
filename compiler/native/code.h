// Linked machine code of functions of a program, as bytes that run at any page-aligned address. The object cache stores
// such bytes. They refer to nothing outside except through a table of imports, which the loader of the bytes fills in.
//
// Layout: 64-bit words first, each an offset from the beginning: of the table of imports, then of each function, in
// order. Code and data follow.
#pragma once
#include <array>
#include <span>
#include <string>

#include "compiler/native/lower.h"
#include "compiler/native/native.h"

namespace lehr::native {

/// The functions that linked code calls from outside, in the order of its table of imports.
inline constexpr std::array kImports{"memset", kRandomFunction};

/// Returns the machine code of some functions of the program, given by position, for `options`, linked to bytes that
/// run at any page-aligned address, for Jit and the cache. First come words with offsets of the table of imports and of
/// each of these functions, in order. Throws std::runtime_error if LLVM does not have the machine or the code cannot be
/// linked.
std::string linked_code(const loops::Program& program, std::span<const std::size_t> functions, const Options& options);

}  // namespace lehr::native
