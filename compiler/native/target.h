// The machine code is made for, and the optimiser pipeline.
#pragma once
#include <memory>

#include "compiler/native/native.h"

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm

namespace lehr::native {

/// All machines that LLVM makes code for. Alone in its source: a library that makes code for its own machine has
/// another one (python/library/), and nothing of the others.
void initialise_other_targets();

/// Throws std::runtime_error when LLVM does not know the machine.
std::unique_ptr<llvm::TargetMachine> make_target(const Options& options);

/// A module with the program lowered, not yet optimised.
std::unique_ptr<llvm::Module> make_module(const loops::Program& program, const Options& options,
                                          const llvm::TargetMachine& target, llvm::LLVMContext& context);

/// The bytes of an object file (or the text of the assembly) of a module that is already optimised.
std::string emit_module(llvm::Module& module, llvm::TargetMachine& target, bool assembly);

/// Runs the pipeline; level 0 only makes the special functions disappear.
void optimise(llvm::Module& module, llvm::TargetMachine& target, int level);

/// Removes what no exported function reaches, and instruments the rest for the sanitizer.
void drop_unused(llvm::Module& module, llvm::TargetMachine& target, Options::Sanitizer sanitizer);

}  // namespace lehr::native
