// Source -> Ast. ANTLR is known to the .cpp files that work on its tokens and trees, and to no header but theirs:
// build_ast, syntax_errors, syntax_message and tokens, all of this folder.
#pragma once
#include <optional>

#include "compiler/ast/ast.h"
#include "compiler/support/diagnostic.h"

namespace lehr {

/// Parses one model file. Syntax errors (several in one run) go to `diagnostics`, each saying what was
/// expected; the Ast is returned only when there were none. Never throws, whatever the bytes.
std::optional<ast::Ast> parse(const Source& source, Diagnostics& diagnostics);

}  // namespace lehr
