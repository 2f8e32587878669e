// Which accesses of generated code may be to the same memory.
#pragma once
#include <llvm/Analysis/ScopedNoAliasAA.h>

namespace lehr::native {

/// Marks the argument that is the table of a function's buffers.
inline constexpr const char* kTableOfBuffers = "lehr-buffers";

/// Buffers are loaded from the table and do not overlap, nor do they with arrays on the stack: told from where the
/// pointers come from. All else is asked of the scopes of the accesses, which costs the more the more buffers there are.
class BufferAliases : public llvm::AAResultBase {
 public:
  bool invalidate(llvm::Function&, const llvm::PreservedAnalyses&, llvm::FunctionAnalysisManager::Invalidator&) {
    return false;
  }
  llvm::AliasResult alias(const llvm::MemoryLocation& a, const llvm::MemoryLocation& b, llvm::AAQueryInfo& query,
                          const llvm::Instruction* at);
  llvm::ModRefInfo getModRefInfo(const llvm::CallBase* call, const llvm::MemoryLocation& location,
                                 llvm::AAQueryInfo& query);
  llvm::ModRefInfo getModRefInfo(const llvm::CallBase* a, const llvm::CallBase* b, llvm::AAQueryInfo& query);

 private:
  llvm::ScopedNoAliasAAResult scopes_;
};

struct BufferAliasAnalysis : llvm::AnalysisInfoMixin<BufferAliasAnalysis> {
  using Result = BufferAliases;
  Result run(llvm::Function&, llvm::FunctionAnalysisManager&) { return {}; }
  static llvm::AnalysisKey Key;
};

/// In the place of LLVM's default, to be called before its analyses are registered.
void register_buffer_aliases(llvm::FunctionAnalysisManager& analyses);

}  // namespace lehr::native
