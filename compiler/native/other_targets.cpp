// Initialisation of all targets of LLVM, in a file of its own so that a library can leave them out (target.h).
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
