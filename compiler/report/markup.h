// HTML that is well-formed by construction, as XML too: text is escaped where it enters, and every element is closed.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lehr::report {

class Markup {
 public:
  Markup() = default;
  /// What is markup already: formulas, style sheets.
  static Markup made(std::string html);

  const std::string& html() const { return html_; }
  bool empty() const { return html_.empty(); }
  Markup& operator+=(const Markup& other);
  friend Markup operator+(Markup a, const Markup& b) { return a += b; }

 private:
  std::string html_;
};

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Text of users' files: control characters and bytes that are not UTF-8 stand as escapes.
Markup text(std::string_view s);
/// An attribute without a value is left out.
Markup element(std::string_view tag, const Attributes& attributes, const Markup& inside = {});
Markup element(std::string_view tag, const Markup& inside = {});
/// The same around text.
Markup words(std::string_view tag, std::string_view inside, const Attributes& attributes = {});

/// A number as it is: the shortest text that reads as the same bits.
std::string exact(double x);
std::string exact(const std::vector<double>& all);
/// A number for people.
std::string brief(double x);
/// The class of the k-th colour.
std::string colour(std::size_t k);

}  // namespace lehr::report
