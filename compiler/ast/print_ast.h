// `lehr emit --as ast`: the tree, one node a line, with line:column spans.
#pragma once
#include <string>
#include <string_view>

#include "compiler/ast/ast.h"

namespace lehr {

std::string print(const ast::Ast& ast, const Source& source);

/// As it is typed.
std::string_view symbol(ast::BinaryOp op);

}  // namespace lehr
