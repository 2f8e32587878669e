// Data under a mixture: a panel for each pair of the coordinates that separate the components best. Dots have the
// colour of the component with the highest density there; ellipses enclose two standard deviations.
#include "compiler/report/scatter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "compiler/posterior/element_names.h"
#include "compiler/report/page.h"
#include "compiler/report/plot.h"
#include "compiler/report/posterior_summary.h"

namespace lehr::report {
namespace {

// Limits: points drawn, coordinates in panels, points of an ellipse, points of a density.
constexpr std::size_t kMostPoints = 2000, kMostDimensions = 4, kArc = 48, kAlong = 200;
constexpr double kSds = 2;  // standard deviations inside an ellipse

using Matrix = Eigen::Map<const Eigen::MatrixXd>;
using Vector = Eigen::Map<const Eigen::VectorXd>;

/// Returns the components with a weight of at least kMinShownWeight, the heaviest first. Components whose weight
/// differs between items are included.
std::vector<Component> main_components(const Mixture& m) {
  std::vector<Component> out;
  std::ranges::copy_if(m.components, std::back_inserter(out),
                       [](const Component& c) { return !(c.weight < kMinShownWeight); });
  std::ranges::stable_sort(out, std::ranges::greater(),
                           [](const Component& c) { return std::isnan(c.weight) ? 0 : c.weight; });
  return out;
}

/// Returns for each point the component with the highest weighted density, as an index into `components`;
/// components.size() for points with missing coordinates.
std::vector<std::size_t> densest_component(const Mixture& m, const std::vector<Component>& components) {
  const auto d = static_cast<Eigen::Index>(m.extent);
  std::vector<Eigen::LLT<Eigen::MatrixXd>> factors;
  for (const Component& c : components)
    factors.emplace_back(Matrix(c.covariance.data(), d, d));
  std::vector<std::size_t> out;
  for (std::size_t at = 0; at < m.points.size(); at += m.extent) {
    const Vector x(&m.points[at], d);
    std::size_t best = components.size();
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < components.size(); ++k) {
      const auto& lower = factors[k].matrixL();
      const Eigen::VectorXd away = lower.solve(x - Vector(components[k].mean.data(), d));
      const double weight = std::isnan(components[k].weight) ? 1 : components[k].weight;
      const double log_density =
          std::log(weight) - away.squaredNorm() / 2 - Eigen::MatrixXd(lower).diagonal().array().log().sum();
      if (log_density > highest) highest = log_density, best = k;
    }
    out.push_back(best);
  }
  return out;
}

/// Returns up to four coordinates in which the means differ most, in ascending order. The measure is the variance of
/// the means over the sum of the variances within components, as in analysis of variance.
std::vector<std::size_t> separating_coordinates(const Mixture& m, const std::vector<Component>& components) {
  std::vector<double> ratio;
  for (std::size_t j = 0; j < m.extent; ++j) {
    double sum = 0, square = 0, within = 0;
    for (const Component& c : components) {
      sum += c.mean[j];
      square += c.mean[j] * c.mean[j];
      within += c.covariance[j * (m.extent + 1)];
    }
    const auto k = static_cast<double>(components.size());
    ratio.push_back((square / k - sum * sum / (k * k)) / within);
  }
  std::vector<std::size_t> out(m.extent);
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::ranges::stable_sort(out, [&](std::size_t a, std::size_t b) { return ratio[a] > ratio[b]; });
  out.resize(std::min(out.size(), kMostDimensions));
  std::ranges::sort(out);
  return out;
}

/// Returns the ellipse of two standard deviations in coordinates i and j: mean + 2 L (cos, sin), with L the Cholesky
/// factor of their covariance.
Points ellipse(const Component& c, std::size_t d, std::size_t i, std::size_t j) {
  const double a = std::sqrt(c.covariance[i * d + i]), b = c.covariance[i * d + j] / a;
  const double rest = std::sqrt(std::max(0.0, c.covariance[j * d + j] - b * b));
  Points out;
  for (std::size_t k = 0; k < kArc; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / kArc;
    out.emplace_back(c.mean[i] + kSds * a * std::cos(angle),
                     c.mean[j] + kSds * (b * std::cos(angle) + rest * std::sin(angle)));
  }
  return out;
}

/// Returns the name of a component.
std::string name_of(const SavedFit& fit, const Mixture& m, const Component& c) {
  return lehr::element(fit, m.plate, c.index);
}

/// Draws the panels of one mixture.
class Panels {
 public:
  Panels(const SavedFit& fit, const Mixture& m)
      : fit_(fit), m_(m), components_(main_components(m)), nearest_(densest_component(m, components_)) {}

  Markup markup() const {
    if (components_.empty()) return {};
    Markup figures;
    if (m_.extent == 1) {
      figures = densities();
    } else {
      const std::vector<std::size_t> shown = separating_coordinates(m_, components_);
      for (std::size_t a = 0; a < shown.size(); ++a)
        for (std::size_t b = a + 1; b < shown.size(); ++b)
          figures += panel(shown[a], shown[b]);
    }
    return key() + beside(figures) + text_element("p", caption(), {{"class", "quiet"}});
  }

 private:
  /// Returns the name of a coordinate.
  std::string dimension(std::size_t j) const {
    return m_.dimensions.empty() ? m_.observed : lehr::element(fit_, m_.dimensions, j);
  }
  /// Returns n if every n-th point is drawn.
  std::size_t every() const { return m_.points.size() / m_.extent / kMostPoints + 1; }

