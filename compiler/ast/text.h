// Prepares a model file for the lexer: valid UTF-8, no NUL, at most 4 MB. The lexer counts code points and spans count
// bytes, so the text carries the map from one to the other.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace lehr {

/// The contents of a model file as the lexer reads it, from decode(). The lexer counts code points, and spans of
/// messages count bytes, so a table converts positions: it has the byte offset of each code point.
struct Text {
  std::string utf8;  // the source without its byte order mark
  /// By code point of `utf8`: its byte offset in Source::text. A last entry is the offset of the end.
  std::vector<std::uint32_t> byte_offset;

  /// Returns the bytes of the code points [begin, end) as a span of the source. Throws std::out_of_range behind the
  /// end.
  Span span(std::size_t begin, std::size_t end) const { return {byte_offset.at(begin), byte_offset.at(end)}; }
};

/// Checks that a model file is UTF-8 text and returns it ready for the lexer, without byte order marks at its start.
/// Returns nothing and adds a diagnostic if it has more than 4 MiB, a NUL byte or bytes that are not UTF-8.
std::optional<Text> decode(const Source& source, Diagnostics& diagnostics);

}  // namespace lehr
