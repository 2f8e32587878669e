// The functions of native.h, by the generator that is loaded when the first of them is called.
#include "compiler/native/native.h"

#include <dlfcn.h>

#include <stdexcept>

#include "compiler/native/code.h"
#include "compiler/native/generator.h"
#include "compiler/native/object_cache.h"

namespace lehr::native {
namespace {

/// Beside the library or the command that has this code, in the library folder beside the command's, and where the
/// dynamic linker looks.
constexpr const char* kPlaces[] = {"$ORIGIN/" LEHR_GENERATOR, "$ORIGIN/../" LEHR_LIBRARIES "/" LEHR_GENERATOR,
                                   LEHR_GENERATOR};

const Generator& load() {
  std::string why;
  for (const char* const place : kPlaces) {
    void* const library = ::dlopen(place, RTLD_NOW | RTLD_LOCAL);
    if (void* const found = library ? ::dlsym(library, "lehr_generator") : nullptr)
      return *static_cast<const Generator*>(found);
    why += std::string("\n  ") + ::dlerror();
  }
  throw std::runtime_error("the code generator of this installation cannot be loaded:" + why);
}

const Generator& generator() {
  static const Generator& loaded = load();
  return loaded;
}

}  // namespace

std::optional<Refusal> refusal(const Options& options) { return generator().refusal(options); }

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

std::string linked_code(const loops::Program& program, const Options& options) {
  return generator().linked_code(program, options);
}

}  // namespace lehr::native
