// Golden files: where they are, how they are read, compared and (LEHR_UPDATE_GOLDENS=1) rewritten.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace lehr::golden {

namespace fs = std::filesystem;

inline bool updating() { return std::getenv("LEHR_UPDATE_GOLDENS") != nullptr; }

inline Source read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {path.generic_string(), std::string(std::istreambuf_iterator<char>(file), {})};
}

/// The model files of a folder, sorted by name.
inline std::vector<fs::path> models_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const fs::directory_entry& e : fs::directory_iterator(folder)) {
    if (e.path().extension() == ".lehr") out.push_back(e.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Compares a text with a golden file, or writes the file.
inline void compare(const std::string& text, const fs::path& file) {
  INFO("golden file " << file.generic_string() << "; scripts/update-goldens accepts what is printed now");
  if (updating()) std::ofstream(file, std::ios::binary) << text;
  REQUIRE(fs::exists(file));
  CHECK(text == read(file).text);
}

}  // namespace lehr::golden
