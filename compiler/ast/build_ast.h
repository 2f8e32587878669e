// Makes the Ast of ANTLR's parse tree. This header and the other ANTLR headers are included by .cpp files of this
// folder only, so that nothing else depends on ANTLR.
#pragma once
#include "compiler/ast/ast.h"
#include "compiler/ast/text.h"
#include "grammar/LehrParser.h"

namespace lehr {

/// Makes the Ast of ANTLR's parse tree; parse() calls it if there were no syntax errors. Errors that the grammar does
/// not see are added to `diagnostics`: a clause that is given twice, `f(x + 1 = 2)`, a number out of range, an
/// expression of more than 1000 nested operations. `file` and `text` must come from the same source.
ast::Ast build_ast(grammar::LehrParser::FileContext& file, const Text& text, Diagnostics& diagnostics);

}  // namespace lehr
