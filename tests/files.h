// Files that tests read.
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace lehr::test {

/// Returns the content of a file; nothing if it cannot be read.
inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Returns the files below a directory with this extension, sorted by name, whichever folder they are in.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                                   const std::string& extension = ".lehr") {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.filename() < b.filename(); });
  return out;
}

/// Returns the path of the model of this name in a folder of models/. Throws where there is none.
inline std::filesystem::path model_file(const std::string& name) {
  for (const std::filesystem::path& path : files_in("models")) {
    if (path.stem() == name) return path;
  }
  throw std::runtime_error("models/ has no model " + name);
}

}  // namespace lehr::test
