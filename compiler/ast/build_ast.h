// Makes the Ast of ANTLR's parse tree. This header and the other ANTLR headers are included by .cpp files of this
// folder only, so that nothing else depends on ANTLR.
#pragma once
#include "compiler/ast/ast.h"
#include "compiler/ast/text.h"
#include "grammar/LehrParser.h"

namespace lehr {

/// Makes the Ast of a parse tree without syntax errors. It reports what the grammar accepts and the language does not.
/// Examples are a clause that is given twice, `f(x + 1 = 2)`, a number out of range, an expression that is too high.
/// `file` and `text` must come from the same source.
ast::Ast build_ast(grammar::LehrParser::FileContext& file, const Text& text, Diagnostics& diagnostics);

}  // namespace lehr
