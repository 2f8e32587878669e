// Helpers of the tests of parser and formatter: model files, and syntax trees printed without positions so that
// differently formatted texts can be compared.
#pragma once
#include "compiler/ast/parse.h"
#include "compiler/ast/print_ast.h"
#include "tests/golden/goldens.h"

namespace lehr {

/// Returns all model files (*.lehr) below a directory, sorted by name.
inline std::vector<Source> read_sources(const std::filesystem::path& folder) {
  std::vector<Source> out;
  for (const std::filesystem::path& path : test::files_in(folder))
    out.push_back(golden::read(path));
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
