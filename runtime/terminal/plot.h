// Curves as text, for terminals.
#pragma once
#include <string>
#include <vector>

namespace lehr {

enum class PlotStyle { braille, ascii };

/// Braille where the environment's locale is UTF-8, otherwise ASCII.
PlotStyle terminal_style();

/// The curve of y against its index, `width` columns by `height` lines of curve (at least 10 by 2) besides
/// the axes: largest and smallest value on the left, first and last index below, `title` above unless empty.
/// Values that are not finite leave gaps. Ends with a newline.
std::string text_plot(const std::vector<double>& y, int width, int height, const std::string& title,
                      PlotStyle style = PlotStyle::braille);

}  // namespace lehr
