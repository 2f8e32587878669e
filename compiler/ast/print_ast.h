// Prints the Ast for `lehr emit --as ast`: one node a line, children indented below their parent, with line and column.
// Tests compare the text with expected output.
#pragma once
#include <string>

#include "compiler/ast/ast.h"

namespace lehr {

/// Returns the tree as text, for example `binary * @4:17`. `source` must be the file that the Ast was parsed from.
std::string print(const ast::Ast& ast, const Source& source);

}  // namespace lehr
