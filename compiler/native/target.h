// LLVM targets, modules and the optimiser pipeline: the steps from a program to machine code.
// make_target -> make_module (which lowers the program) -> optimise -> emit_module.
#pragma once
#include <memory>
#include <span>

#include "compiler/native/native.h"

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm

namespace lehr::native {

/// Initialises LLVM's code generators of all machines, for objects of other machines than this. It has a source file of
/// its own, so that a library without them can replace it (python/library/).
void initialise_other_targets();

/// Returns LLVM's description of the machine and processor that the options name, for which code is made. Throws
/// std::runtime_error if LLVM does not have it.
std::unique_ptr<llvm::TargetMachine> make_target(const Options& options);

/// Returns a module with functions of the program, given by position, lowered to LLVM's IR and not yet optimised.
/// `context` must outlive it.
std::unique_ptr<llvm::Module> make_module(const loops::Program& program, std::span<const std::size_t> functions,
                                          const Options& options, const llvm::TargetMachine& target,
                                          llvm::LLVMContext& context);
/// Returns a module with all functions of the program.
std::unique_ptr<llvm::Module> make_module(const loops::Program& program, const Options& options,
                                          const llvm::TargetMachine& target, llvm::LLVMContext& context);

/// Returns the machine code of an optimised module: the bytes of an object file, or the text of its assembly if
/// `assembly`.
std::string emit_module(llvm::Module& module, llvm::TargetMachine& target, bool assembly);

/// Runs the optimiser pipeline over the module. At level 0 it only inlines the special functions and removes unused
/// ones. `thresholds` are those of the program.
void optimise(llvm::Module& module, llvm::TargetMachine& target, int level, const Thresholds& thresholds);

/// Removes functions and data that no exported function reaches, in the module of an object that `lehr build` writes,
/// after the code of the model was linked with the driver. Instruments the rest for the sanitizer, unless it is `none`.
void drop_unused(llvm::Module& module, llvm::TargetMachine& target, Options::Sanitizer sanitizer);

}  // namespace lehr::native
