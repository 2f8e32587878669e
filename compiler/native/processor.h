// The processor that code for this machine is made for, if the user names one.
// Processors of different kinds compute the same bits if code is made for the same name.
#pragma once
#include <cstdlib>
#include <string>

namespace lehr::native {

/// Returns LLVM's name of the processor ("x86-64-v3") that the environment variable LEHR_CPU holds. Empty means the
/// processor that this program runs on.
inline std::string chosen_processor() {
  const char* const named = std::getenv("LEHR_CPU");
  return named ? named : "";
}

}  // namespace lehr::native
