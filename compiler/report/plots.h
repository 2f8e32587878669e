// The plots of a report that need only the posterior. Each function returns HTML with a caption that says what was left
// out. The values are also in data-* attributes, so that scripts can read them from the page.
#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "compiler/report/markup.h"
#include "compiler/report/posterior_summary.h"

namespace lehr::report {

/// One row of an interval plot: a dot for the posterior mean and a bar for the interval. NaN values are not drawn.
struct Interval {
  std::string name;             // label of the row, such as the name of an element
  double mean, sd, low, high;   // mean, standard deviation, and the ends of the central 90 % interval
  std::string style;            // CSS class of the row, as colour(k)
  bool group = false;           // true: the row is a heading for the rows below it and has no numbers
  std::string shown_text = {};  // text shown instead of the mean; empty: the mean
};
/// NaN, for a number of an Interval that is not drawn.
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// Returns an interval plot of these rows above a common axis, with the numbers beside the bars. The axis is
/// logarithmic if `may_be_logarithmic`, all numbers are positive and their ratio is large.
Markup intervals(const std::vector<Interval>& entries, const std::string& caption, bool may_be_logarithmic = false);
/// Returns an interval plot of the posterior of a variable: mixture components by weight, the heaviest first, other
/// elements in their own order. The numbers along the last of several axes are grouped under a heading. Shows at most
/// `most` numbers, which the caption says. Components with weights below kMinShownWeight are left out.
Markup intervals(const SavedFit& fit, const PosteriorSummary& n, std::size_t most);

/// Returns ranked lists of a variable whose vectors are probabilities, such as the words of topics. For each vector it
/// lists the `top` most probable elements with their probabilities as bars. Shows at most `most` lists, those of the
/// heaviest mixture components first.
Markup ranked(const SavedFit& fit, const PosteriorSummary& n, std::size_t top, std::size_t most);

/// A matrix to be shown as a heat map: colours up to the largest absolute value, or up to 1 for probabilities. Negative
/// numbers have a different colour.
struct Heat {
  std::string title;                       // text above the heat map; may be empty
  std::vector<std::string> rows, columns;  // names of the rows and columns
  std::vector<double> values, sd;  // numbers of the matrix and their standard deviations, row-major; sd may be empty
  bool probabilities = false;      // true: values are probabilities, and the colour scale ends at 1
};
/// Returns a matrix as a table of shaded numbers if it is small, else as coloured tiles without numbers.
Markup heat_map(const Heat& heat);
/// Returns heat maps of the last two axes of a variable, one for each element along the other axes. Shows at most
/// `most` of them, fewer if they are large (in all 4 * kMostTiles cells, but at least one heat map). Mixture components
/// with weights below kMinShownWeight are left out.
Markup heat_maps(const SavedFit& fit, const PosteriorSummary& n, std::size_t most);
/// The most cells of a matrix that a report shows as a heat map; larger matrices get another plot.
inline constexpr std::size_t kMostTiles = 4096;
/// Returns an image of coloured tiles without labels, one for each value, with `columns` of them in a row. The colour
/// scale ends at 1 if `probabilities`, otherwise at the largest absolute value. `description` is the text for screen
/// readers.
Markup tiles(const std::vector<double>& values, std::size_t columns, bool probabilities,
             const std::string& description);

/// The size in pixels of the images that a report makes of posterior means.
struct ImageShape {
  std::size_t rows = 0, columns = 0;  // height and width in pixels
};
/// Returns the posterior means of a variable as images, for a plate whose elements are pixels. Negative means have a
/// different colour. The elements along axis `axis` of `n` are the pixels of one image, row by row; their number must
/// be shape.rows * shape.columns. There is one image for each element along the other axes, with the name of the
/// element below it.
///
/// Shows at most `most` images, fewer if they are large (in all some 5 * kMostTiles pixels, but at least one image).
/// Components with weights below kMinShownWeight are left out. A sentence above the images says how many images and
/// components are not shown.
Markup images(const SavedFit& fit, const PosteriorSummary& n, std::size_t axis, ImageShape shape, std::size_t most);

/// How the elements along an ordered axis (time) divide into sequences, each of which gets a plot of its own: the
/// series of a nested plate are stored one after another. Without offsets there is one sequence.
struct Sequences {
  std::vector<std::int64_t> offsets;  // position at which each sequence begins, and last the end of all
  std::string plate;                  // plate whose elements are the sequences, for their names
};
/// Returns plots of the posterior of a variable along its ordered axis (time), one for each sequence and at most `most`
/// of them: means as a line, intervals (if there are any) as a band. `observations` are data on the same axes to be
/// drawn as dots, or empty. They are drawn for a variable of numbers, not for one of vectors. Long sequences are drawn
/// as averages of neighbouring steps.
Markup ribbons(const SavedFit& fit, const PosteriorSummary& n, const Sequences& sequences,
               const std::vector<double>& observations, std::size_t most);
/// Returns plots of the probabilities of categories along their ordered axis, as stacked areas, one for each sequence
/// and at most `most` of them.
Markup state_ribbons(const SavedFit& fit, const PosteriorSummary& n, const Sequences& sequences, std::size_t most);

/// Returns a histogram of the finite values, with kBars bars. `x_label` names the values under the axis.
Markup histogram(const std::vector<double>& values, const std::string& x_label);

}  // namespace lehr::report
