// The optimiser pipeline: a third of the passes of LLVM's default one.
// Other passes are not needed, because the lowering emits rotated loops, pointers loaded at entry, and no calls.
// Special functions stay calls, which are easy to hoist and to share, until they are inlined just before vectorisation.
// How much a function gets depends on kTier (lower.h).
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>
#include <llvm/Transforms/Vectorize/SLPVectorizer.h>
#include <llvm/Transforms/Vectorize/VectorCombine.h>

#include <stdexcept>

#include "compiler/native/buffer_aliases.h"
#include "compiler/native/carried_accumulators.h"
#include "compiler/native/lower.h"
#include "compiler/native/narrow_tails.h"
#include "compiler/native/padded_arrays.h"
#include "compiler/native/reduction_trees.h"
#include "compiler/native/target.h"
#include "compiler/native/unmasked_fma.h"

namespace lehr::native {
namespace {

/// Returns LICM, which hoists invariants and keeps accumulators in registers.
auto hoist() {
  llvm::LoopPassManager loop;
  loop.addPass(llvm::LICMPass(llvm::LICMOptions()));
  return llvm::createFunctionToLoopPassAdaptor(std::move(loop), /*UseMemorySSA=*/true);
}

/// Returns the passes before inlining: scalars into registers, common subexpressions, control flow.
llvm::FunctionPassManager simplification() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(hoist());
  return passes;
}

/// Returns the analyses that hold after a pass that changes instructions, but no control flow.
llvm::PreservedAnalyses preserved_after(bool changed) {
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

/// Wraps a function of this folder as an LLVM pass. It may change instructions, but no control flow.
template <bool (*change)(llvm::Function&)>
struct KeepsControlFlow : llvm::PassInfoMixin<KeepsControlFlow<change>> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    return preserved_after(change(function));
  }
};

/// unmask_multiply_adds as an LLVM pass.
struct UnmaskMultiplyAdds : llvm::PassInfoMixin<UnmaskMultiplyAdds> {
  explicit UnmaskMultiplyAdds(Thresholds of_program) : thresholds(std::move(of_program)) {}

  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    return preserved_after(unmask_multiply_adds(function, thresholds));
  }

  Thresholds thresholds;  // of the program
};

/// Returns the passes after inlining. `parts`: for parts of large functions, without vectorisation of straight-line
/// code (SLP).
llvm::FunctionPassManager vectorisation(bool parts, const Thresholds& thresholds) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(hoist());
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(llvm::SimplifyCFGPass());  // removes loops that one vector has done
  passes.addPass(llvm::LoopUnrollPass(
      llvm::LoopUnrollOptions(/*OptLevel=*/2, /*OnlyWhenForced=*/true).setPartial(false).setRuntime(false)));
  passes.addPass(llvm::EarlyCSEPass());  // makes masks of unrolled loops constant
  passes.addPass(KeepsControlFlow<unmask_accesses>());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(KeepsControlFlow<carry_accumulators>());
  passes.addPass(UnmaskMultiplyAdds(thresholds));
  passes.addPass(KeepsControlFlow<combine_reductions>());
  passes.addPass(KeepsControlFlow<narrow_masked_accesses>());
  if (!parts) {
    passes.addPass(llvm::SLPVectorizerPass());
    passes.addPass(llvm::VectorCombinePass());
  }
  passes.addPass(hoist());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::DSEPass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(
      llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().convertSwitchRangeToICmp(true).sinkCommonInsts(true)));
  return passes;
}

/// Runs the passes that the kTier of a function calls for. Parts of large functions, of which there are many, go
/// without what costs most and gains least. Where little is done, values are kept in registers. Parts that run once get
/// shared subexpressions only.
struct ByTier : llvm::PassInfoMixin<ByTier> {
  llvm::FunctionPassManager whole, part, little, once;

  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    const llvm::Attribute tier = function.getFnAttribute(kTier);
    if (!tier.isValid()) return whole.run(function, analyses);
    const llvm::StringRef name = tier.getValueAsString();
    return (name == kOnce ? once : name == kQuick ? little : part).run(function, analyses);
  }
};

/// Returns the passes for parts that run once: common subexpressions.
llvm::FunctionPassManager sharing() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  return passes;
}

/// Returns the passes for functions that do little: values into registers, common subexpressions, hoisting.
llvm::FunctionPassManager registers() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(hoist());
  return passes;
}

/// Returns a pass over the module that runs, on each function, the passes for its tier.
llvm::ModulePassManager on_functions(llvm::FunctionPassManager whole, llvm::FunctionPassManager part,
                                     llvm::FunctionPassManager little) {
  llvm::ModulePassManager out;
  out.addPass(llvm::createModuleToFunctionPassAdaptor(
      ByTier{{}, std::move(whole), std::move(part), std::move(little), sharing()}));
  return out;
}

/// Marks parts that run once as not optimised, so that code generation translates them instruction by instruction.
void translate_plainly(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.getFnAttribute(kTier).getValueAsString() != kOnce) continue;
    function.removeFnAttr(llvm::Attribute::MinSize);
    function.removeFnAttr(llvm::Attribute::OptimizeForSize);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
}

/// Runs passes over the module, with the alias analysis of generated code.
void run(llvm::Module& module, llvm::TargetMachine& target, llvm::ModulePassManager passes) {
  llvm::PassBuilder builder(&target);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  register_buffer_aliases(functions);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  passes.run(module, modules);
}

/// Adds the instrumentation for a sanitizer to the passes, and marks the functions for it.
void sanitize(llvm::Module& module, Options::Sanitizer sanitizer, llvm::ModulePassManager& passes) {
  if (sanitizer == Options::Sanitizer::none) return;
  const bool threads = sanitizer == Options::Sanitizer::thread;
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) f.addFnAttr(threads ? llvm::Attribute::SanitizeThread : llvm::Attribute::SanitizeAddress);
  }
  if (threads) {
    passes.addPass(llvm::ModuleThreadSanitizerPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
  } else {
    passes.addPass(llvm::AddressSanitizerPass(llvm::AddressSanitizerOptions()));
  }
}

}  // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& target, int level, const Thresholds& thresholds) {
#ifndef NDEBUG
  if (llvm::verifyModule(module, nullptr)) throw std::runtime_error("native: the lowered module is not well formed");
#endif
  llvm::ModulePassManager passes;
  if (level > 0) passes.addPass(on_functions(simplification(), simplification(), registers()));
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  if (level > 0)
    passes.addPass(
        on_functions(vectorisation(false, thresholds), vectorisation(true, thresholds), llvm::FunctionPassManager()));
  run(module, target, std::move(passes));
  translate_plainly(module);
}

void drop_unused(llvm::Module& module, llvm::TargetMachine& target, Options::Sanitizer sanitizer) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  sanitize(module, sanitizer, passes);
  run(module, target, std::move(passes));
}

}  // namespace lehr::native
