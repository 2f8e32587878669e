// Curves drawn as text on the terminal, in ASCII and in braille characters, compared character by character.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/terminal/plot.h"

using namespace lehr;

TEST_CASE("a rising line in ASCII") {
  std::vector<double> y;
  for (int i = 0; i <= 9; ++i)
    y.push_back(i);
  CHECK(text_plot(y, 10, 4, "line", PlotStyle::ascii) ==
        "line\n"
        "9 +        **\n"
        "  |     ***\n"
        "  |  ***\n"
        "0 +**\n"
        "  +----------\n"
        "   0        9\n");
}

TEST_CASE("braille") {
  const std::string plot = text_plot({0, 1}, 10, 2, "", PlotStyle::braille);
  CHECK(plot ==
        "1 ┤     ⣀⡠⠔⠒⠉\n"
        "0 ┤⣀⠤⠔⠊⠉\n"
        "  └──────────\n"
        "   0        1\n");
}

TEST_CASE("labels tell close values apart") {
  const std::string plot = text_plot({-1234567.25, -1234566.5}, 20, 3, "", PlotStyle::ascii);
  CHECK_THAT(plot, Catch::Contains("-1234566.5") && Catch::Contains("-1234567.25"));
}

TEST_CASE("strange curves") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK_THAT(text_plot({}, 20, 4, "t"), Catch::Contains("nothing to draw"));
  CHECK_THAT(text_plot({nan, infinity}, 20, 4, "t"), Catch::Contains("nothing to draw"));
  CHECK_THAT(text_plot({5}, 20, 4, "t", PlotStyle::ascii), Catch::Contains("*"));
  CHECK_THAT(text_plot({5, 5, 5}, 20, 4, "t", PlotStyle::ascii), Catch::Contains("********************"));
  CHECK_THAT(text_plot({-1e308, nan, 1e308, 1e308}, 20, 4, "t", PlotStyle::ascii), Catch::Contains("1e+308"));
  CHECK_NOTHROW(text_plot(std::vector<double>(100000, 1.0), -5, -5, ""));
}
