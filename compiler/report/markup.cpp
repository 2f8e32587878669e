// Escaping of text and construction of elements. Everything from users' files passes through
// `escaped(printable_lines(...))`, so it can neither form tags nor contain control characters.
#include "compiler/report/markup.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/terminal/printable.h"

namespace lehr::report {
namespace {

// Number of colours in the style sheet.
constexpr std::size_t kColours = 8;

/// Returns the text with the four special characters of HTML replaced by entities.
std::string escaped(std::string_view s) {
  std::string out;
  for (const char c : s) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

Markup Markup::from_html(std::string html) {
  Markup out;
  out.html_ = std::move(html);
  return out;
}

Markup& Markup::operator+=(const Markup& other) {
  html_ += other.html_;
  return *this;
}

Markup text(std::string_view s) { return Markup::from_html(escaped(printable_lines(s))); }

Markup element(std::string_view tag, const Attributes& attributes, const Markup& inside) {
  std::string out = fmt::format("<{}", tag);
  for (const auto& [name, value] : attributes)
    if (!value.empty()) out += fmt::format(" {}=\"{}\"", name, escaped(printable_lines(value)));
  return Markup::from_html(out + ">" + inside.html() + fmt::format("</{}>", tag));
}

Markup element(std::string_view tag, const Markup& inside) { return element(tag, {}, inside); }

Markup text_element(std::string_view tag, std::string_view inside, const Attributes& attributes) {
  return element(tag, attributes, text(inside));
}

std::string exact_text(double x) { return fmt::format("{}", x); }

std::string exact_text(const std::vector<double>& all) { return fmt::format("{}", fmt::join(all, " ")); }

std::string rounded_text(double x) { return std::isnan(x) ? "" : fmt::format("{:.4g}", x == 0 ? 0.0 : x); }

std::string colour(std::size_t k) { return fmt::format("k{}", k % kColours); }

}  // namespace lehr::report
