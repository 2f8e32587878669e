// Lays out one unit of a formatted model file: a declaration, a comment or a brace. It decides about blanks between
// tokens, and about line breaks where the unit is longer than kLineWidth.
#pragma once
#include <string>
#include <vector>

#include "compiler/ast/tokens.h"

namespace lehr {

/// The most columns of a formatted line. A longer line remains if it has nowhere to break.
constexpr int kLineWidth = 100;

/// A token as it will be written. The text of a comment has no trailing blanks and may have several lines.
struct Piece {
  TokenKind kind;          // what kind of token it is
  std::string text;        // its characters, without indentation
  bool own_line = false;   // a comment inside a declaration that began a line of the source: a line break precedes it
  bool ends_line = false;  // a line comment, or a comment on a line of its own: a line break must follow
};

/// Returns the index of the piece at which neighbouring declarations are aligned: `=` of `const` and `let`, `~` of a
/// statement. Returns -1 if there is none, or if some piece is a comment.
int separator(const std::vector<Piece>& pieces);

/// Returns the pieces as text. The first line is not indented; further lines are indented by `indent` + 4 columns. With
/// `pad` > 0, the text before the separator is filled with blanks to that many columns.
std::string lay_out(const std::vector<Piece>& pieces, int indent, int pad);

/// Returns the number of code points in a UTF-8 text, taken as its width in columns.
int columns(std::string_view text);

}  // namespace lehr
