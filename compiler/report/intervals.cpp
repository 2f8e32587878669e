// Interval plots as a table: a name, an SVG strip with bar and dot, and the numbers. All strips share one axis at the
// bottom.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/posterior/element_names.h"
#include "compiler/posterior/rounded_mean.h"
#include "compiler/report/page.h"
#include "compiler/report/plots.h"
#include "compiler/report/scale.h"

namespace lehr::report {
namespace {

constexpr double kLargeRatio = 300;   // positive numbers with a larger ratio get a logarithmic axis
constexpr std::size_t kTicks = 4;     // about as many tick labels
constexpr std::size_t kLongTick = 5;  // if a label has more characters, every second one is hidden on narrow screens

/// The common axis of all rows: linear, or logarithmic to base 10.
class Axis {
 public:
  Axis(const std::vector<Interval>& entries, bool may_be_logarithmic) {
    std::vector<double> all;
    for (const Interval& r : entries) {
      for (const double x : {r.mean, r.low, r.high})
        if (std::isfinite(x)) all.push_back(x);
    }
    if (all.empty()) return;
    const auto [low, high] = std::ranges::minmax(all);
    log_ = may_be_logarithmic && low > 0 && high / low > kLargeRatio;
    if (log_) std::ranges::transform(all, all.begin(), [](double x) { return std::log10(x); });
    scale_ = padded_range(all);
  }

  /// Returns the position of a number as a percentage of the width.
  double percent(double x) const { return 100 * scale_.position(log_ ? std::log10(x) : x); }
  /// Returns true if 0 is inside a linear axis, where a line is drawn.
  bool has_zero() const { return !log_ && scale_.low < 0 && scale_.high > 0; }

  Markup markup() const {
    const std::vector<double> at = ticks(scale_, kTicks);
    std::vector<std::string> texts = tick_texts(at);
    Markup all;
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (log_) texts[k] = fmt::format("{:.3g}", std::pow(10, at[k]));
      all += text_element("span", texts[k], {{"style", fmt::format("left:{:.2f}%", 100 * scale_.position(at[k]))}});
    }
    const bool is_long = std::ranges::any_of(texts, [](const std::string& t) { return t.size() > kLongTick; });
    return element("div", {{"class", is_long ? "axis long" : "axis"}}, all);
  }

 private:
  Scale scale_;
  bool log_ = false;
};

/// Returns the SVG of a row: the line at 0, the bar of the interval, the dot of the mean.
Markup strip(const Interval& r, const Axis& axis) {
  Markup drawn;
  const auto path = [&](const char* style, const std::string& d) {
    drawn += element("path", {{"class", style}, {"d", d}});
  };
  if (axis.has_zero()) path("zero", fmt::format("M{:.2f} 0V20", axis.percent(0)));
  if (std::isfinite(r.low) && std::isfinite(r.high))
    path("whisker", fmt::format("M{:.2f} 10H{:.2f}", axis.percent(r.low), axis.percent(r.high)));
  if (std::isfinite(r.mean)) path("mean", fmt::format("M{:.2f} 10h0", axis.percent(r.mean)));
  return element("svg", {{"viewBox", "0 0 100 20"}, {"preserveAspectRatio", "none"}, {"aria-hidden", "true"}}, drawn);
}

/// Returns a row of the table; exact numbers are in its data-* attributes.
Markup row(const Interval& r, const Axis& axis) {
  if (r.group) return element("tr", {{"class", "group"}}, text_element("th", r.name, {{"colspan", "3"}}));
  Markup is = text(r.shown_text.empty() ? (std::isnan(r.mean) ? "" : rounded_mean(r.mean, r.sd, 4)) : r.shown_text);
  if (std::isfinite(r.low) && std::isfinite(r.high))
    is += text_element("small", fmt::format(" [{}, {}]", rounded_mean(r.low, r.sd, 3), rounded_mean(r.high, r.sd, 3)));
  else if (std::isfinite(r.sd)) is += text_element("small", fmt::format(" (sd {:.3g})", r.sd));
  const auto raw = [](double x) { return std::isnan(x) ? "" : exact_text(x); };
  return element("tr",
                 {{"class", r.style},
                  {"data-mean", raw(r.mean)},
                  {"data-sd", raw(r.sd)},
                  {"data-low", raw(r.low)},
                  {"data-high", raw(r.high)}},
                 text_element("th", r.name) + element("td", strip(r, axis)) + element("td", {{"class", "is"}}, is));
}

/// Returns the k-th number, or NaN if there are none.
double value(const std::vector<double>& of, std::size_t k) { return of.empty() ? kNone : of[k]; }

}  // namespace

Markup intervals(const std::vector<Interval>& entries, const std::string& caption, bool may_be_logarithmic) {
  const Axis axis(entries, may_be_logarithmic);
  Markup body;
  for (const Interval& r : entries)
    body += row(r, axis);
  body += element("tr", element("td") + element("td", axis.markup()) + element("td"));
  return figure(element("table", {{"class", "intervals"}}, element("tbody", body)), caption);
}

Markup intervals(const SavedFit& fit, const PosteriorSummary& n, std::size_t most) {
  const bool grouped = n.shape.size() > 1;
  const ShownElements elements = shown_elements(fit, n, grouped ? 1 : 0);
  const std::size_t width = grouped ? n.last_extent() : 1;
  std::vector<Interval> out;
  std::size_t shown = 0;
  for (const std::size_t at : elements.order) {
    if (shown + width > most && shown > 0) break;
    if (grouped) out.push_back({elements.names[at], kNone, kNone, kNone, kNone, "", true});
    for (std::size_t k = at * width; k < (at + 1) * width && shown < most; ++k, ++shown) {
      out.push_back({grouped ? lehr::element(fit, n.axes.back(), k % width) : elements.names[at], n.mean[k],
                     value(n.sd, k), value(n.low, k), value(n.high, k), "", false});
    }
  }
  std::string caption = n.low.empty() ? "Posterior means." : "Posterior means with central 90 % intervals.";
  if (n.low.empty() && !n.sd.empty()) caption = "Posterior means (standard deviations).";
  if (const std::size_t main_components = n.size() - elements.omitted * width; shown < main_components)
    caption += fmt::format(" {} of {} numbers.", shown, main_components);
  return intervals(out, caption + elements.omission_note(), n.support == math::Support::positive);
}

}  // namespace lehr::report
