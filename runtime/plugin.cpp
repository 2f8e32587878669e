// The search for a plugin's file and its loading by dlopen().
#include "runtime/plugin.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <vector>

namespace lehr {
namespace {

/// Returns the folder of the library or executable that contains this code; empty if the linker does not know it.
std::filesystem::path own_folder() {
  Dl_info info;
  void* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(&load_plugin), &info, &map, RTLD_DL_LINKMAP) == 0) return {};
  // The linker's name of the main executable is empty.
  const char* const name = static_cast<const link_map*>(map)->l_name;
  std::error_code ignored;
  return std::filesystem::canonical(*name ? name : "/proc/self/exe", ignored).parent_path();
}

}  // namespace

const void* load_plugin(const std::string& name) {
  const std::string file = "liblehr-" + name + "-" LEHR_VERSION ".so";
  std::vector<std::filesystem::path> paths;
  // Beside this code, in the library folder beside the command's folder, and on the path of the dynamic linker.
  if (const std::filesystem::path here = own_folder(); !here.empty())
    paths = {here / file, here.parent_path() / LEHR_LIBRARIES / file};
  paths.emplace_back(file);
  std::string why;
  for (const std::filesystem::path& path : paths) {
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (const void* const table = library ? ::dlsym(library, "lehr_plugin") : nullptr) return table;
    why += std::string("\n  ") + ::dlerror();
  }
  throw PluginError("a part of this installation cannot be loaded:" + why);
}

}  // namespace lehr
