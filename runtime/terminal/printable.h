// Makes text from users' files safe to print: escapes whatever could move the cursor, change colours or the direction
// of writing, and shortens what would fill the screen.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lehr {

/// Returns the number of bytes of the well-formed UTF-8 character at the start of `text`; 0 if there is none (Unicode
/// 15, table 3-7).
std::size_t utf8_length(std::string_view text);

/// Returns the offset of the first byte that is not part of well-formed UTF-8; nothing if all is.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// One character of a text as it is printed. Control characters, characters that change the direction of writing and
/// bytes that are not UTF-8 are shown as escapes (\x1b, \u202e); a tab is shown as itself.
struct PrintedCharacter {
  std::size_t begin = 0, end = 0;  // its bytes in the text: begin .. end - 1
  std::string shown;               // what is printed
  std::size_t columns = 1;         // width of `shown`: 1, or the length of an escape
};
/// Splits a text from a user's file into its characters, each as it is safe to print.
std::vector<PrintedCharacter> printed_characters(std::string_view text);

/// Returns the text as one safe line: tabs and line breaks are escaped too, and "..." follows after `most` characters.
std::string printable(std::string_view text, std::size_t most = 80);
/// Returns the text safe to print, with its line breaks and tabs and at full length.
std::string printable_lines(std::string_view text);
/// Returns a message that may quote a model as one safe line, with its tabs. Of a message wider than `most` columns,
/// the middle is left out; " ... " stands for it.
std::string printable_message(std::string_view text, std::size_t most = 600);

/// Prints a message to stderr, made safe by printable_lines(). A failure to write is ignored.
void print_to_stderr(std::string_view message);
/// Formats a message with these arguments and prints it to stderr, made safe for a terminal by printable_lines(). A
/// failure to write is ignored.
template <class First, class... Rest>
void print_to_stderr(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {
  print_to_stderr(std::string_view(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)));
}

}  // namespace lehr
