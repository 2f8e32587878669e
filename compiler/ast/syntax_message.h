// Words a syntax error from the state of the parser at the token that it does not accept. The message names what the
// user did or should write, and rarely a rule of the grammar.
#pragma once
#include "compiler/ast/text.h"
#include "grammar/LehrParser.h"

namespace lehr {

/// Returns the error for the parser's current token, which is not among the tokens that the parser expects. Its span is
/// empty if something is missing there; its notes are cures, and where an open bracket stands. `text` is the file being
/// parsed.
Diagnostic syntax_message(antlr4::Parser& parser, const Text& text);

/// Returns true if a token of this type begins a declaration wherever it stands: const, plate, data, let, observe,
/// potential, guide.
bool begins_declaration(std::size_t token_type);

/// Returns true if the grammar accepts a token of this type as a name. That is an identifier, or a word that is a
/// keyword in its clause only, such as `in`.
bool is_name(std::size_t token_type);

}  // namespace lehr
