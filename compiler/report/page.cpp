// HTML of the page frame and of tables. The style sheet is compiled in (style.h, made from report.css).
#include "compiler/report/page.h"

#include "compiler/report/style.h"

namespace lehr::report {

std::string page(std::string_view title, const Markup& head, const std::vector<Section>& sections) {
  Markup list, body;
  for (const Section& s : sections) {
    if (s.body.empty()) continue;
    list += element("li", text_element("a", s.title, {{"href", "#" + s.id}}));
    body += element("section", {{"id", s.id}}, text_element("h2", s.title) + s.body);
  }
  const Markup meta = Markup::from_html(
      "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n");
  const Markup all = element(
      "html", {{"lang", "en"}},
      element("head", meta + text_element("title", title) + element("style", Markup::from_html(std::string(kStyle)))) +
          element("body", element("header", head + element("nav", element("ul", list))) + element("main", body)));
  return "<!DOCTYPE html>\n" + all.html() + "\n";
}

Markup figure(const Markup& body, std::string_view caption) {
  return element("figure", body + (caption.empty() ? Markup() : text_element("figcaption", caption)));
}

Markup beside(const Markup& figures) { return element("div", {{"class", "beside"}}, figures); }

Markup inline_tables(const Markup& tables) { return element("div", {{"class", "flow"}}, tables); }

Markup definition_list(const std::vector<std::pair<std::string, Markup>>& entries) {
  Markup out;
  for (const auto& [name, definition] : entries)
    if (!definition.empty()) out += element("div", text_element("dt", name) + element("dd", definition));
  return element("dl", {{"class", "facts"}}, out);
}

Markup markup(const Table& t) {
  Markup head, rows;
  for (const std::string& h : t.head)
    head += text_element("th", h);
  for (const std::vector<Markup>& row : t.rows) {
    Markup cells;
    for (const Markup& cell : row)
      cells += element(cells.empty() ? "th" : "td", cell);
    rows += element("tr", cells);
  }
  const Markup top = t.head.empty() ? Markup() : element("thead", element("tr", head));
  return element("div", {{"class", "wide"}}, element("table", {{"class", "table"}}, top + element("tbody", rows)));
}

Markup number(double x) { return text_element("data", rounded_text(x), {{"value", exact_text(x)}}); }

}  // namespace lehr::report
