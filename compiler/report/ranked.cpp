// Ranked lists: the most probable elements of each simplex with bars relative to the first.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/posterior/element_names.h"
#include "compiler/report/page.h"
#include "compiler/report/plots.h"

namespace lehr::report {
namespace {

/// Returns a bar of this fraction of the width.
Markup bar(double fraction) { return element("i", {{"style", fmt::format("width:{:.1f}%", 100 * fraction)}}); }

}  // namespace

Markup ranked(const SavedFit& fit, const PosteriorSummary& n, std::size_t top, std::size_t most) {
  const std::size_t width = n.last_extent();
  const ShownElements elements = shown_elements(fit, n, 1);
  Markup lists;
  const std::size_t shown = std::min(elements.order.size(), most);
  for (std::size_t r = 0; r < shown; ++r) {
    const double* p = &n.mean[elements.order[r] * width];
    std::vector<std::size_t> by_size(width);
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    by_size.resize(std::min(top, width));
    std::vector<std::size_t> all(width);
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::ranges::partial_sort_copy(all, by_size,
                                   [&](std::size_t a, std::size_t b) { return p[a] != p[b] ? p[a] > p[b] : a < b; });
    Markup items;
    for (const std::size_t k : by_size)
      items += element("li", bar(p[by_size[0]] > 0 ? p[k] / p[by_size[0]] : 0) +
                                 text_element("span", lehr::element(fit, n.axes.back(), k)) + number(p[k]));
    lists += element(
        "figure", text_element("h4", elements.names[elements.order[r]]) + element("ol", {{"class", "ranked"}}, items));
  }
  std::string caption = fmt::format("The {} most probable of {}", std::min(top, width), width);
  if (shown < elements.order.size())
    caption += fmt::format("; {} of {} distributions, the heaviest first", shown, elements.order.size());
  return text_element("p", caption + ". Bars are relative to the first of each list." + elements.omission_note(),
                      {{"class", "quiet"}}) +
         beside(lists);
}

}  // namespace lehr::report
