// The lexer of Loops, by regular rules: the longest token that the text begins with.
#include "compiler/loops/lex_loops.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>
#include <string_view>

namespace lehr::loops {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }

/// Returns the length of the name that the text begins with. A dot that is followed by another belongs to a range.
std::size_t name_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() &&
         (is_name_start(text[n]) || is_digit(text[n]) || (text[n] == '.' && !text.substr(n).starts_with(".."))))
    ++n;
  return n;
}

/// Returns the length of the number that the text begins with: digits, a fraction, an exponent, and `f32`.
std::size_t number_length(std::string_view text) {
  std::size_t n = 0;
  const auto digits = [&] {
    while (n < text.size() && is_digit(text[n]))
      ++n;
  };
  digits();
  if (n + 1 < text.size() && text[n] == '.' && is_digit(text[n + 1])) {
    ++n;
    digits();
  }
  if (n + 1 < text.size() && text[n] == 'e' && !is_name_start(text[n + 1])) {
    n += text[n + 1] == '+' || text[n + 1] == '-' ? 2U : 1U;
    digits();
  }
  if (text.substr(n).starts_with("f32")) n += 3;
  return n;
}

/// Returns the token that the text begins with, and removes it from the text; nothing if there is none.
std::optional<Token> next_token(std::string_view& text) {
  const auto take = [&](TokenKind kind, std::size_t length) {
    Token out{kind, std::string(text.substr(0, length))};
    text.remove_prefix(length);
    return out;
  };
  if (is_name_start(text[0])) return take(TokenKind::name, name_length(text));
  if (is_digit(text[0])) return take(TokenKind::number, number_length(text));
  if (text[0] == '\'') {
    const std::size_t end = text.find('\'', 1);
    if (end == std::string_view::npos) return std::nullopt;
    Token out{TokenKind::quoted_name, std::string(text.substr(1, end - 1))};
    text.remove_prefix(end + 1);
    return out;
  }
  constexpr std::array<std::string_view, 21> kSymbols = {"..", "+=", "==", "!=", "<=", "(", ")", "[", "]", ",", ";",
                                                         ":",  "=",  "<",  ">",  "+",  "-", "*", "/", "{", "}"};
  for (const std::string_view symbol : kSymbols)
    if (text.starts_with(symbol)) return take(TokenKind::symbol, symbol.size());
  return std::nullopt;
}

/// Cuts the text of one line, without its indentation, into tokens. Returns the character that begins none.
std::optional<char> cut(std::string_view text, Line& line) {
  if (text.starts_with("//")) {
    line.is_comment = true;
    line.comment = text.substr(text.starts_with("// ") ? 3 : 2);
    return std::nullopt;
  }
  while (!text.empty()) {
    if (text[0] == ' ') {
      text.remove_prefix(1);
      continue;
    }
    const char first = text[0];
    std::optional<Token> token = next_token(text);
    if (!token) return first;
    line.tokens.push_back(std::move(*token));
  }
  line.tokens.push_back({TokenKind::end, ""});
  return std::nullopt;
}

}  // namespace

Error error_at(const Source& source, std::size_t line, std::string text) {
  return {ExitCode::model, fmt::format("{}:{}", source.name, line), std::move(text), {}};
}

Result<std::vector<Line>> lex(const Source& source) {
  std::vector<Line> out;
  std::size_t number = 0;
  for (std::string_view rest = source.text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    const std::size_t spaces = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(spaces);
    if (text.empty()) continue;
    if (spaces == 0 && text.starts_with("//")) continue;  // about the file
    if (spaces % 2 != 0) return error_at(source, number, "the indentation is not a multiple of two spaces");
    Line line{.number = number, .depth = spaces / 2};
    if (const std::optional<char> wrong = cut(text, line))
      return error_at(source, number, fmt::format("'{}' begins no token", *wrong));
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace lehr::loops
