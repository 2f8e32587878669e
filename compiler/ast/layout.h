// One declaration (or comment, or brace) of a formatted file: its tokens with spaces, broken where it is too
// long.
#pragma once
#include <string>
#include <vector>

#include "compiler/ast/tokens.h"

namespace lehr {

constexpr int kLineWidth = 100;

/// A token as it will be written. A comment's text has no trailing blanks; it may have several lines.
struct Piece {
  TokenKind kind;
  std::string text;
  bool own_line = false;   // a comment that began a line of the source
  bool ends_line = false;  // a line comment, or a comment on a line of its own
};

/// Index of the piece at which declarations of one kind are aligned (`=` of const and let, `~`), or -1.
int separator(const std::vector<Piece>& pieces);

/// The pieces as text, without indentation of the first line; further lines are indented by `indent` + 4.
/// With `pad` > 0 the text before the separator is filled up to that many columns.
std::string lay_out(const std::vector<Piece>& pieces, int indent, int pad);

/// Columns that the text takes, in code points.
int columns(std::string_view text);

}  // namespace lehr
