// Serialisation of a program to bytes. Two programs have the same bytes exactly if they differ in nothing but the texts
// of their comments. So a digest of the bytes is a key for what is compiled from them (the cache of machine code).
#pragma once
#include <string>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns a program as bytes, from which the cache of machine code makes its key: every field of every node, numbers
/// bit by bit, but not the texts of comments. The bytes depend on the byte order of the machine and cannot be read
/// back.
std::string serialise(const Program& program);

}  // namespace lehr::loops
