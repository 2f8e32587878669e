// The code of a program, linked: bytes that run at any address that begins a page. They refer to nothing outside but
// what a table holds that whoever puts them there fills in.
//
// They begin with 64-bit words, offsets from the beginning: of the table of imports, then of each function of the
// program, in order.
#pragma once
#include <array>
#include <string>

#include "compiler/native/lower.h"
#include "compiler/native/native.h"

namespace lehr::native {

/// What the table of imports points to, in order.
inline constexpr std::array kImports{"memset", kRandomFunction};

/// Compiled for `options` and linked.
std::string linked_code(const loops::Program& program, const Options& options);

}  // namespace lehr::native
