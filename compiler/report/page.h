// One HTML file that needs nothing else: its style sheet is in it, and there is no script.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/report/markup.h"

namespace lehr::report {

struct Section {
  std::string id, title;
  Markup body;
};

/// `head`: what stands above the sections and the list of them. Sections without a body are left out.
std::string page(std::string_view title, const Markup& head, const std::vector<Section>& sections);

/// A picture or a table with what is said of it.
Markup figure(const Markup& body, std::string_view caption);
/// Pictures beside each other as far as there is room.
Markup beside(const Markup& figures);
/// The same of what is as wide as it must be.
Markup in_a_row(const Markup& tables);
/// Of pairs of a name and what it is.
Markup facts(const std::vector<std::pair<std::string, Markup>>& rows);
/// A table of words and numbers: numbers stand on the right.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<Markup>> rows;
};
Markup markup(const Table& table);
/// A cell with a number for people and the number itself.
Markup number(double x);

}  // namespace lehr::report
