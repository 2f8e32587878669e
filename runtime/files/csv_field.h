// Quoting of text fields in CSV tables, for all code that writes them. Text that a spreadsheet would evaluate as a
// formula is marked as text.
#pragma once
#include <charconv>
#include <string>
#include <system_error>

namespace lehr {

/// Returns true if a spreadsheet that opens a CSV table would evaluate the text: it begins with =, +, -, @, a tab or a
/// carriage return, and is not a number.
inline bool is_formula(const std::string& text) {
  if (text.find_first_of("=+-@\t\r") != 0) return false;
  const char* const begin = text.data() + (text[0] == '+' ? 1 : 0);
  double number = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  return error != std::errc() || end != text.data() + text.size();
}

/// Formats text as one field of a CSV table (RFC 4180), in quotes if it contains commas, quotes or line breaks. A
/// formula gets an apostrophe in front, which spreadsheets read as a mark of text.
inline std::string csv_field(const std::string& given) {
  const std::string text = is_formula(given) ? "'" + given : given;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text)
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace lehr
