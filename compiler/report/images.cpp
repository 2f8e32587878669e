// Posterior means as images. Pixels are drawn as heat map tiles, each image scaled to its own largest value.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/report/page.h"
#include "compiler/report/plots.h"

namespace lehr::report {

Markup images(const SavedFit& fit, const PosteriorSummary& n, std::size_t axis, ImageShape shape, std::size_t most) {
  // Without the axis of the pixels, the other axes name the images in their usual order.
  PosteriorSummary others = n;
  others.axes.erase(others.axes.begin() + static_cast<std::ptrdiff_t>(axis));
  others.shape.erase(others.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  others.total.clear();
  const ShownElements elements = shown_elements(fit, others, 0);
  std::size_t stride = 1;  // distance of two pixels in the array
  for (std::size_t k = axis + 1; k < n.shape.size(); ++k)
    stride *= static_cast<std::size_t>(n.shape[k]);
  const std::size_t pixels = shape.rows * shape.columns;
  const std::size_t shown = std::min({most, elements.order.size(), std::max<std::size_t>(1, 5 * kMostTiles / pixels)});
  Markup out;
  for (std::size_t k = 0; k < shown; ++k) {
    const std::size_t at = elements.order[k];
    std::vector<double> values;
    for (std::size_t p = 0; p < pixels; ++p)
      values.push_back(n.mean[(at / stride * pixels + p) * stride + at % stride]);
    out += figure(tiles(values, shape.columns, n.is_simplex() || n.support == math::Support::bit, elements.names[at]),
                  elements.names[at]);
  }
  std::string caption = fmt::format("Posterior means, {} x {} {}", shape.rows, shape.columns, n.axes[axis]);
  if (shown < elements.order.size()) caption += fmt::format("; {} of {} images", shown, elements.order.size());
  return text_element("p",
                      caption + ". Each image up to its own largest number; another colour is below 0." +
                          elements.omission_note(),
                      {{"class", "quiet"}}) +
         element("div", {{"class", elements.order.size() > 1 ? "beside small" : "beside"}}, out);
}

}  // namespace lehr::report
