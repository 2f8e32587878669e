// Golden files: texts that the compiler printed and that a person has approved. Tests compare what is printed now with
// them; with LEHR_UPDATE_GOLDENS=1 they rewrite the files instead.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>

#include "compiler/support/diagnostic.h"
#include "tests/files.h"

namespace lehr::golden {

namespace fs = std::filesystem;

/// Returns the content of a file, with its path as name.
inline Source read(const fs::path& path) { return {path.generic_string(), test::contents(path)}; }

/// Fails the test if `text` differs from the content of `file`. While updating, writes the text to the file first.
inline void compare(const std::string& text, const fs::path& file) {
  INFO("golden file " << file.generic_string() << "; scripts/update-goldens accepts what is printed now");
  if (std::getenv("LEHR_UPDATE_GOLDENS")) std::ofstream(file, std::ios::binary) << text;
  REQUIRE(fs::exists(file));
  CHECK(text == test::contents(file));
}

}  // namespace lehr::golden
