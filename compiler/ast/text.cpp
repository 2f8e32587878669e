// Decodes a model file: skips byte order marks, checks every character and records its byte offset. The first wrong
// byte ends the decoding with a diagnostic.
#include "compiler/ast/text.h"

#include <string_view>

#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

/// The largest model file that is accepted, in bytes.
constexpr std::size_t kMaxBytes = 4u << 20;
/// U+FEFF in UTF-8, which some editors write first.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::optional<Text> decode(const Source& source, Diagnostics& diagnostics) {
  const std::string_view bytes = source.text;
  if (bytes.size() > kMaxBytes) {
    diagnostics.add(DiagnosticKind::not_text, Span{0, 0},
                    fmt::format("this file has {} bytes; a model file has at most {}", bytes.size(), kMaxBytes));
    return std::nullopt;
  }
  Text text;
  std::size_t i = 0;
  while (bytes.substr(i).starts_with(kByteOrderMark))
    i += kByteOrderMark.size();
  text.utf8 = bytes.substr(i);
  text.byte_offset.reserve(text.utf8.size() + 1);
  while (i < bytes.size()) {
    const std::size_t length = bytes[i] == '\0' ? 0 : utf8_length(bytes.substr(i));
    const auto offset = static_cast<std::uint32_t>(i);
    if (length == 0) {
      const unsigned byte = static_cast<unsigned char>(bytes[i]);
      diagnostics.add(DiagnosticKind::not_text, Span{offset, offset + 1},
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
