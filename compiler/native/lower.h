// Lowers a Loops program into an LLVM module, before any optimisation. What makes the optimiser effective is
// said here: buffers and sizes are loaded once at entry, each buffer is its own alias scope, loops are
// emitted rotated, with hints, and short constant ones unrolled at once.
#pragma once
#include <string>

#include "compiler/loops/loops.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace lehr::native {

/// Random numbers of generated code are those of the machine: runtime/machine/random.h.
inline constexpr const char* kRandomFunction = "lehr_random";

/// How much is made of a function, where it is not everything: of a part of a large one, of what does little work or
/// runs once a fit, and of a part of which each call runs each instruction at most once.
inline constexpr const char *kEffort = "lehr-effort", *kPart = "part", *kLittle = "little", *kOnce = "once";

/// Fills `module`, whose data layout and triple are those of `target`.
void lower(const loops::Program& program, const std::string& prefix, const llvm::TargetMachine& target,
           llvm::Module& module);

}  // namespace lehr::native
