// Decodes NumPy's text: UTF-32 to UTF-8, or bytes as they are.
#include "runtime/files/npy_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr {
namespace {

constexpr std::size_t kWide = 4, kLongest = 1 << 20;  // bytes of a wide character; most characters of an element

/// Appends a code point in UTF-8. Values that are not Unicode give invalid UTF-8, which is detected later.
void append(std::string& out, std::uint32_t c) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  const auto rest = [&](unsigned shift) { byte(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      byte(0xE0 | c >> 12);
    } else {
      byte(0xF0 | std::min(c >> 18, 0xFU));
      rest(12);
    }
    rest(6);
  }
  rest(0);
}

/// Returns the text of one element without its padding of zeros.
std::string decode(std::string_view element, const TextType& type) {
  std::string out;
  if (!type.wide) {
    out = element;
  } else {
    for (std::size_t at = 0; at < element.size(); at += kWide) {
      std::array<char, kWide> bytes;
      std::copy_n(element.data() + at, kWide, bytes.begin());
      if (type.swapped) std::reverse(bytes.begin(), bytes.end());
      append(out, std::bit_cast<std::uint32_t>(bytes));
    }
  }
  out.resize(out.find_last_not_of('\0') + 1);
  return out;
}

}  // namespace

std::optional<TextType> text_type(std::string_view dtype, bool swapped) {
  if (!dtype.starts_with('U') && !dtype.starts_with('S')) return std::nullopt;
  TextType out{dtype[0] == 'U', 0, swapped};
  const char* const stop = dtype.data() + dtype.size();
  const auto [end, failure] = std::from_chars(dtype.data() + 1, stop, out.size);
  if (failure != std::errc() || end != stop || out.size == 0 || out.size > kLongest) return std::nullopt;
  if (out.wide) out.size *= kWide;
  return out;
}

Result<DataArray> text_data(std::string_view bytes, const TextType& type, const std::string& path) {
  std::vector<std::optional<std::string>> texts;
  for (; !bytes.empty(); bytes.remove_prefix(type.size)) {
    std::string text = decode(bytes.substr(0, type.size), type);
    if (find_invalid_utf8(text))
      return data_error(path, fmt::format("element {} is not {}", texts.size(), type.wide ? "Unicode" : "UTF-8"),
                        {"text of other encodings: `numpy.char.decode(array, \"latin-1\")`"});
    texts.push_back(is_missing(text) ? std::nullopt : std::optional(std::move(text)));
  }
  DataArray out;
  out.source = path;
  set_levels(out, texts);
  set_flags(out);
  return out;
}

}  // namespace lehr
