// Escapes text for terminals, character by character.
#include "runtime/terminal/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace lehr {
namespace {

/// Returns the code point of a well-formed UTF-8 character.
std::uint32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  std::uint32_t out = lead & (0x7Fu >> character.size());
  for (const char c : character.substr(1))
    out = out << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return out;
}

/// Returns true for control characters (C0, C1), line separators, byte order marks, and characters that change the
/// direction of the text around them.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || (c >= 0x200E && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

/// Returns the character at offset `at` as printed; controls that occur in `verbatim` are printed as themselves.
PrintedCharacter glyph(std::string_view text, std::size_t at, std::string_view verbatim) {
  const std::size_t length = utf8_length(text.substr(at));
  if (length == 0) return {at, at + 1, fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at])), 4};
  const std::string_view character = text.substr(at, length);
  const std::uint32_t c = code_point(character);
  if (!is_control(c) || verbatim.find(character) != verbatim.npos) return {at, at + length, std::string(character), 1};
  std::string escape = c < 0x80 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{:04x}", c);
  const std::size_t columns = escape.size();
  return {at, at + length, std::move(escape), columns};
}

/// Escapes a text except the controls in `verbatim`; "..." replaces what follows the first `most` characters.
std::string escaped(std::string_view text, std::string_view verbatim, std::size_t most) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    if (count == most) return out + "...";
    const PrintedCharacter g = glyph(text, at, verbatim);
    out += g.shown;
    at = g.end;
  }
  return out;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (text.empty()) return 0;
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;  // excludes overlong forms
  // Excludes surrogates, and code points beyond U+10FFFF.
  const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::vector<PrintedCharacter> printed_characters(std::string_view text) {
  std::vector<PrintedCharacter> out;
  for (std::size_t at = 0; at < text.size(); at = out.back().end)
    out.push_back(glyph(text, at, "\t"));
  return out;
}

std::string printable(std::string_view text, std::size_t most) { return escaped(text, "", most); }

std::string printable_lines(std::string_view text) { return escaped(text, "\n\t", text.npos); }

std::string printable_message(std::string_view text, std::size_t most) {
  // A character has at most four bytes, so the last 4 * tail bytes suffice for the tail.
  const std::size_t tail = most / 3, head = most - tail - 5;
  std::string front;
  std::size_t columns = 0, head_bytes = 0, at = 0;
  while (at < text.size()) {
    const PrintedCharacter g = glyph(text, at, "\t");
    if (columns + g.columns > most) break;
    columns += g.columns;
    if (columns <= head) head_bytes = front.size() + g.shown.size();
    front += g.shown;
    at = g.end;
  }
  if (at >= text.size()) return front;
  std::size_t from = text.size() - std::min(text.size(), 4 * tail);
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80)
    ++from;
  const std::vector<PrintedCharacter> last = printed_characters(text.substr(from));
  std::size_t k = last.size();
  for (columns = 0; k > 0 && columns + last[k - 1].columns <= tail; --k)
    columns += last[k - 1].columns;
  std::string out = front.substr(0, head_bytes) + " ... ";
  for (; k < last.size(); ++k)
    out += last[k].shown;
  return out;
}

void print_to_stderr(std::string_view message) {
  const std::string text = printable_lines(message);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace lehr
