// The bytes of a model file made safe for the lexer: valid UTF-8, no NUL, a sane size, and the map from code
// points (what the lexer counts) back to bytes (what spans count).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/diagnostic.h"

namespace lehr {

struct Text {
  std::string utf8;                        // the source without its byte order mark
  std::vector<std::uint32_t> byte_offset;  // of each code point of utf8 in Source::text, and of its end

  /// The bytes of code points [begin, end).
  Span span(std::size_t begin, std::size_t end) const { return {byte_offset.at(begin), byte_offset.at(end)}; }
};

/// Nothing, and a diagnostic, when the bytes are not a text.
std::optional<Text> decode(const Source& source, Diagnostics& diagnostics);

}  // namespace lehr
