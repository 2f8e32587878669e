// `lehr emit --as ast`: the tree, one node a line, with line:column spans.
#pragma once
#include <string>

#include "compiler/ast/ast.h"

namespace lehr {

std::string print(const ast::Ast& ast, const Source& source);

}  // namespace lehr
