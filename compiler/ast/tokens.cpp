// Runs the generated lexer once more and returns all of its tokens. That includes the hidden channel, in which the
// comments are.
#include "compiler/ast/tokens.h"

#include "grammar/LehrLexer.h"

namespace lehr {
namespace {

using grammar::LehrLexer;

/// Returns the kind of a token from its type in the grammar.
TokenKind kind_of(std::size_t type) {
  if (type == LehrLexer::LineComment) return TokenKind::line_comment;
  if (type == LehrLexer::BlockComment) return TokenKind::block_comment;
  if (type == LehrLexer::Number) return TokenKind::number;
  const bool keyword = type >= LehrLexer::Model && type <= LehrLexer::Simplex;
  return keyword || type == LehrLexer::Identifier ? TokenKind::word : TokenKind::symbol;
}

}  // namespace

std::vector<Token> tokenise(const Text& text) {
  antlr4::ANTLRInputStream input(text.utf8);
  LehrLexer lexer(&input);
  lexer.removeErrorListeners();
  std::vector<Token> out;
  for (const std::unique_ptr<antlr4::Token>& token : lexer.getAllTokens()) {
    out.push_back({kind_of(token->getType()), text.span(token->getStartIndex(), token->getStopIndex() + 1)});
  }
  return out;
}

}  // namespace lehr
