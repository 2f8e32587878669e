// Checks UTF-8 by the table of the Unicode standard (3-7): no overlong forms, no surrogates, nothing above
// 10FFFF.
#include "compiler/support/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace lehr {
namespace {

std::uint32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  std::uint32_t out = byte(0) & (0xFFu >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i)
    out = out << 6 | (byte(i) & 0x3Fu);
  return out;
}

/// C0 and C1 controls, line separators, and the embeddings, overrides and isolates of bidirectional text.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

Glyph glyph(std::string_view text, std::size_t at) {
  const std::size_t length = sequence_length(text.substr(at));
  if (length == 0) {
    return {at, at + 1, fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at])), 4};
  }
  const std::string_view sequence = text.substr(at, length);
  const std::uint32_t c = code_point(sequence);
  if (c == '\t' || !is_control(c)) return {at, at + length, std::string(sequence), 1};
  std::string escape = c < 0x80 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{:04x}", c);
  const std::size_t columns = escape.size();
  return {at, at + length, std::move(escape), columns};
}

}  // namespace

std::size_t sequence_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const auto in = [&](std::size_t i, unsigned low, unsigned high) {
    return i < s.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return in(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
    return in(1, low, high) && in(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
    return in(1, low, high) && in(2, 0x80, 0xBF) && in(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

std::vector<Glyph> glyphs(std::string_view text) {
  std::vector<Glyph> out;
  for (std::size_t at = 0; at < text.size(); at = out.back().end)
    out.push_back(glyph(text, at));
  return out;
}

std::string printable(std::string_view text, std::size_t most) {
  // No character has more than four bytes, so that the ends of a long text are enough.
  const std::size_t tail = most / 3, head = most - tail - 5;
  std::string front;
  std::size_t columns = 0, cut = 0, at = 0;
  while (at < text.size()) {
    const Glyph g = glyph(text, at);
    if (columns + g.columns > most) break;
    columns += g.columns;
    if (columns <= head) cut = front.size() + g.shown.size();
    front += g.shown;
    at = g.end;
  }
  if (at >= text.size()) return front;
  std::size_t from = text.size() - std::min(text.size(), 4 * tail);
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80)
    ++from;
  const std::vector<Glyph> last = glyphs(text.substr(from));
  std::size_t k = last.size();
  for (columns = 0; k > 0 && columns + last[k - 1].columns <= tail; --k)
    columns += last[k - 1].columns;
  std::string out = front.substr(0, cut) + " ... ";
  for (; k < last.size(); ++k)
    out += last[k].shown;
  return out;
}

}  // namespace lehr
