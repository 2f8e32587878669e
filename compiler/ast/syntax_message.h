// Words a syntax error from the state of the parser at the token that it does not accept. The message names what the
// user did or should write, and rarely a rule of the grammar.
#pragma once
#include "compiler/ast/text.h"
#include "grammar/LehrParser.h"

namespace lehr {

/// Returns the error message for a syntax error at the parser's current token, in words that a user understands, such
/// as "expected ';' after 'x'". It depends on the token and on those that the grammar accepts there. Its span is empty
/// if something is missing; its notes say how to mend it and where an open bracket stands. `text` is the file being
/// parsed.
Diagnostic syntax_message(antlr4::Parser& parser, const Text& text);

/// Returns true if a token of this type is a reserved word that begins a declaration: const, plate, data, let, observe,
/// potential, guide. After an error the parser goes on at such a token. `x ~ ...` begins with a name, which gives
/// false.
bool begins_declaration(std::size_t token_type);

/// Returns true if a token of this type may be a name in a model: an identifier, or a word that is a keyword only in
/// its clause, such as `in` or `joint`.
bool is_name(std::size_t token_type);

}  // namespace lehr
