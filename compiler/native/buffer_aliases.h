// An alias analysis for generated code: buffers do not overlap, so accesses to different ones are independent.
// LLVM's default analysis asks the alias scopes of two accesses, which costs more the more buffers there are. This one
// looks at where the two pointers come from first, and asks the scopes only if that does not decide.
#pragma once

namespace llvm {
class Function;
template <class Unit, class... More>
class AnalysisManager;
using FunctionAnalysisManager = AnalysisManager<Function>;
}  // namespace llvm

namespace lehr::native {

/// The name of the LLVM attribute that marks the argument with the table of pointers to a function's buffers.
inline constexpr const char* kTableOfBuffers = "lehr-buffers";

/// Registers the alias analysis of generated code in place of LLVM's default one. It must be called before LLVM's other
/// analyses are registered. Two pointers loaded from different entries of the table of buffers do not alias, nor do
/// they alias arrays on the stack.
void register_buffer_aliases(llvm::FunctionAnalysisManager& analyses);

}  // namespace lehr::native
