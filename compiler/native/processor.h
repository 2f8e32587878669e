// The processor that code for this machine is made for.
#pragma once
#include <cstdlib>
#include <string>

namespace lehr::native {

/// LLVM's name of it ("x86-64-v3"), from the environment variable LEHR_CPU; empty: the processor that this program runs
/// on. With the same name, processors of different kinds compute the same bits.
inline std::string chosen_processor() {
  const char* const named = std::getenv("LEHR_CPU");
  return named ? named : "";
}

}  // namespace lehr::native
