// A picture with axes that fills its place at any width without a script: lines, areas and dots in a box that is
// stretched (strokes keep their width), words beside it and in it as HTML of its own size.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/report/markup.h"
#include "compiler/report/scale.h"

namespace lehr::report {

using Points = std::vector<std::pair<double, double>>;

struct PlotText {
  std::string description;  // what is to be seen, for those who do not see it
  std::string x, y;         // titles of the axes
  bool tall = false;
};

class Plot {
 public:
  Plot(Scale x, Scale y) : x_(x), y_(y) {}

  const Scale& x() const { return x_; }
  const Scale& y() const { return y_; }

  /// `style`: classes; `data`: further attributes, the numbers themselves.
  void line(const Points& points, const std::string& style, const Attributes& data = {});
  /// Closed.
  void area(const Points& outline, const std::string& style, const Attributes& data = {});
  void dots(const Points& points, const std::string& style);
  /// Words in the middle of a place.
  void words(double x, double y, const std::string& words, const std::string& style);

  Markup markup(const PlotText& text) const;

 private:
  std::string place(double x, double y) const;
  Markup axis(const Scale& scale, std::size_t most, bool vertical) const;
  Markup grid() const;

  Scale x_, y_;
  Markup drawn_, words_;
};

}  // namespace lehr::report
