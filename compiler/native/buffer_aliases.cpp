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

/// An array on the stack, or a place in the table.
struct Array {
  const llvm::Value* value;
  std::int64_t place;
  bool operator==(const Array&) const = default;
};

std::optional<Array> array_of(const llvm::Value* pointer) {
  const llvm::Value* object = llvm::getUnderlyingObject(pointer, 0);
  if (llvm::isa<llvm::AllocaInst>(object)) return Array{object, -1};
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
  if (!load) return std::nullopt;
  const llvm::DataLayout& layout = load->getModule()->getDataLayout();
  llvm::APInt place(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
  const auto* table = llvm::dyn_cast<llvm::Argument>(
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, place, /*AllowNonInbounds=*/true));
  if (!table || !table->getParent()->getAttributes().hasParamAttr(table->getArgNo(), kTableOfBuffers))
    return std::nullopt;
  return Array{table, place.getSExtValue()};
}

class BufferAliases : public llvm::AAResultBase {
 public:
  bool invalidate(llvm::Function&, const llvm::PreservedAnalyses&, llvm::FunctionAnalysisManager::Invalidator&) {
    return false;
  }
  llvm::AliasResult alias(const llvm::MemoryLocation& a, const llvm::MemoryLocation& b, llvm::AAQueryInfo& query,
                          const llvm::Instruction* at) {
    const std::optional<Array> x = array_of(a.Ptr), y = x ? array_of(b.Ptr) : std::nullopt;
    if (!x || !y) return scopes_.alias(a, b, query, at);
    return *x == *y ? llvm::AliasResult::MayAlias : llvm::AliasResult::NoAlias;
  }
  llvm::ModRefInfo getModRefInfo(const llvm::CallBase* call, const llvm::MemoryLocation& location,
                                 llvm::AAQueryInfo& query) {
    return scopes_.getModRefInfo(call, location, query);
  }
  llvm::ModRefInfo getModRefInfo(const llvm::CallBase* a, const llvm::CallBase* b, llvm::AAQueryInfo& query) {
    return scopes_.getModRefInfo(a, b, query);
  }

 private:
  llvm::ScopedNoAliasAAResult scopes_;
};

struct BufferAliasAnalysis : llvm::AnalysisInfoMixin<BufferAliasAnalysis> {
  using Result = BufferAliases;
  Result run(llvm::Function&, llvm::FunctionAnalysisManager&) { return {}; }
  static llvm::AnalysisKey Key;
};

llvm::AnalysisKey BufferAliasAnalysis::Key;

}  // namespace

void register_buffer_aliases(llvm::FunctionAnalysisManager& analyses) {
  analyses.registerPass([] { return BufferAliasAnalysis(); });
  analyses.registerPass([] {
    llvm::AAManager all;
    all.registerFunctionAnalysis<BufferAliasAnalysis>();
    all.registerFunctionAnalysis<llvm::BasicAA>();
    return all;
  });
}

}  // namespace lehr::native
