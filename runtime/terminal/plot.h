// Plots curves as text for terminals, with Braille patterns or ASCII characters.
#pragma once
#include <string>
#include <vector>

namespace lehr {

/// The characters of which a plot in a terminal consists.
enum class PlotStyle {
  braille,  // Braille patterns, 2 x 4 dots in each character
  ascii     // ASCII characters, one dot in each
};

/// Returns the style for plots on this terminal: Braille if the locale in the environment is UTF-8, otherwise ASCII.
PlotStyle terminal_style();

/// Plots y against its index as a curve for a terminal; returns text that ends with a newline.
///
/// The curve takes `width` columns and `height` lines besides the axes; smaller sizes are raised to 10 x 2. The largest
/// and the smallest value are printed on the left, the first and the last index below, and `title`, unless empty,
/// above. Values that are not finite leave gaps. If no value is finite, "(nothing to draw)" is printed instead of the
/// curve.
std::string text_plot(const std::vector<double>& y, int width, int height, const std::string& title,
                      PlotStyle style = PlotStyle::braille);

}  // namespace lehr
