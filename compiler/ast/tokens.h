// The tokens of a model file with its comments, for the formatter: the parser drops comments.
#pragma once
#include <vector>

#include "compiler/ast/text.h"

namespace lehr {

enum class TokenKind { word, number, symbol, line_comment, block_comment };

struct Token {
  TokenKind kind;
  Span span;
};

/// In the order of the text; what lies between two of them is white space.
std::vector<Token> tokenise(const Text& text);

}  // namespace lehr
