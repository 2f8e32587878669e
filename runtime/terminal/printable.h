// Text of users' files made safe to print: nothing in it moves the cursor, changes colours or the direction of writing,
// or fills the screen.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lehr {

/// Bytes of the well-formed UTF-8 character at the start of `text`; 0 where there is none (Unicode 15, table 3-7).
std::size_t utf8_character(std::string_view text);

/// Where the first byte stands that is not UTF-8.
std::optional<std::size_t> not_utf8(std::string_view text);

/// One character as it is printed. Control characters, characters that change the direction of writing and bytes that
/// are no text stand as escapes (\x1b, \u202e), a tab as itself.
struct Glyph {
  std::size_t begin = 0, end = 0;  // its bytes in the text
  std::string shown;
  std::size_t columns = 1;  // of `shown`
};
std::vector<Glyph> glyphs(std::string_view text);

/// One line, tabs and ends of lines escaped too, and "..." after `most` characters.
std::string printable(std::string_view text, std::size_t most = 80);
/// For messages of several lines, uncut.
std::string printable_lines(std::string_view text);
/// For messages that quote a model: of more than `most` columns the middle is left out.
std::string printable_message(std::string_view text, std::size_t most = 600);

/// To stderr, by printable_lines; where that cannot be written, nothing happens.
void tell(std::string_view message);
template <class First, class... Rest>
void tell(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
  tell(std::string_view(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)));
}

}  // namespace lehr
