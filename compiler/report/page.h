// The frame of an HTML page and its repeated parts: figures, tables, lists of facts. A page is one file without scripts
// and network access; its style sheet is part of it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/report/markup.h"

namespace lehr::report {

/// A section of a page with a heading.
struct Section {
  std::string id, title;  // id: anchor to which links lead; title: heading
  Markup body;            // content; empty: the section is left out
};

/// Returns a complete HTML page. `title` is that of the browser's window; `head` stands at the top, above links to the
/// sections and the sections themselves.
std::string page(std::string_view title, const Markup& head, const std::vector<Section>& sections);

/// Returns `body`, a plot or a table, with a caption below it; an empty caption is left out.
Markup figure(const Markup& body, std::string_view caption);
/// Arranges figures in columns, as many side by side as fit on the page.
Markup beside(const Markup& figures);
/// Arranges tables side by side. They keep their natural widths, and wrap to new lines where the page ends.
Markup inline_tables(const Markup& tables);
/// Returns a list of facts, each a name with its value. Pairs with an empty value are left out.
Markup definition_list(const std::vector<std::pair<std::string, Markup>>& entries);
/// A table of a report. The first cell of each row is its heading.
struct Table {
  std::vector<std::string> head;          // headings of the columns; empty: no headings
  std::vector<std::vector<Markup>> rows;  // cells of each row
};
/// Returns the table as HTML, which the reader scrolls if it is wider than the page.
Markup markup(const Table& table);
/// Returns a number in four digits for people to read, with the exact value in a machine-readable attribute.
Markup number(double x);

}  // namespace lehr::report
