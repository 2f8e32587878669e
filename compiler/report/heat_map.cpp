// Matrices in colours. Small ones are tables of shaded numbers, larger ones SVG tiles with names only in the caption.
// The opacity of a cell is its absolute value relative to the largest, or to 1 for probabilities.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/posterior/element_names.h"
#include "compiler/report/page.h"
#include "compiler/report/plots.h"

namespace lehr::report {
namespace {

// The most columns and cells of a table; larger matrices become tiles.
constexpr std::size_t kTableColumns = 12, kTableCells = 240;
constexpr double kMaxOpacity = 0.85;       // opacity of the largest value in a table
constexpr double kLightTextAbove = 0.62;   // cells with larger relative values have light text
constexpr double kHeight = 22;             // greatest height of tiles, in units of the font size
constexpr double kInvisibleBelow = 0.004;  // tiles with smaller relative values are not drawn

/// Returns the largest absolute value that is finite; 1 if there is none above 0.
double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values)
    if (std::isfinite(x)) out = std::max(out, std::abs(x));
  return out > 0 ? out : 1;
}

/// Returns how dark a number is, from 0 to 1; 0 if it is NaN. `most` is the number of weight 1.
double weight(double x, double most) { return std::isnan(x) ? 0 : std::min(1.0, std::abs(x) / most); }

/// Returns the matrix as a table of shaded numbers.
Markup table(const Heat& h) {
  const double most = h.probabilities ? 1 : largest(h.values);
  const std::size_t columns = h.columns.size();
  Markup head = element("th"), body;
  for (const std::string& c : h.columns)
    head += text_element("th", c);
  for (std::size_t r = 0; r < h.rows.size(); ++r) {
    Markup cells = text_element("th", h.rows[r]);
    for (std::size_t c = 0; c < columns; ++c) {
      const double x = h.values[r * columns + c], v = weight(x, most);
      const std::string style = std::string(x < 0 ? "minus" : "") + (v > kLightTextAbove ? " deep" : "");
      const std::string sd = h.sd.empty() ? "" : exact_text(h.sd[r * columns + c]);
      const Markup shade = element("i", {{"style", fmt::format("opacity:{:.3f}", kMaxOpacity * v)}});
      cells += element("td",
                       {{"class", style},
                        {"data-mean", exact_text(x)},
                        {"data-sd", sd},
                        {"title", sd.empty() ? "" : "sd " + rounded_text(h.sd[r * columns + c])}},
                       shade + text(h.probabilities ? fmt::format("{:.3f}", x) : fmt::format("{:.3g}", x)));
    }
    body += element("tr", cells);
  }
  const Markup caption = h.title.empty() ? Markup() : text_element("caption", h.title);
  return element(
      "div", {{"class", "wide"}},
      element("table", {{"class", "heat"}}, caption + element("thead", element("tr", head)) + element("tbody", body)));
}

/// Returns the transpose without standard deviations. Tall matrices are shown so, since pages have more room across.
Heat transposed(const Heat& h) {
  Heat out{h.title, h.columns, h.rows, {}, {}, h.probabilities};
  for (std::size_t c = 0; c < h.columns.size(); ++c)
    for (std::size_t r = 0; r < h.rows.size(); ++r)
      out.values.push_back(h.values[r * h.columns.size() + c]);
  return out;
}

/// Returns "first to last", where there are too many names for labels.
std::string ends(const std::vector<std::string>& names) {
  return names.size() < 2 ? "" : fmt::format("{} to {}", names.front(), names.back());
}

}  // namespace

Markup tiles(const std::vector<double>& values, std::size_t columns, bool probabilities,
             const std::string& description) {
  const double most = probabilities ? 1 : largest(values);
  const std::size_t rows = (values.size() + columns - 1) / columns;
  Markup drawn;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double v = weight(values[k], most);
    if (!(v >= kInvisibleBelow)) continue;
    drawn += element("rect", {{"x", fmt::format("{}", k % columns)},
                              {"y", fmt::format("{}", k / columns)},
                              {"width", "1"},
                              {"height", "1"},
                              {"class", values[k] < 0 ? "m" : ""},
                              {"fill-opacity", fmt::format("{:.3f}", v)}});
  }
  return element("svg",
                 {{"class", "tiles"},
                  {"style", fmt::format("width:min(100%,{:.3f}rem)",
                                        kHeight * static_cast<double>(columns) / static_cast<double>(rows))},
                  {"viewBox", fmt::format("0 0 {} {}", columns, rows)},
                  {"role", "img"},
                  {"aria-label", description},
                  {"data-mean", exact_text(values)}},
                 drawn);
}

Markup heat_map(const Heat& h) {
  if (h.columns.size() <= kTableColumns && h.values.size() <= kTableCells) return table(h);
  if (h.rows.size() > 2 * h.columns.size()) return heat_map(transposed(h));
  const std::string caption =
      fmt::format("Rows: {}; columns: {}. Largest {}.", ends(h.rows), ends(h.columns), rounded_text(largest(h.values)));
  return (h.title.empty() ? Markup() : text_element("h4", h.title)) +
         figure(tiles(h.values, h.columns.size(), h.probabilities, h.title), caption);
}

Markup heat_maps(const SavedFit& fit, const PosteriorSummary& n, std::size_t most) {
  const auto rank = n.shape.size();
  const auto rows = static_cast<std::size_t>(n.shape[rank - 2]), columns = n.last_extent(), cells = rows * columns;
  const ShownElements outer = shown_elements(fit, n, 2);
  PosteriorSummary names = n;  // stands for one heat map, to name and order its rows
  names.axes = {n.axes[rank - 2], n.axes[rank - 1]};
  names.shape = {n.shape[rank - 2], n.shape[rank - 1]};
  names.total.clear();
  const bool square = n.axes[rank - 2] == n.axes[rank - 1];
  ShownElements inner = shown_elements(fit, names, 1);
  if (square || rank > 2) {  // in their own order, and all of them
    inner.order.resize(rows);
    std::iota(inner.order.begin(), inner.order.end(), std::size_t{0});
  }
  Markup out;
  const std::size_t shown = std::min({most, outer.order.size(), std::max<std::size_t>(1, 4 * kMostTiles / cells)});
  for (std::size_t k = 0; k < shown; ++k) {
    const std::size_t at = outer.order[k];
    Heat h{rank > 2 ? outer.names[at] : "", {}, {}, {}, {}, n.is_simplex()};
    for (std::size_t c = 0; c < columns; ++c)
      h.columns.push_back(lehr::element(fit, n.axes.back(), c));
    for (const std::size_t r : inner.order) {
      h.rows.push_back(square ? h.columns[r] : inner.names[r]);
      const auto copy = [&](const std::vector<double>& from, std::vector<double>& to) {
        const auto first = from.begin() + static_cast<std::ptrdiff_t>(at * cells + r * columns);
        if (!from.empty()) to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(columns));
      };
      copy(n.mean, h.values);
      copy(n.sd, h.sd);
    }
    out += heat_map(h);
  }
  if (rank > 2) out = inline_tables(out);
  std::string note = shown < outer.order.size() ? fmt::format("{} of {}.", shown, outer.order.size()) : "";
  note += outer.omission_note() + (square || rank > 2 ? "" : inner.omission_note());
  if (!note.empty()) out += text_element("p", note, {{"class", "quiet"}});
  return out;
}

}  // namespace lehr::report
