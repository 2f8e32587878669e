// Plots curves as text for terminals, with Braille patterns or ASCII characters.
#pragma once
#include <string>
#include <vector>

namespace lehr {

/// Characters of a plot: Braille patterns (2 x 4 dots in each) or ASCII.
enum class PlotStyle { braille, ascii };

/// Returns the style for plots on this terminal: Braille if the locale in the environment is UTF-8, otherwise ASCII.
PlotStyle terminal_style();

/// Plots y against its index, as text that ends with a newline.
///
/// The curve takes `width` columns and `height` lines besides the axes; smaller sizes are raised to 10 x 2. The largest
/// and the smallest value are printed on the left, the first and the last index below, and `title`, unless empty,
/// above. Values that are not finite leave gaps. If no value is finite, "(nothing to draw)" is printed instead of the
/// curve.
std::string text_plot(const std::vector<double>& y, int width, int height, const std::string& title,
                      PlotStyle style = PlotStyle::braille);

}  // namespace lehr
