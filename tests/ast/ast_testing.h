// What the tests of the front end share: files, and trees without positions.
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/ast/parse.h"
#include "compiler/ast/print_ast.h"

namespace lehr {

inline Source read_source(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {path.generic_string(), std::string(std::istreambuf_iterator<char>(in), {})};
}

/// The files `*.lehr` of a folder, sorted.
inline std::vector<Source> read_sources(const std::filesystem::path& folder) {
  std::vector<Source> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".lehr") out.push_back(read_source(entry.path()));
  }
  std::sort(out.begin(), out.end(), [](const Source& a, const Source& b) { return a.name < b.name; });
  return out;
}

/// The printed tree without its positions, or the errors.
inline std::string tree(const Source& source) {
  Diagnostics diagnostics;
  const std::optional<ast::Ast> ast = parse(source, diagnostics);
  if (!ast) return render(diagnostics, source);
  std::string out;
  for (const std::string text = print(*ast, source); const char c : text) {
    if (c == '\n') out.erase(out.rfind(" @"));
    out += c;
  }
  return out;
}

/// The tree of a model with one `let` of an expression.
inline std::string expression_tree(const std::string& expression) {
  return tree({"m.lehr", "model m { let v = " + expression + "; }"});
}

}  // namespace lehr
