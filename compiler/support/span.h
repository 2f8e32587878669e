// Places in the model file: half-open byte ranges, and the text they point into.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace lehr {

/// Bytes [begin, end) of the model file.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool operator==(const Span&) const = default;
};

/// The smallest span that covers both.
inline Span cover(Span a, Span b) { return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end}; }

/// One model file: its name as the user gave it and its bytes (UTF-8).
struct Source {
  std::string name;
  std::string text;

  std::string_view slice(Span s) const { return std::string_view(text).substr(s.begin, s.end - s.begin); }
};

/// 1-based line and column (columns count Unicode code points).
struct Position {
  int line = 1;
  int column = 1;
};

Position position_of(const Source& source, std::uint32_t offset);

}  // namespace lehr
