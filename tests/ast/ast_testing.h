// Helpers of the tests of parser and formatter: model files, and syntax trees printed without positions so that
// differently formatted texts can be compared.
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

/// Returns the content of a file, with its path as name.
inline Source read_source(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {path.generic_string(), std::string(std::istreambuf_iterator<char>(in), {})};
}

/// Returns all model files (*.lehr) of a directory, sorted by name.
inline std::vector<Source> read_sources(const std::filesystem::path& folder) {
  std::vector<Source> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".lehr") out.push_back(read_source(entry.path()));
  }
  std::sort(out.begin(), out.end(), [](const Source& a, const Source& b) { return a.name < b.name; });
  return out;
}

/// Returns the printed syntax tree without positions, or the errors.
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

/// Returns the tree of a model whose only declaration is `let v = EXPRESSION;`.
inline std::string expression_tree(const std::string& expression) {
  return tree({"m.lehr", "model m { let v = " + expression + "; }"});
}

}  // namespace lehr
