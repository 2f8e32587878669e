// Passes over Loops, in the order in which they run: each gives a program that does the same with less work, up to the
// order of sums. None knows a model.
#pragma once
#include <span>
#include <string_view>

#include "compiler/loops/loops.h"

namespace lehr::loops {

struct Pass {
  std::string_view name;  // for --no-opt
  Program (*run)(Program program);
};

std::span<const Pass> passes();

/// Runs all passes but those that the environment variable LEHR_NO_OPT names, with commas between; "all" names each.
Program optimise(Program program);

}  // namespace lehr::loops
