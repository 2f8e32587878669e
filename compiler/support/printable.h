// Text of a user's file made safe to print: nothing in it may drive a terminal, and nothing is endless.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// The length of the well-formed UTF-8 sequence at the front of `s`, 0 when there is none.
std::size_t sequence_length(std::string_view s);

/// One character as it is printed. Control characters, characters that change the direction of writing and
/// bytes that are no text stand as escapes (\x1b, \u202e), a tab as itself.
struct Glyph {
  std::size_t begin = 0;  // its bytes in the text
  std::size_t end = 0;
  std::string shown;
  std::size_t columns = 1;  // of `shown`
};
std::vector<Glyph> glyphs(std::string_view text);

/// `text` with escapes; of more than `most` columns the middle is left out.
std::string printable(std::string_view text, std::size_t most = 600);

}  // namespace lehr
