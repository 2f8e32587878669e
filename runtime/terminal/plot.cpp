// Draws a curve on a grid of dots. A character holds 2 x 4 dots in Braille and one dot in ASCII.
#include "runtime/terminal/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace lehr {
namespace {

/// The dots of a plot, as bits of its characters.
class Grid {
 public:
  Grid(int columns, int rows, PlotStyle style)
      : style_(style), columns_(columns), cells_(static_cast<std::size_t>(columns * rows), 0) {}
  int dots_across() const { return style_ == PlotStyle::braille ? 2 : 1; }
  int dots_down() const { return style_ == PlotStyle::braille ? 4 : 1; }

  /// Sets the dot at x from the left and y from the top.
  void set(int x, int y) {
    static constexpr unsigned kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const auto cell = static_cast<std::size_t>(y / dots_down() * columns_ + x / dots_across());
    cells_[cell] |= kBits[y % dots_down()][x % dots_across()];
  }

  /// Returns one line of characters without trailing blanks.
  std::string line(int row) const {
    std::string text;
    std::size_t used = 0;
    for (int column = 0; column < columns_; ++column) {
      const unsigned bits = cells_[static_cast<std::size_t>(row * columns_ + column)];
      if (bits == 0) {
        text += ' ';
        continue;
      }
      if (style_ == PlotStyle::ascii) text += '*';
      else  // U+2800 + bits in UTF-8
        text += {'\xE2', static_cast<char>(0xA0 | bits >> 6), static_cast<char>(0x80 | (bits & 0x3F))};
      used = text.size();
    }
    text.resize(used);
    return text;
  }

 private:
  PlotStyle style_;
  int columns_;
  std::vector<unsigned> cells_;
};

/// Formats a value with enough digits to distinguish `low` from `high`.
std::string label(double value, double low, double high) {
  const double size = std::max(std::fabs(low), std::fabs(high)), range = high - low;
  const double digits = range > 0 && size > 0 ? std::ceil(std::log10(size / range)) + 3 : 6;
  return fmt::format("{:.{}g}", value, static_cast<int>(std::clamp(digits, 4.0, 15.0)));
}

}  // namespace

PlotStyle terminal_style() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value && *value) {
      const std::string locale(value);
      const bool utf8 = locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
      return utf8 ? PlotStyle::braille : PlotStyle::ascii;
    }
  return PlotStyle::ascii;
}

std::string text_plot(const std::vector<double>& y, int width, int height, const std::string& title, PlotStyle style) {
  width = std::max(width, 10);
  height = std::max(height, 2);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : y)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  std::string out = title.empty() ? "" : title + "\n";
  if (low > high) return out + "(nothing to draw)\n";

  Grid grid(width, height, style);
  const double right = width * grid.dots_across() - 1, bottom = height * grid.dots_down() - 1;
  const double last = std::max<double>(1, static_cast<double>(y.size()) - 1);
  const auto across = [&](std::size_t i) { return static_cast<double>(i) / last * right; };
  const auto down = [&](double value) {
    return high > low ? (1 - (value / 2 - low / 2) / (high / 2 - low / 2)) * bottom : bottom / 2;
  };
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) continue;
    const std::size_t j = i + 1 < y.size() && std::isfinite(y[i + 1]) ? i + 1 : i;
    const double dx = across(j) - across(i), dy = down(y[j]) - down(y[i]);
    const int steps = std::max(1, static_cast<int>(std::ceil(std::max(std::fabs(dx), std::fabs(dy)))));
    for (int step = 0; step <= steps; ++step) {
      const double part = static_cast<double>(step) / steps;
      grid.set(static_cast<int>(std::lround(across(i) + part * dx)),
               static_cast<int>(std::lround(down(y[i]) + part * dy)));
    }
  }

  const bool fancy = style == PlotStyle::braille;
  const std::string top = label(high, low, high), base = label(low, low, high);
  const std::size_t margin = std::max(top.size(), base.size());
  for (int row = 0; row < height; ++row) {
    const std::string& text = row == 0 ? top : row == height - 1 ? base : std::string();
    const char* axis = text.empty() ? (fancy ? "│" : "|") : (fancy ? "┤" : "+");
    out += fmt::format("{:>{}} {}{}\n", text, margin, axis, grid.line(row));
  }
  std::string rule;
  for (int column = 0; column < width; ++column)
    rule += fancy ? "─" : "-";
  const std::string end = fmt::format("{}", y.size() - 1);
  out += fmt::format("{:>{}} {}{}\n", "", margin, fancy ? "└" : "+", rule);
  out += fmt::format("{:>{}}  0{:>{}}\n", "", margin, end, width - 1);
  return out;
}

}  // namespace lehr
