// Checks what functions that run in parallel over ranges may touch.
#pragma once
#include <string>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// One line per problem, naming the function and the array. Phases, and functions of a range of items, are parallel
/// regions: of the arrays that they store to,
/// * scratch and natural parameters are private: a worker has its own copy, so that neither the function that a phase
///   belongs to nor another of its phases may touch them;
/// * the sums of a phase, and arrays to which a function of items adds at places that are not its items', are
///   reductions: added to, and not read;
/// * all others are shared: some index of every access is formed from the range.
/// Whatever runs, scratch that a call reads is stored by the same call.
std::vector<std::string> verify_regions(const Program& program);

}  // namespace lehr::loops
