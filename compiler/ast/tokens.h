// Splits a model file into tokens with its comments, for the formatter. The parser cannot give them, because it drops
// comments and blanks.
#pragma once
#include <vector>

#include "compiler/ast/text.h"

namespace lehr {

/// The kinds of tokens that the formatter distinguishes. `word` is a keyword or a name, `symbol` an operator, bracket
/// or punctuation; the comments are `// ...` and `/* ... */`.
enum class TokenKind { word, number, symbol, line_comment, block_comment };

/// Returns true if a token of this kind is a comment, of either form.
inline bool is_comment(TokenKind kind) { return kind == TokenKind::line_comment || kind == TokenKind::block_comment; }

/// A token or a comment of a model file, for the formatter.
struct Token {
  TokenKind kind;  // word, number, symbol or comment
  Span span;       // its bytes in the model file
};

/// Splits a model file into all its tokens and comments, in order, for the formatter. Only white space lies between two
/// of them. It reports no errors: the file must have been parsed before.
std::vector<Token> tokenise(const Text& text);

}  // namespace lehr
