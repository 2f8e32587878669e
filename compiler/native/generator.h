// What needs LLVM, as a table that a shared library of its own exports: the functions of native.h load it when one of
// them is called for the first time, so that nothing else pays for LLVM.
#pragma once
#include "compiler/native/native.h"

namespace lehr::native {

struct Generator {
  std::optional<Refusal> (*refusal)(const Options&);
  std::string (*llvm_text)(const loops::Program&, const Options&);
  std::string (*assembly)(const loops::Program&, const Options&);
  std::string (*emit_embeddable)(const loops::Program&, const Image&, const Options&);
  std::string (*linked_code)(const loops::Program&, const Options&);
};

}  // namespace lehr::native

extern "C" const lehr::native::Generator lehr_plugin;
