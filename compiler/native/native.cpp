// The functions of native.h, forwarded to the shared library with LLVM, which is loaded on the first call.
#include "compiler/native/native.h"

#include "compiler/native/code.h"
#include "compiler/native/generator.h"
#include "compiler/native/object_cache.h"
#include "compiler/native/processor.h"
#include "runtime/plugin.h"

namespace lehr::native {
namespace {

/// Returns the table of functions of the shared library.
const Generator& generator() {
  static const auto* const loaded = static_cast<const Generator*>(load_plugin("generator"));
  return *loaded;
}

}  // namespace

std::optional<Refusal> refusal(const Options& options) { return generator().refusal(options); }

std::optional<Refusal> refusal_of_processor() {
  if (chosen_processor().empty()) return std::nullopt;  // answered without LLVM
  return generator().refusal({});
}

// The key of no inputs depends on the compiler, the processor and the environment; no folder is used.
std::string fingerprint() { return ObjectCache("anywhere", 0).key({}); }

std::string llvm_text(const loops::Program& program, const Options& options) {
  return generator().llvm_text(program, options);
}

std::string assembly(const loops::Program& program, const Options& options) {
  return generator().assembly(program, options);
}

std::string emit_embeddable(const loops::Program& program, const Image& image, const Options& options) {
  return generator().emit_embeddable(program, image, options);
}

std::string linked_code(const loops::Program& program, std::span<const std::size_t> functions, const Options& options) {
  return generator().linked_code(program, functions, options);
}

}  // namespace lehr::native
