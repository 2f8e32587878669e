// Checks UTF-8 by the table of the Unicode standard (3-7): no overlong forms, no surrogates, nothing above
// 10FFFF.
#include "compiler/ast/text.h"

#include <string_view>

namespace lehr {
namespace {

constexpr std::size_t kMaxBytes = 4u << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The length of the well-formed sequence at the front of `s`, 0 when there is none.
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

}  // namespace

std::optional<Text> decode(const Source& source, Diagnostics& diagnostics) {
  const std::string_view bytes = source.text;
  if (bytes.size() > kMaxBytes) {
    diagnostics.add(
        DiagnosticKind::not_text, Span{0, 0},
        fmt::format("this file has {} bytes; a model file has at most {}", bytes.size(), kMaxBytes));
    return std::nullopt;
  }
  Text text;
  std::size_t i = 0;
  while (bytes.substr(i).starts_with(kByteOrderMark)) i += kByteOrderMark.size();
  text.utf8 = bytes.substr(i);
  text.byte_offset.reserve(text.utf8.size() + 1);
  while (i < bytes.size()) {
    const std::size_t length = bytes[i] == '\0' ? 0 : sequence_length(bytes.substr(i));
    const auto offset = static_cast<std::uint32_t>(i);
    if (length == 0) {
      const unsigned byte = static_cast<unsigned char>(bytes[i]);
      diagnostics.add(
          DiagnosticKind::not_text, Span{offset, offset + 1},
          fmt::format("the byte 0x{:02X} does not belong in a text; a model file is UTF-8", byte));
      return std::nullopt;
    }
    text.byte_offset.push_back(offset);
    i += length;
  }
  text.byte_offset.push_back(static_cast<std::uint32_t>(i));
  return text;
}

}  // namespace lehr
