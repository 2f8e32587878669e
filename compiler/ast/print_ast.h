// Prints the Ast for `lehr emit --as ast`: one node a line, children indented below their parent, with line and column.
// Tests compare the text with expected output.
#pragma once
#include <string>

#include "compiler/ast/ast.h"

namespace lehr {

/// Returns the syntax tree as text for `lehr emit --as ast` and tests: one line for each node, indented below its
/// parent, with the line and column where it begins, such as `binary * @4:17`. `source` must be the file that was
/// parsed.
std::string print(const ast::Ast& ast, const Source& source);

}  // namespace lehr
