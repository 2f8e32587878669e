#include <llvm/Support/TargetSelect.h>

#include "compiler/native/target.h"

namespace lehr::native {

void initialise_other_targets() {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
}

}  // namespace lehr::native
