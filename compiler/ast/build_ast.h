// Parse tree -> Ast. Beside the parser itself the only place that includes ANTLR.
#pragma once
#include "compiler/ast/ast.h"
#include "compiler/ast/text.h"
#include "grammar/LehrParser.h"

namespace lehr {

/// The Ast of a tree that was parsed without errors. What the grammar lets through and the language does not
/// (a clause given twice, `f(x + 1 = 2)`, a number out of range) is reported here.
ast::Ast build_ast(grammar::LehrParser::FileContext& file, const Text& text, Diagnostics& diagnostics);

}  // namespace lehr