  /// Returns mean and covariance of a component as data-* attributes.
  Attributes raw(const Component& c) const {
    return {{"data-component", fmt::format("{}", c.index)},
            {"data-mean", exact_text(c.mean)},
            {"data-covariance", exact_text(c.covariance)}};
  }

  /// Returns the legend: colour, name and weight of each component.
  Markup key() const {
    Markup out;
    for (std::size_t k = 0; k < components_.size(); ++k) {
      const double weight = components_[k].weight;
      out += text_element(
          "span",
          name_of(fit_, m_, components_[k]) + (std::isnan(weight) ? "" : fmt::format(", {:.2g} %", 100 * weight)),
          {{"class", colour(k)}});
    }
    return element("div", {{"class", "key"}}, out);
  }

  /// Returns the scatter plot of coordinates i and j.
  Markup panel(std::size_t i, std::size_t j) const {
    std::vector<double> x, y;
    std::vector<Points> dots(components_.size() + 1), ellipses;
    for (std::size_t n = 0; n < nearest_.size(); n += every()) {
      const double a = m_.points[n * m_.extent + i], b = m_.points[n * m_.extent + j];
      if (std::isnan(a) || std::isnan(b)) continue;
      dots[nearest_[n]].emplace_back(a, b);
      x.push_back(a);
      y.push_back(b);
    }
    for (const Component& c : components_) {
      ellipses.push_back(ellipse(c, m_.extent, i, j));
      for (const auto& [a, b] : ellipses.back()) {
        x.push_back(a);
        y.push_back(b);
      }
    }
    Plot plot(padded_range(x), padded_range(y));
    for (std::size_t k = 0; k < dots.size(); ++k)
      if (!dots[k].empty()) plot.dots(dots[k], k < components_.size() ? colour(k) : "rest");
    for (std::size_t k = 0; k < components_.size(); ++k) {
      const Component& c = components_[k];
      plot.area(ellipses[k], "light " + colour(k));
      Points closed = ellipses[k];
      closed.push_back(closed.front());
      plot.line(closed, colour(k), raw(c));
      plot.label(c.mean[i], c.mean[j], fmt::format("{}", c.index), colour(k));
    }
    return figure(plot.markup({fmt::format("{} against {}", dimension(j), dimension(i)), dimension(i), dimension(j)}),
                  "");
  }

  /// Returns the histogram of scalar data with the density of each component, both normalised to area 1 (times the
  /// weight).
  Markup densities() const {
    const Scale x = padded_range(m_.points, 0.05);
    const double width = (x.high - x.low) / kBars;
    std::vector<double> counts(kBars, 0.0);
    double present = 0;
    for (const double v : m_.points) {
      if (std::isnan(v)) continue;
      counts[std::min(kBars - 1, static_cast<std::size_t>(x.position(v) * kBars))] += 1;
      present += 1;
    }
    std::vector<Points> curves;
    double top = 0;
    for (double& c : counts)
      top = std::max(top, c /= present * width);
    for (const Component& c : components_) {
      const double sd = std::sqrt(c.covariance[0]), weight = std::isnan(c.weight) ? 1 : c.weight;
      Points& curve = curves.emplace_back();
      for (std::size_t k = 0; k <= kAlong; ++k) {
        const double at = x.low + (x.high - x.low) * static_cast<double>(k) / kAlong, z = (at - c.mean[0]) / sd;
        curve.emplace_back(at, weight * std::exp(-z * z / 2) / (sd * std::sqrt(2 * std::numbers::pi)));
        if (!std::isnan(c.weight)) top = std::max(top, curve.back().second);
      }
    }
    Plot plot(x, {0, 1.05 * top});
    for (std::size_t k = 0; k < kBars; ++k) {
      const double left = x.low + static_cast<double>(k) * width;
      if (counts[k] > 0) plot.area({{left, 0}, {left, counts[k]}, {left + width, counts[k]}, {left + width, 0}}, "");
    }
    for (std::size_t k = 0; k < curves.size(); ++k)
      plot.line(curves[k], colour(k), raw(components_[k]));
    return figure(plot.markup({m_.observed + " and its components", m_.observed, "density", true}), "");
  }

  /// Returns what the panels show and what was left out.
  std::string caption() const {
    std::string out = m_.extent == 1
                          ? "The data and the density of each component at the posterior means of its parameters"
                          : "Ellipses of two standard deviations at the posterior means of each component; dots "
                            "have the colour of the component that is densest there";
    if (m_.extent == 1 && std::isnan(components_[0].weight)) out += ", not weighted";
    if (m_.extent > kMostDimensions)
      out += fmt::format(". The {} of {} coordinates whose means differ most", kMostDimensions, m_.extent);
    if (components_.size() < m_.components.size())
      out += fmt::format(". {} of {} components have a weight below {} % and are left out",
                         m_.components.size() - components_.size(), m_.components.size(), 100 * kMinShownWeight);
    if (every() > 1) out += fmt::format(". One item in {} is drawn", every());
    return out + ".";
  }

  const SavedFit& fit_;
  const Mixture& m_;
  std::vector<Component> components_;
  std::vector<std::size_t> nearest_;
};

}  // namespace

Markup scatter(const SavedFit& fit, const Mixture& mixture) { return Panels(fit, mixture).markup(); }

}  // namespace lehr::report
