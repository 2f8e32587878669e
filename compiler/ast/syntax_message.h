// The wording of a syntax error from the state of the parser at the token it does not accept.
#pragma once
#include "compiler/ast/text.h"
#include "grammar/LehrParser.h"

namespace lehr {

struct SyntaxMessage {
  Span span;
  std::string text;
  std::vector<Note> notes;
};

SyntaxMessage syntax_message(antlr4::Parser& parser, const Text& text);

/// A token that begins a declaration wherever it stands: const, plate, data, let, observe, potential, guide.
bool begins_declaration(std::size_t token_type);

/// A token that the grammar takes as a name.
bool is_name(std::size_t token_type);

}  // namespace lehr
