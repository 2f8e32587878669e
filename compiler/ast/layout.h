// Lays out one unit of a formatted model file: a declaration, a comment or a brace. It decides about blanks between
// tokens, and about line breaks where the unit is longer than kLineWidth.
#pragma once
#include <string>
#include <vector>

#include "compiler/ast/tokens.h"

namespace lehr {

/// The width in columns at which the formatter breaks lines. A line without a place to break stays longer.
constexpr int kLineWidth = 100;

/// A token or comment as the formatter will write it. The text of a comment has no trailing blanks and may have several
/// lines.
struct Piece {
  TokenKind kind;          // word, number, symbol or comment
  std::string text;        // its characters, without indentation
  bool own_line = false;   // a comment inside a declaration that began a line of the source: a line break precedes it
  bool ends_line = false;  // a line comment, or a comment on a line of its own: a line break must follow
};

/// Returns the index of the sign that `lehr format` aligns in one column with that of neighbouring declarations: `=` of
/// `const` and `let`, `~` of `x ~ ...`. `pieces` is one declaration. Returns -1 if it has no such sign, as `const K;`
/// and every `plate`, or if some piece is a comment.
int separator(const std::vector<Piece>& pieces);

/// Returns the text of one declaration or comment with the standard blanks between its pieces, broken into lines of at
/// most kLineWidth columns. `indent`: the column at which its first line will stand; the caller writes that
/// indentation. Further lines are indented by `indent` + 4. With `pad` > 0, the text before the separator is filled
/// with blanks to that many columns, so that separators are aligned.
std::string lay_out(const std::vector<Piece>& pieces, int indent, int pad);

/// Returns the width of a UTF-8 text in columns, for the layout of lines: its number of code points.
int columns(std::string_view text);

}  // namespace lehr
