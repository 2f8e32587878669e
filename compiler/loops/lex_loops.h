// The lexer of Loops: it cuts the text of a program into lines with an indentation, and lines into tokens.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/support/span.h"
#include "runtime/result.h"

namespace lehr::loops {

/// What a token is. `name`: a name or a word of the language. `quoted_name`: a name in quotes. `number`: a literal
/// without its sign. `symbol`: an operator, or a mark such as `+=` or `..`. `end`: the end of the line.
enum class TokenKind { name, quoted_name, number, symbol, end };

/// A token of the text of a program: a word, number or symbol.
struct Token {
  TokenKind kind;    // what it is
  std::string text;  // as written, a name without its quotes; empty at the end of a line
};

/// A line of the text of a program that is not empty, cut into tokens.
struct Line {
  std::size_t number = 0;          // in the text, from 1
  std::size_t depth = 0;           // of nesting: half of the spaces before its first token
  bool is_comment = false;         // it begins with //
  std::string comment = {};        // the text after `//` and, if there is one, the space after it
  std::vector<Token> tokens = {};  // those of the line, TokenKind::end last; empty for a comment
};

/// Cuts a text into lines. Empty ones and comments that are not indented are left out. Fails with ExitCode::model and
/// the line at a character that begins no token, a quote without an end, or an odd number of spaces at the beginning.
Result<std::vector<Line>> lex(const Source& source);

/// Makes an error of the lexer or parser with the message `text`, ExitCode::model and the place "NAME:LINE".
Error error_at(const Source& source, std::size_t line, std::string text);

}  // namespace lehr::loops
