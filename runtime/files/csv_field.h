// What the writers of tables share.
#pragma once
#include <charconv>
#include <string>
#include <system_error>

namespace lehr {

/// Whether a spreadsheet would work it out: what begins as a formula does, and is no number.
inline bool is_formula(const std::string& text) {
  if (text.find_first_of("=+-@\t\r") != 0) return false;
  const char* const begin = text.data() + (text[0] == '+' ? 1 : 0);
  double number = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  return error != std::errc() || end != text.data() + text.size();
}

/// A field of a CSV table, in quotes where it needs them (RFC 4180); text that begins as a formula has a `'` before it,
/// which spreadsheets take for a mark of text.
inline std::string csv_field(const std::string& given) {
  const std::string text = is_formula(given) ? "'" + given : given;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text)
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace lehr
