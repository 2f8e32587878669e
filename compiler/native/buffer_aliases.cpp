// The alias analysis of generated code: two pointers are compared by their origins.
// A pointer comes from an array on the stack, or from an entry of the table of buffers. Different origins do not alias;
// LLVM's ScopedNoAliasAA is asked only if an origin is unknown.
#include "compiler/native/buffer_aliases.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <optional>

namespace lehr::native {
namespace {

/// The origin of a pointer: an array on the stack, or an entry of the table of buffers.
struct Array {
  const llvm::Value* value;  // the allocation on the stack, or the argument with the table
  std::int64_t offset;       // the offset of the entry in the table; -1 for an array on the stack
  bool operator==(const Array&) const = default;
};

/// Returns the origin of a pointer; nullopt if it is neither of the two kinds.
std::optional<Array> array_of(const llvm::Value* pointer) {
  const llvm::Value* object = llvm::getUnderlyingObject(pointer, 0);
  if (llvm::isa<llvm::AllocaInst>(object)) return Array{object, -1};
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
  if (!load) return std::nullopt;
  const llvm::DataLayout& layout = load->getModule()->getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
  const auto* table = llvm::dyn_cast<llvm::Argument>(
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true));
  if (!table || !table->getParent()->getAttributes().hasParamAttr(table->getArgNo(), kTableOfBuffers))
    return std::nullopt;
  return Array{table, offset.getSExtValue()};
}

/// The result of the analysis, which LLVM asks about pairs of accesses.
class BufferAliases : public llvm::AAResultBase {
 public:
  /// Returns false: the analysis keeps no state that a change of the function could invalidate.
  bool invalidate(llvm::Function&, const llvm::PreservedAnalyses&, llvm::FunctionAnalysisManager::Invalidator&) {
    return false;
  }
  /// Returns NoAlias for different origins, MayAlias for equal ones, and what the alias scopes say otherwise.
  llvm::AliasResult alias(const llvm::MemoryLocation& a, const llvm::MemoryLocation& b, llvm::AAQueryInfo& query,
                          const llvm::Instruction* at) {
    const std::optional<Array> x = array_of(a.Ptr), y = x ? array_of(b.Ptr) : std::nullopt;
    if (!x || !y) return scopes_.alias(a, b, query, at);
    return *x == *y ? llvm::AliasResult::MayAlias : llvm::AliasResult::NoAlias;
  }
  /// Returns what the alias scopes say of a call and an access.
  llvm::ModRefInfo getModRefInfo(const llvm::CallBase* call, const llvm::MemoryLocation& location,
                                 llvm::AAQueryInfo& query) {
    return scopes_.getModRefInfo(call, location, query);
  }
  /// Returns what the alias scopes say of two calls.
  llvm::ModRefInfo getModRefInfo(const llvm::CallBase* a, const llvm::CallBase* b, llvm::AAQueryInfo& query) {
    return scopes_.getModRefInfo(a, b, query);
  }

 private:
  llvm::ScopedNoAliasAAResult scopes_;  // LLVM's analysis of alias scopes
};

/// The analysis as LLVM's pass manager registers it.
struct BufferAliasAnalysis : llvm::AnalysisInfoMixin<BufferAliasAnalysis> {
  using Result = BufferAliases;
  Result run(llvm::Function&, llvm::FunctionAnalysisManager&) { return {}; }
  static llvm::AnalysisKey Key;
};

llvm::AnalysisKey BufferAliasAnalysis::Key;

}  // namespace

void register_buffer_aliases(llvm::FunctionAnalysisManager& analyses) {
  analyses.registerPass([] { return BufferAliasAnalysis(); });
  // The first registration of an analysis counts, so this list replaces LLVM's.
  analyses.registerPass([] {
    llvm::AAManager all;
    all.registerFunctionAnalysis<BufferAliasAnalysis>();
    all.registerFunctionAnalysis<llvm::BasicAA>();
    return all;
  });
}

}  // namespace lehr::native
