// The pictures of a report that need no more than a posterior: each returns figures, and says what it leaves out.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compiler/report/markup.h"
#include "compiler/report/numbers.h"

namespace lehr::report {

/// A line of a picture of intervals. What is NaN is not drawn; a group has a name alone.
struct Interval {
  std::string name;
  double mean, sd, low, high;
  std::string style;
  bool group = false;
  std::string said = {};  // in the place of the mean, for people
};
/// Means as dots and central 90 % intervals as bars above one axis, which may be logarithmic where all are positive and
/// far apart; the numbers beside them.
Markup intervals(const std::vector<Interval>& rows, const std::string& caption, bool may_be_logarithmic = false);
/// The numbers of a variable, rows in the order of `rows_of`, at most `most` of them.
Markup intervals(const SavedFit& fit, const Numbers& n, std::size_t most);

/// For each simplex its most probable elements with their probabilities.
Markup ranked(const SavedFit& fit, const Numbers& n, std::size_t top, std::size_t most);

/// Numbers as colours: probabilities from 0 to 1, others up to the largest in size, with another colour below 0.
struct Heat {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<double> values, sd;  // row-major; sd may be empty
  bool probabilities = false;
};
/// Few numbers as a table, many as tiles.
Markup heat_map(const Heat& heat);
/// The last two axes of a variable, one picture for each element of the others, at most `most` of them.
Markup heat_maps(const SavedFit& fit, const Numbers& n, std::size_t most);
/// How many tiles a picture has at most.
inline constexpr std::size_t kMostTiles = 4096;
/// Tiles alone, `columns` of them a row.
Markup tiles(const std::vector<double>& values, std::size_t columns, bool probabilities,
             const std::string& description);

struct ImageShape {
  std::size_t rows = 0, columns = 0;
};
/// The elements along one axis as the pixels of an image, one image for each element of the others.
Markup images(const SavedFit& fit, const Numbers& n, std::size_t axis, ImageShape shape, std::size_t most);

/// Sequences that lie end to end: where each begins, and the plate that they are the elements of. Empty: there is one.
struct Sequences {
  std::vector<std::int64_t> offsets;
  std::string plate;
};
/// Numbers in the order of their last axis: means as a line, intervals as a band, one picture for each sequence.
/// `seen`: data on the same axes, or empty.
Markup ribbons(const SavedFit& fit, const Numbers& n, const Sequences& sequences, const std::vector<double>& seen,
               std::size_t most);
/// Probabilities of categories, step by step, one above the other.
Markup state_ribbons(const SavedFit& fit, const Numbers& n, const Sequences& sequences, std::size_t most);

/// How many numbers are how large.
Markup histogram(const std::vector<double>& values, const std::string& what);

}  // namespace lehr::report
