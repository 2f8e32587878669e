// Lowering of a Loops program into an LLVM module, before any optimisation.
// The lowering decides what makes the optimiser effective. Buffers and sizes are loaded once at entry, and each buffer
// is an alias scope of its own. Loops are emitted rotated (test at the end), with hints; short constant ones are
// unrolled.
#pragma once
#include <string>

#include "compiler/loops/loops.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace lehr::native {

/// The name of the function that generated code calls for random numbers; runtime/machine/random.h declares it.
inline constexpr const char* kRandomFunction = "lehr_random";

/// kTier is the name of an LLVM attribute that says how much a function is optimised; without it the whole pipeline
/// runs. Its values are:
///
/// * kPart: a part of a large function. Vectorisation of straight-line code is left out.
/// * kQuick: a function that is cold or does little work. Values are put into registers, common subexpressions are
///   shared and invariants are hoisted; nothing is vectorised.
/// * kOnce: a part without loops that runs once a call. Common subexpressions are shared, then it is translated
///   instruction by instruction.
inline constexpr const char *kTier = "lehr-tier", *kPart = "part", *kQuick = "quick", *kOnce = "once";
/// The name of an LLVM attribute of functions in which LLVM is not asked to unroll nests of loops (keeps_nests()).
inline constexpr const char* kKeepsNests = "lehr-keeps-nests";

/// Adds functions of the program, given by position and not yet optimised, to `module`; their names begin with
/// `prefix`. The data layout and the triple of the module must be those of `target`. During a call of a function with
/// Function::f32_allowed, the processor flushes subnormal numbers to zero.
void lower(const loops::Program& program, std::span<const std::size_t> functions, const std::string& prefix,
           const llvm::TargetMachine& target, llvm::Module& module);

}  // namespace lehr::native
