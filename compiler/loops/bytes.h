// A program as bytes that tell it from every other program, to name what is made from it.
#pragma once
#include <string>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Every field of every node, numbers bit by bit; the words of comments are left out.
std::string bytes_of(const Program& program);

}  // namespace lehr::loops
