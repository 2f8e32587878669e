// Golden files: texts that the compiler printed and that a person has approved. Tests compare what is printed now with
// them; with LEHR_UPDATE_GOLDENS=1 they rewrite the files instead.
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

/// Returns true if golden files are to be rewritten.
inline bool updating() { return std::getenv("LEHR_UPDATE_GOLDENS") != nullptr; }

/// Returns the content of a file, with its path as name.
inline Source read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {path.generic_string(), std::string(std::istreambuf_iterator<char>(file), {})};
}

/// Returns the model files of a directory, sorted by name.
inline std::vector<fs::path> models_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const fs::directory_entry& e : fs::directory_iterator(folder)) {
    if (e.path().extension() == ".lehr") out.push_back(e.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Fails the test if `text` differs from the content of `file`. While updating, writes the text to the file first.
inline void compare(const std::string& text, const fs::path& file) {
  INFO("golden file " << file.generic_string() << "; scripts/update-goldens accepts what is printed now");
  if (updating()) std::ofstream(file, std::ios::binary) << text;
  REQUIRE(fs::exists(file));
  CHECK(text == read(file).text);
}

}  // namespace lehr::golden
