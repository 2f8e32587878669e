// Which accesses of generated code may be to the same memory.
#pragma once

namespace llvm {
class Function;
template <class Unit, class... More>
class AnalysisManager;
using FunctionAnalysisManager = AnalysisManager<Function>;
}  // namespace llvm

namespace lehr::native {

/// Marks the argument that is the table of a function's buffers.
inline constexpr const char* kTableOfBuffers = "lehr-buffers";

/// Registers an analysis of aliases in the place of LLVM's default one, before its other analyses are. Buffers are
/// loaded from the table and do not overlap, nor do they with arrays on the stack: that is told from where pointers
/// come from. All else is asked of the scopes of accesses, which costs the more the more buffers there are.
void register_buffer_aliases(llvm::FunctionAnalysisManager& analyses);

}  // namespace lehr::native
