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

/// Registers the alias analyses of generated code in place of LLVM's default list (AAManager). The first one compares
/// the origins of two pointers. Pointers loaded from different entries of a table of buffers, an argument with the
/// attribute kTableOfBuffers, do not alias; nor do they alias arrays on the stack. ScopedNoAliasAA is asked if an
/// origin is unknown, and BasicAA about all pairs that are left.
///
/// Call it before LLVM's function analyses are registered, because the first registration of an analysis counts.
void register_buffer_aliases(llvm::FunctionAnalysisManager& analyses);

}  // namespace lehr::native
