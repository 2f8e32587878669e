// Splits a model file into tokens with its comments, for the formatter. The parser cannot give them, because it drops
// comments and blanks.
#pragma once
#include <vector>

#include "compiler/ast/text.h"

namespace lehr {

/// What kinds of tokens there are. `word` is a keyword or a name, `symbol` an operator, bracket or punctuation.
enum class TokenKind { word, number, symbol, line_comment, block_comment };

/// Returns true if a token of this kind is a comment, of either form.
inline bool is_comment(TokenKind kind) { return kind == TokenKind::line_comment || kind == TokenKind::block_comment; }

/// A token or a comment of a model file.
struct Token {
  TokenKind kind;  // what kind it is
  Span span;       // its bytes in the source
};

/// Returns all tokens and comments in the order of the text. Only white space lies between two of them.
std::vector<Token> tokenise(const Text& text);

}  // namespace lehr
