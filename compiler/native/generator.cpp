// The table of functions that the shared library with LLVM exports (generator.h).
#include "compiler/native/generator.h"

#include "compiler/native/code.h"

extern "C" const lehr::native::Generator lehr_plugin{&lehr::native::refusal, &lehr::native::llvm_text,
                                                     &lehr::native::assembly, &lehr::native::emit_embeddable,
                                                     &lehr::native::linked_code};
