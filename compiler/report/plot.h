// A plot with axes as HTML and SVG without a script. Lines, areas and dots are drawn in an SVG box that stretches with
// the page while strokes keep their width. Tick labels and words are HTML at percentage positions, so that they are not
// stretched.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/report/markup.h"
#include "compiler/report/scale.h"

namespace lehr::report {

/// Points (x, y) of a line, an outline or dots, in the units of the axes.
using Points = std::vector<std::pair<double, double>>;

/// The number of bars of a histogram in a report.
inline constexpr std::size_t kBars = 40;

/// What a plot needs besides its content: the titles of its axes, a description for screen readers, and its height.
struct PlotText {
  std::string description;  // what the plot shows, for screen readers
  std::string x, y;         // titles of the axes
  bool tall = false;        // true: the plot is higher than usual
};

/// A plot of a report with two axes, under construction. Content is added in the order in which it is painted; `markup`
/// returns the result.
class Plot {
 public:
  /// Makes an empty plot whose axes have these ranges.
  Plot(Scale x, Scale y) : x_(x), y_(y) {}

  /// Returns the range of the horizontal axis.
  const Scale& x() const { return x_; }
  /// Returns the range of the vertical axis.
  const Scale& y() const { return y_; }

  /// Adds a line through the points. `style` has CSS classes; `data` are further attributes, such as data-value with
  /// the exact numbers.
  void line(const Points& points, const std::string& style, const Attributes& data = {});
  /// Adds a filled area, such as a band between two curves or a bar. The outline is closed by a line from its last
  /// point to the first. `style` has CSS classes; `data` are further attributes, such as data-mean with the exact
  /// numbers.
  void area(const Points& outline, const std::string& style, const Attributes& data = {});
  /// Adds a dot at each point. `style` has CSS classes.
  void dots(const Points& points, const std::string& style);
  /// Adds the text `words`, centred at the point (x, y) in the units of the axes. `style` has CSS classes.
  void label(double x, double y, const std::string& words, const std::string& style);

  /// Returns the finished plot as HTML, with a grid, tick labels and the texts.
  Markup markup(const PlotText& text) const;

 private:
  /// Returns the point, in units of the axes, as coordinates in the SVG box: a pair of numbers as text. Points far
  /// outside are moved closer.
  std::string coordinates(double x, double y) const;
  /// Returns the tick labels of an axis, about `most` of them.
  Markup axis(const Scale& scale, std::size_t most, bool vertical) const;
  /// Returns the grid lines at the ticks of both axes, as an SVG element.
  Markup grid() const;

  Scale x_, y_;           // ranges of the axes
  Markup drawn_, words_;  // lines, areas and dots as SVG elements; texts above them as HTML
};

}  // namespace lehr::report
