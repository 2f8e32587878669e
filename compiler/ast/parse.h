// Parses a model file to an Ast. ANTLR is included only by .cpp files of this folder and by the headers build_ast.h,
// syntax_errors.h, syntax_message.h; users of this header do not depend on it.
#pragma once
#include <optional>

#include "compiler/ast/ast.h"
#include "compiler/support/diagnostic.h"

namespace lehr {

/// Parses one model file. Syntax errors (several in one run) go to `diagnostics`; each says what was expected. Returns
/// the Ast if there were no errors, else nothing. Accepts any bytes and throws nothing.
std::optional<ast::Ast> parse(const Source& source, Diagnostics& diagnostics);

}  // namespace lehr
