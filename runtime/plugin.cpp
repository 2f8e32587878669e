#include "runtime/plugin.h"

#include <dlfcn.h>

#include <stdexcept>

namespace lehr {

const void* load_plugin(const std::string& name) {
  const std::string file = "liblehr-" + name + "-" LEHR_VERSION ".so";
  std::string why;
  // Beside the library or the command that has this code, among the libraries beside the command's folder, and where
  // the dynamic linker looks.
  for (const char* const folder : {"$ORIGIN/", "$ORIGIN/../" LEHR_LIBRARIES "/", ""}) {
    void* const library = ::dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (const void* const found = library ? ::dlsym(library, "lehr_plugin") : nullptr) return found;
    why += std::string("\n  ") + ::dlerror();
  }
  throw std::runtime_error("a part of this installation cannot be loaded:" + why);
}

}  // namespace lehr
