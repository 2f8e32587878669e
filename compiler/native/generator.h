// The interface of the shared library that contains LLVM: a table of functions that it exports.
// The first call of a function of native.h that needs LLVM loads the library. A program that finds its code in the
// cache does not pay for LLVM.
#pragma once
#include <span>

#include "compiler/native/native.h"

namespace lehr::native {

/// The table of the functions that need LLVM, which the shared library exports. Each does what the function of the same
/// name in native.h or code.h promises.
struct Generator {
  std::optional<Refusal> (*refusal)(const Options&);                                    // why no code can be made
  std::string (*llvm_text)(const loops::Program&, const Options&);                      // text of LLVM's IR
  std::string (*assembly)(const loops::Program&, const Options&);                       // text of the assembly
  std::string (*emit_embeddable)(const loops::Program&, const Image&, const Options&);  // bytes of an object file
  std::string (*linked_code)(const loops::Program&, std::span<const std::size_t>,
                             const Options&);  // bytes of linked machine code
};

}  // namespace lehr::native

/// The table of the functions that need LLVM, which the shared library with LLVM exports. The program looks it up by
/// this name when it has loaded the library (runtime/plugin.h).
extern "C" const lehr::native::Generator lehr_plugin;
