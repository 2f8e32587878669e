// What the writers of tables share.
#pragma once
#include <string>

namespace lehr {

/// A field of a CSV table, in quotes where it needs them (RFC 4180).
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text)
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace lehr
