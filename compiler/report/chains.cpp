// Plots of values along an ordered axis: stacked probabilities, bands with means, and the histogram. Long sequences are
// drawn as averages over neighbouring steps, so that a page stays small.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/posterior/element_names.h"
#include "compiler/report/page.h"
#include "compiler/report/plot.h"
#include "compiler/report/plots.h"

namespace lehr::report {
namespace {

constexpr std::size_t kMostSteps = 800;  // points drawn of a sequence; longer ones are averages of neighbours

/// The steps of one sequence among those of all.
struct Span {
  std::size_t begin = 0, end = 0;
  std::size_t length() const { return end - begin; }
  /// Returns how many neighbouring steps are averaged to one point of the plot.
  std::size_t steps_per_point() const { return (length() + kMostSteps - 1) / kMostSteps; }
};

/// Returns the sequences that these offsets describe, without empty ones. If the offsets do not cover all steps, it is
/// one sequence.
std::vector<Span> spans(const std::vector<std::int64_t>& offsets, std::size_t steps) {
  std::vector<Span> out;
  for (std::size_t k = 0; k + 1 < offsets.size(); ++k)
    out.push_back({static_cast<std::size_t>(offsets[k]), static_cast<std::size_t>(offsets[k + 1])});
  if (out.empty() || out.back().end != steps) out = {{0, steps}};
  std::erase_if(out, [](const Span& s) { return s.length() == 0; });
  return out;
}

/// Returns the points of a sequence: the values at `offset + step * stride`, averaged over steps_per_point() steps.
Points along(const std::vector<double>& values, const Span& s, std::size_t stride, std::size_t offset) {
  Points out;
  for (std::size_t t = s.begin; t < s.end; t += s.steps_per_point()) {
    const std::size_t end = std::min(s.end, t + s.steps_per_point());
    double sum = 0;
    for (std::size_t u = t; u < end; ++u)
      sum += values[u * stride + offset];
    out.emplace_back(static_cast<double>(t - s.begin), sum / static_cast<double>(end - t));
  }
  return out;
}

/// Returns the y coordinates.
std::vector<double> y_values(const Points& points) {
  std::vector<double> out;
  for (const auto& [x, y] : points)
    out.push_back(y);
  return out;
}

/// Returns the outline of a band: along the lower curve and back along the upper one.
Points outline(const Points& low, const Points& high) {
  Points out = low;
  out.insert(out.end(), high.rbegin(), high.rend());
  return out;
}

/// Returns the range of the horizontal axis of a sequence.
Scale steps_of(const Span& s) { return {0, std::max(1.0, static_cast<double>(s.length() - 1))}; }

/// Returns sentences on how many sequences are shown and how many steps a point averages; empty if nothing was left
/// out.
std::string shown_of(std::size_t shown, std::size_t all, const Span& s) {
  std::string out;
  if (shown < all) out += fmt::format(" {} of {} sequences are shown.", shown, all);
  if (s.steps_per_point() > 1) out += fmt::format(" Each place is the mean of {} steps.", s.steps_per_point());
  return out;
}

/// Returns the name of a sequence; empty if it is the only one.
std::string name_of(const SavedFit& fit, const Sequences& sequences, std::size_t k, std::size_t all) {
  return all == 1 ? "" : lehr::element(fit, sequences.plate, k);
}

}  // namespace

Markup state_ribbons(const SavedFit& fit, const PosteriorSummary& n, const Sequences& sequences, std::size_t most) {
  const std::size_t states = n.last_extent(), steps = n.size() / states;
  const std::vector<Span> all = spans(sequences.offsets, steps);
  const std::size_t shown = std::min(most, all.size());
  Markup key, figures;
  for (std::size_t k = 0; k < states; ++k)
    key += text_element("span", lehr::element(fit, n.axes.back(), k), {{"class", colour(k)}});
  for (std::size_t s = 0; s < shown; ++s) {
    Plot plot(steps_of(all[s]), {0, 1});
    Points below;
    for (std::size_t k = 0; k < states; ++k) {
      const Points own = along(n.mean, all[s], states, k);
      // Each state's area lies on the sum of the states before it.
      Points above = own;
      if (below.empty()) below = Points(own);
      for (std::size_t t = 0; t < own.size(); ++t) {
        if (k == 0) below[t].second = 0;
        above[t].second = below[t].second + own[t].second;
      }
      plot.area(outline(below, above), "full " + colour(k), {{"data-mean", exact_text(y_values(own))}});
      below = above;
    }
    const std::string name = name_of(fit, sequences, s, all.size());
    figures += figure(plot.markup({n.variable->name + " " + name, name, "probability"}), "");
  }
  return element("div", {{"class", "key"}}, key) + (shown > 1 ? beside(figures) : figures) +
         text_element("p", "Posterior probability of each state, step by step." + shown_of(shown, all.size(), all[0]),
                      {{"class", "quiet"}});
}

Markup ribbons(const SavedFit& fit, const PosteriorSummary& n, const Sequences& sequences,
               const std::vector<double>& observations, std::size_t most) {
  const std::size_t width = n.event > 0 ? n.last_extent() : 1, steps = n.size() / width;
  const std::vector<Span> all = spans(sequences.offsets, steps);
  const std::size_t shown = std::min(most, all.size());
  Markup figures, key;
  for (std::size_t k = 0; k < width && width > 1; ++k)
    key += text_element("span", lehr::element(fit, n.axes.back(), k), {{"class", colour(k)}});
  const bool banded = !n.low.empty(), with_data = width == 1 && observations.size() == n.size();
  std::vector<double> extremes = banded ? n.low : n.mean;
  extremes.insert(extremes.end(), n.high.begin(), n.high.end());
  if (with_data) extremes.insert(extremes.end(), observations.begin(), observations.end());
  for (std::size_t s = 0; s < shown; ++s) {
    Plot plot(steps_of(all[s]), padded_range(extremes));
    for (std::size_t k = 0; k < width; ++k) {
      if (banded) plot.area(outline(along(n.low, all[s], width, k), along(n.high, all[s], width, k)), colour(k));
      const Points mean = along(n.mean, all[s], width, k);
      plot.line(mean, colour(k), {{"data-mean", exact_text(y_values(mean))}});
    }
    if (with_data) {
      Points dots = along(observations, all[s], 1, 0);
      std::erase_if(dots, [](const auto& p) { return std::isnan(p.second); });
      plot.dots(dots, "data");
    }
    const std::string name = name_of(fit, sequences, s, all.size());
    figures += figure(plot.markup({n.variable->name + " " + name, name, n.variable->name}), "");
  }
  std::string caption =
      banded ? "Posterior mean and central 90 % interval, step by step." : "Posterior mean, step by step.";
  if (with_data) caption += " Dots are the data.";
  return element("div", {{"class", "key"}}, key) + (shown > 1 ? beside(figures) : figures) +
         text_element("p", caption + shown_of(shown, all.size(), all[0]), {{"class", "quiet"}});
}

Markup histogram(const std::vector<double>& values, const std::string& x_label) {
  const Scale x = padded_range(values, 0.001);
  std::vector<double> counts(kBars, 0.0);
  for (const double v : values)
    if (std::isfinite(v)) counts[std::min(kBars - 1, static_cast<std::size_t>(x.position(v) * kBars))] += 1;
  Plot plot(x, {0, 1.05 * *std::ranges::max_element(counts)});
  const double step = (x.high - x.low) / kBars;
  for (std::size_t k = 0; k < kBars; ++k) {
    const double left = x.low + static_cast<double>(k) * step;
    if (counts[k] > 0)
      plot.area({{left, 0}, {left, counts[k]}, {left + step, counts[k]}, {left + step, 0}}, "full " + colour(0));
  }
  return figure(plot.markup({"How many are how large", x_label, "how many"}), "");
}

}  // namespace lehr::report
