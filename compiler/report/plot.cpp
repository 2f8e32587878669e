// SVG paths of a plot. The view box is a fixed square that the browser stretches to the size of the plot.
#include "compiler/report/plot.h"

#include <algorithm>

#include <fmt/format.h>

namespace lehr::report {
namespace {

constexpr double kBox = 1000;  // side of the view box
// About as many ticks on each axis.
constexpr std::size_t kTicksAcross = 5, kTicksUp = 5;

/// Returns the position of `x` along an axis as a percentage, from the left or from the top.
double percent(const Scale& scale, double x, bool vertical) {
  const double at = 100 * scale.position(x);
  return vertical ? 100 - at : at;
}

/// Returns both lists of attributes, one after the other.
Attributes with(Attributes first, const Attributes& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

}  // namespace

std::string Plot::coordinates(double x, double y) const {
  // Points far outside are moved closer, so that coordinates stay short.
  const auto inside = [](double at) { return std::clamp(at, -10 * kBox, 10 * kBox); };
  return fmt::format("{:.1f} {:.1f}", inside(kBox * x_.position(x)), inside(kBox * (1 - y_.position(y))));
}

void Plot::line(const Points& points, const std::string& style, const Attributes& data) {
  std::string path;
  for (const auto& [x, y] : points)
    path += (path.empty() ? "M" : "L") + coordinates(x, y);
  drawn_ += element("path", with({{"class", "line " + style}, {"d", path}}, data));
}

void Plot::area(const Points& outline, const std::string& style, const Attributes& data) {
  std::string path;
  for (const auto& [x, y] : outline)
    path += (path.empty() ? "M" : "L") + coordinates(x, y);
  drawn_ += element("path", with({{"class", "area " + style}, {"d", path + "Z"}}, data));
}

void Plot::dots(const Points& points, const std::string& style) {
  std::string path;
  for (const auto& [x, y] : points)
    path += "M" + coordinates(x, y) + "h0";
  drawn_ += element("path", {{"class", "dots " + style}, {"d", path}});
}

void Plot::label(double x, double y, const std::string& words, const std::string& style) {
  const std::string at = fmt::format("left:{:.2f}%;top:{:.2f}%", percent(x_, x, false), percent(y_, y, true));
  words_ += report::text_element("span", words, {{"class", "in " + style}, {"style", at}});
}

Markup Plot::axis(const Scale& scale, std::size_t most, bool vertical) const {
  const std::vector<double> at = ticks(scale, most);
  const std::vector<std::string> texts = tick_texts(at);
  std::string longest;
  Markup out;
  for (std::size_t k = 0; k < at.size(); ++k) {
    const std::string style = fmt::format("{}:{:.2f}%", vertical ? "top" : "left", percent(scale, at[k], vertical));
    out += report::text_element("span", texts[k], {{"style", style}});
    if (texts[k].size() > longest.size()) longest = texts[k];
  }
  // An invisible copy of the longest label gives the column its width.
  return report::text_element("i", longest, {{"class", "size"}, {"aria-hidden", "true"}}) + out;
}

Markup Plot::grid() const {
  std::string path;
  for (const double x : ticks(x_, kTicksAcross))
    path += fmt::format("M{:.1f} 0V{}", kBox * x_.position(x), kBox);
  for (const double y : ticks(y_, kTicksUp))
    path += fmt::format("M0 {:.1f}H{}", kBox * (1 - y_.position(y)), kBox);
  return element("path", {{"class", "grid"}, {"d", path}});
}

Markup Plot::markup(const PlotText& text) const {
  const Markup box = element("svg",
                             {{"viewBox", fmt::format("0 0 {0} {0}", kBox)},
                              {"preserveAspectRatio", "none"},
                              {"role", "img"},
                              {"aria-label", text.description}},
                             grid() + drawn_);
  return element("div", {{"class", text.tall ? "plot tall" : "plot"}},
                 report::text_element("div", text.y, {{"class", "ytitle"}}) +
                     element("div", {{"class", "y"}}, axis(y_, kTicksUp, true)) +
                     element("div", {{"class", "box"}}, box + words_) +
                     element("div", {{"class", "x"}}, axis(x_, kTicksAcross, false)) +
                     report::text_element("div", text.x, {{"class", "xtitle"}}));
}

}  // namespace lehr::report
