// HTML that is well-formed by construction, also as XML: texts are escaped when they become markup, and every element
// that is opened is closed. All markup of a report is built with these functions.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lehr::report {

/// A piece of the HTML of a report: any number of complete elements and escaped texts.
class Markup {
 public:
  /// Makes empty markup.
  Markup() = default;
  /// Makes markup of text that is HTML already, without escaping it: formulas and style sheets. Not for texts from
  /// users' files.
  static Markup from_html(std::string html);

  /// Returns the HTML text. It belongs to this object.
  const std::string& html() const { return html_; }
  /// Returns true if there is no HTML text.
  bool empty() const { return html_.empty(); }
  /// Appends `other`.
  Markup& operator+=(const Markup& other);
  /// Returns `a` followed by `b`.
  friend Markup operator+(Markup a, const Markup& b) { return a += b; }

 private:
  std::string html_;  // the HTML text
};

/// Attributes of an HTML element: pairs of a name and a value that is not escaped yet.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Returns a plain text as markup. HTML characters are escaped; control characters and bytes that are not UTF-8 are
/// shown as escapes like \x1b, so that texts from users' files are safe.
Markup text(std::string_view s);
/// Returns the HTML element `tag` with these attributes around `inside`. Attributes with an empty value are left out.
Markup element(std::string_view tag, const Attributes& attributes, const Markup& inside = {});
/// Returns the HTML element `tag` without attributes around `inside`.
Markup element(std::string_view tag, const Markup& inside = {});
/// Returns the HTML element `tag` with these attributes around a plain text, which is escaped.
Markup text_element(std::string_view tag, std::string_view inside, const Attributes& attributes = {});

/// Returns the shortest text from which a parser reads the same double, for attributes that programs read.
std::string exact_text(double x);
/// Returns all numbers separated by blanks, each as the shortest text from which a parser reads the same double.
std::string exact_text(const std::vector<double>& all);
/// Returns a number with four significant digits for people to read; empty for NaN.
std::string rounded_text(double x);
/// Returns the CSS class of the k-th colour of the plots ("k0", "k1", ...); colours repeat after eight.
std::string colour(std::size_t k);

}  // namespace lehr::report
