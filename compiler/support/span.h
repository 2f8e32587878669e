// Locations in a model file: half-open byte ranges, and the text that they index. Spans count bytes, because slicing is
// cheap; positions for messages count lines and Unicode code points.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace lehr {

/// A place in a model file, for messages: the bytes [begin, end).
struct Span {
  std::uint32_t begin = 0;  // offset of the first byte
  std::uint32_t end = 0;    // offset behind the last byte; equal to `begin` if the span is empty

  /// Returns true if both spans have the same begin and end.
  bool operator==(const Span&) const = default;
};

/// Returns the smallest span that covers both, such as that of an expression with two operands.
inline Span cover(Span a, Span b) { return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end}; }

/// One model file: its name and its contents.
struct Source {
  std::string name;  // path of the file as the user typed it, for messages
  std::string text;  // all bytes; UTF-8 once decode() has accepted them

  /// Returns the text of a span, which must lie inside the file.
  std::string_view slice(Span s) const { return std::string_view(text).substr(s.begin, s.end - s.begin); }
};

/// A place in a model file as messages print it: a line and a column, both counted from 1. Columns count Unicode code
/// points, so a tab is one column.
struct Position {
  int line = 1;    // number of the line, from 1
  int column = 1;  // number of the Unicode code point in the line, from 1
};

/// Returns the line and column of a byte offset, by a walk from the start of the file. An offset behind the end counts
/// as the end.
Position position_of(const Source& source, std::uint32_t offset);

}  // namespace lehr
